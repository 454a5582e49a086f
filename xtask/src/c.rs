//! The C library as users get it: an archive with both libraries, headers, pkg-config and `CMake`
//! files, licences, and the `SQLite` extension. `tests/linking` links programs with it.
//!
//! cargo-c could do most of the packing, but it depends on three hundred crates, and its archives
//! contain no `CMake` package.

use std::path::{Path, PathBuf};

use flakeid_steps::{Failed, Outcome, Step, files, packages, root, target_folder};

use crate::platform::{OF_TESTS, Profile, Target, WITHOUT_STORES};
use crate::{archive, header};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The package of the slim static library.
const SLIM: &str = "flakeid-c-slim";

/// The largest size of the slim static library for Linux, in bytes. It is limited because the Go
/// module contains the library for each processor.
pub(crate) const SLIM_MOST_BYTES: u64 = 6_000_000;

/// The names of the archive's files on one system.
struct Names {
    /// The shared library and the links to it. The first link is the name that programs load at
    /// run time.
    shared: String,
    links: Vec<String>,
    /// The import library, with which programs for Windows are linked instead of the DLL.
    import: Option<&'static str>,
    fixed: &'static str,
    slim: &'static str,
}

impl Names {
    fn on(system: &str) -> Self {
        let compatible = compatible();
        match system {
            "win32" => Self {
                shared: "flakeid.dll".to_owned(),
                links: Vec::new(),
                import: Some("flakeid.dll.lib"),
                fixed: "flakeid.lib",
                slim: "flakeid-slim.lib",
            },
            "darwin" => Self {
                shared: format!("libflakeid.{VERSION}.dylib"),
                links: vec![
                    format!("libflakeid.{compatible}.dylib"),
                    "libflakeid.dylib".to_owned(),
                ],
                import: None,
                fixed: "libflakeid.a",
                slim: "libflakeid-slim.a",
            },
            _ => Self {
                shared: format!("libflakeid.so.{VERSION}"),
                links: vec![format!("libflakeid.so.{compatible}"), "libflakeid.so".to_owned()],
                import: None,
                fixed: "libflakeid.a",
                slim: "libflakeid-slim.a",
            },
        }
    }
}

/// Returns the part of the version on which programs depend; `bindings/c/build.rs` uses the same
/// rule.
fn compatible() -> String {
    let mut parts = VERSION.split('.');
    match (parts.next(), parts.next()) {
        (Some("0"), Some(minor)) => format!("0.{minor}"),
        (major, _) => major.unwrap_or_default().to_owned(),
    }
}

/// Writes `flakeid-<version>-<triple>.tar.gz` to the folder of the packages for C.
pub(crate) fn build(target: &Target) -> Outcome {
    header::check()?;
    let system_libraries = compile(target, "flakeid-c", &[])?;
    let slim = slim_library(target)?;
    target
        .cargo("build")?
        .args(&target.options(OF_TESTS))
        .args(&["-p", "flakeid-sqlite", "--lib"])
        .run()?;

    let name = name(target);
    let folder = target.packages("c");
    let prefix = root().join(&folder).join(&name);
    files::empty(&folder)?;
    let names = Names::on(target.platform.system);
    libraries(&names, target, &prefix.join("lib"))?;
    files::copy(&slim, prefix.join("lib").join(names.slim))?;
    for header in ["flakeid.h", "flakeid.hpp"] {
        files::copy(Path::new("include").join(header), prefix.join("include").join(header))?;
    }
    files::copy_files("include/flakeid", &files::shown(&prefix.join("include/flakeid"))?)?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        files::copy(licence, prefix.join("share/licenses/flakeid").join(licence))?;
    }
    package_files(&names, target, &system_libraries, &prefix)?;
    let file = format!("{name}.tar.gz");
    // The libraries for tests are large, so they are compressed quickly.
    let level = if matches!(target.profile, Profile::Dev) { "-1" } else { "-6" };
    Step::new("tar", &["-cf", &file, &format!("--use-compress-program=gzip {level}"), &name])
        .within(&folder)
        .or_install("apt-get install tar")
        .run()?;
    files::remove(&prefix)?;
    println!("{}", tarball(target));
    Ok(())
}

/// Compiles a package with the library, or only the given crate types of it. Returns the libraries
/// that the static library needs.
fn compile(target: &Target, package: &str, types: &[&str]) -> Result<String, Failed> {
    // Each platform has its own file, because cargo does not rewrite the file if nothing has
    // changed.
    let listed = format!("{package}-native-static-libs-{}", target.platform.triple);
    let listed = target_folder().join(listed);
    let print = format!("--print=native-static-libs={}", listed.display());
    let of_tests = if package == SLIM { WITHOUT_STORES } else { OF_TESTS };
    target
        .cargo("rustc")?
        .args(&target.options(of_tests))
        .args(&["-p", package, "--lib"])
        .args(types)
        .args(&["--", &print])
        .run()?;
    Ok(files::text(&listed)?.trim().to_owned())
}

/// Compiles the slim static library, which lacks the stores on servers. Returns its path. It needs
/// the same system libraries as the full static library.
pub(crate) fn slim_library(target: &Target) -> Result<PathBuf, Failed> {
    let profile = match target.profile {
        Profile::Dev => Profile::Dev,
        Profile::Dist | Profile::Slim => Profile::Slim,
    };
    let target = Target { profile, ..*target };
    compile(&target, SLIM, &[])?;
    let folder = target.built_folder();
    let windows = folder.join("flakeid_slim.lib");
    let built = if windows.is_file() { windows } else { folder.join("libflakeid_slim.a") };
    let slim = folder.join("c").join(Names::on(target.platform.system).slim);
    archive::reduce(&target, &built, &slim)?;
    // Tests build a library that is not optimised. Libraries for other systems are not reduced.
    if matches!(target.profile, Profile::Slim) && target.platform.system == "linux" {
        check_slim_size(&slim)?;
    }
    Ok(slim)
}

/// Checks the size of a slim static library for Linux.
pub(crate) fn check_slim_size(library: &Path) -> Outcome {
    let shown = library.display();
    let size = files::bytes(library)?.len();
    println!("{shown}: {size} bytes, at most {SLIM_MOST_BYTES}");
    if u64::try_from(size).is_ok_and(|size| size <= SLIM_MOST_BYTES) {
        return Ok(());
    }
    Err(Failed(format!("{shown} is too large")))
}

/// Compiles the static library. Returns its path, and the libraries that it needs.
pub(crate) fn static_library(target: &Target) -> Result<(String, String), Failed> {
    let linked = compile(target, "flakeid-c", &["--crate-type", "staticlib"])?;
    Ok((files::shown(&target.built_folder().join("libflakeid.a"))?, linked))
}

/// Unpacks the archive into an empty folder, and returns the folder that contains `lib` and
/// `include`.
fn install(target: &Target, into: &Path) -> Result<PathBuf, Failed> {
    files::empty(into)?;
    Step::new("tar", &["-xzf", &tarball(target), "-C", &files::shown(into)?]).run()?;
    Ok(into.join(name(target)))
}

/// Returns the path of the archive below the root of the checkout.
pub(crate) fn tarball(target: &Target) -> String {
    format!("{}/{}.tar.gz", target.packages("c"), name(target))
}

fn name(target: &Target) -> String {
    format!("flakeid-{VERSION}-{}", target.platform.triple)
}

fn libraries(names: &Names, target: &Target, to: &Path) -> Outcome {
    let from = target.built_folder();
    files::copy(from.join(target.platform.library("flakeid")), to.join(&names.shared))?;
    archive::reduce(target, &from.join(names.fixed), &to.join(names.fixed))?;
    for link in &names.links {
        symlink(&names.shared, &to.join(link))?;
    }
    files::copy(from.join(target.platform.library("flakeid_sqlite")), to.join(extension(target)))?;
    names.import.map_or(Ok(()), |import| files::copy(from.join(import), to.join(import)))
}

/// Returns the extension's file name. `SQLite` appends the suffix itself, but never prepends `lib`.
fn extension(target: &Target) -> String {
    target.platform.library("flakeid_sqlite").trim_start_matches("lib").to_owned()
}

#[cfg(unix)]
fn symlink(target: &str, link: &Path) -> Outcome {
    std::os::unix::fs::symlink(target, link).map_err(|error| files::failed(link, &error))
}

#[cfg(not(unix))]
fn symlink(_target: &str, link: &Path) -> Outcome {
    Err(Failed(format!("{}: no links on this system", link.display())))
}

/// Writes the files for pkg-config and `CMake`, and the recipes for vcpkg and Conan. Conan's names of
/// Windows and vcpkg's folder of its DLLs differ, so archives for Windows contain no recipes.
fn package_files(names: &Names, target: &Target, linked: &str, prefix: &Path) -> Outcome {
    // C compilers link libgcc themselves, either the shared or the static one. The shared one would
    // prevent static executables. The unwinder of the libraries for musl requires the header, which
    // gcc omits from static executables.
    let header = (target.platform.abi == Some("musl")).then_some("-Wl,--eh-frame-hdr");
    let linked = linked.split_whitespace().filter(|name| *name != "-lgcc_s");
    let system_libraries: Vec<&str> = linked.chain(header).collect();
    let mut version = VERSION.split('.');
    let import =
        names.import.map(|import| format!("IMPORTED_IMPLIB \"${{_flakeid_prefix}}/lib/{import}\""));
    let soname = names.links.first().map(|link| match target.platform.system {
        "darwin" => format!("IMPORTED_SONAME \"@rpath/{link}\""),
        _ => format!("IMPORTED_SONAME \"{link}\""),
    });
    let is_mac = target.platform.system == "darwin";
    let (processor, is_x64) = (target.platform.processor, target.platform.processor == "x64");
    let values = [
        ("@VERSION@", VERSION.to_owned()),
        ("@MAJOR@", version.next().unwrap_or_default().to_owned()),
        ("@MINOR@", version.next().unwrap_or_default().to_owned()),
        ("@REPOSITORY@", env!("CARGO_PKG_REPOSITORY").to_owned()),
        ("@SHARED@", names.shared.clone()),
        ("@STATIC@", names.fixed.to_owned()),
        ("@SLIM@", names.slim.to_owned()),
        ("@SONAME_PROPERTY@", import.or(soname).unwrap_or_default()),
        ("@STATIC_LIBRARIES@", system_libraries.join(" ")),
        ("@STATIC_LIBRARIES_LIST@", system_libraries.join(";")),
        ("@SHARED_FILES@", [[names.shared.clone()].as_slice(), &names.links].concat().join(";")),
        ("@CONAN_OS@", if is_mac { "Macos" } else { "Linux" }.to_owned()),
        ("@CONAN_ARCH@", if is_x64 { "x86_64" } else { "armv8" }.to_owned()),
        ("@VCPKG_PLATFORM@", format!("{} & {processor}", if is_mac { "osx" } else { "linux" })),
    ];
    let recipes = if target.platform.system == "win32" { &[][..] } else { &RECIPES };
    for (template, place) in PACKAGE_FILES.iter().chain(recipes) {
        let text = files::text(Path::new("bindings/c/package").join(template))?;
        let text = values.iter().fold(text, |text, (name, value)| text.replace(name, value));
        files::write(prefix.join(place), text)?;
    }
    if recipes.is_empty() {
        return Ok(());
    }
    files::copy("examples/quickstart.c", prefix.join("share/conan/test_package/quickstart.c"))
}

/// The templates in `bindings/c/package`, each with its place in the archive.
const PACKAGE_FILES: [(&str, &str); 5] = [
    ("flakeid.pc.in", "lib/pkgconfig/flakeid.pc"),
    ("flakeid-static.pc.in", "lib/pkgconfig/flakeid-static.pc"),
    ("flakeid-slim.pc.in", "lib/pkgconfig/flakeid-slim.pc"),
    ("flakeid-config.cmake.in", "lib/cmake/flakeid/flakeid-config.cmake"),
    ("flakeid-config-version.cmake.in", "lib/cmake/flakeid/flakeid-config-version.cmake"),
];

/// The recipes for package managers, like [`PACKAGE_FILES`].
const RECIPES: [(&str, &str); 6] = [
    ("vcpkg/vcpkg.json.in", "share/vcpkg/flakeid/vcpkg.json"),
    ("vcpkg/portfile.cmake.in", "share/vcpkg/flakeid/portfile.cmake"),
    ("vcpkg/usage.in", "share/vcpkg/flakeid/usage"),
    ("conan/conanfile.py.in", "share/conan/conanfile.py"),
    ("conan/test_package/conanfile.py", "share/conan/test_package/conanfile.py"),
    ("conan/test_package/CMakeLists.txt", "share/conan/test_package/CMakeLists.txt"),
];

/// Builds the archive and unpacks it into a folder. Returns the folder that contains `lib` and
/// `include`.
pub(crate) fn installed(target: &Target, folder: &str) -> Result<PathBuf, Failed> {
    build(target)?;
    install(target, &root().join(folder))
}

/// Runs the Rust tests of the library, and the tests of its archive.
pub(crate) fn test(target: &Target) -> Outcome {
    Step::cargo(&["test", "--locked", "-p", "flakeid-c"]).run()?;
    link(target)
}

/// Installs the archive, and links programs in C, C++, Go and Java with it.
pub(crate) fn link(target: &Target) -> Outcome {
    if !target.runs_here()? {
        return Err(Failed(format!("programs for {} do not run here", target.platform.triple)));
    }
    linking(target)?.run()
}

/// Returns the step that links programs with the archive.
pub(crate) fn linking(target: &Target) -> Result<Step, Failed> {
    let prefix = installed(target, "target/c/prefix")?;
    loads(target, &prefix)?;
    let library = files::shown(&prefix)?;
    let step = Step::cargo(&["run", "--quiet", "--locked", "-p", "flakeid-linking", "--"]);
    Ok(step.args(&["--library", &library]))
}

/// Checks that `sqlite3` loads the archive's extension. Apple's `sqlite3` does not support
/// extensions.
fn loads(target: &Target, prefix: &Path) -> Outcome {
    if target.platform.system != "linux" {
        return Ok(());
    }
    packages::ensure(&[("sqlite3", "sqlite3")])?;
    let load = format!(".load {}", files::shown(&prefix.join("lib/flakeid_sqlite"))?);
    let configure = "SELECT flakeid_configure('layout=twitter', 'node=7')";
    Step::new("sqlite3", &["-bail", ":memory:", &load, configure, "SELECT flakeid_next()"]).run()
}

/// Returns the compiled benchmark, which compares calls of the C library with the same loops in
/// Rust.
pub(crate) fn bench() -> Result<Step, Failed> {
    packages::ensure(&[("gcc", "gcc")])?;
    let here = Target::new(None)?;
    let work = root().join("target/c/bench");
    let prefix = installed(&here, "target/c/bench/prefix")?;
    let (target, library) = (work.display().to_string(), prefix.join("lib"));
    Step::cargo(&["build", "--release", "--locked", "--manifest-path", "benches/c/Cargo.toml"])
        .args(&["--target-dir", &target])
        .run()?;
    let program = work.join("bench").display().to_string();
    let rust = work.join("release");
    let include = format!("-I{}", prefix.join("include").display());
    let folders = [format!("-L{}", library.display()), format!("-L{}", rust.display())];
    let at_run_time = format!("-Wl,-rpath,{}:{}", library.display(), rust.display());
    Step::new("gcc", &["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O3"])
        .args(&["benches/c/bench.c", "-o", &program, &include, &folders[0], &folders[1]])
        .args(&["-lflakeid", "-lrust_loops", &at_run_time])
        .run()?;
    Ok(Step::new(&program, &[]))
}
