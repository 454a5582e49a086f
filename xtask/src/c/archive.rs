//! The archive: both libraries, headers, pkg-config and `CMake` files, licences.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Failed, Outcome, Step, root};
use crate::header;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const DIST: &str = "target/dist/c";

/// What the files are called on this system.
struct Names {
    /// The library itself, and the links to it, the one that programs ask for at run time first.
    shared: String,
    links: Vec<String>,
    /// What Windows programs are linked against instead of the library.
    import: Option<&'static str>,
    fixed: &'static str,
}

impl Names {
    fn here() -> Self {
        let compatible = compatible();
        match std::env::consts::OS {
            "windows" => Self {
                shared: "flakeid.dll".to_owned(),
                links: Vec::new(),
                import: Some("flakeid.dll.lib"),
                fixed: "flakeid.lib",
            },
            "macos" => Self {
                shared: format!("libflakeid.{VERSION}.dylib"),
                links: vec![
                    format!("libflakeid.{compatible}.dylib"),
                    "libflakeid.dylib".to_owned(),
                ],
                import: None,
                fixed: "libflakeid.a",
            },
            _ => Self {
                shared: format!("libflakeid.so.{VERSION}"),
                links: vec![format!("libflakeid.so.{compatible}"), "libflakeid.so".to_owned()],
                import: None,
                fixed: "libflakeid.a",
            },
        }
    }
}

/// The part of the version that programs depend on; `bindings/c/build.rs` says the same.
fn compatible() -> String {
    let mut parts = VERSION.split('.');
    match (parts.next(), parts.next()) {
        (Some("0"), Some(minor)) => format!("0.{minor}"),
        (major, _) => major.unwrap_or_default().to_owned(),
    }
}

/// Leaves `flakeid-<version>-<triple>.tar.gz` in `target/dist/c`.
pub(crate) fn build() -> Outcome {
    header::check()?;
    let target = target();
    let listed = target.join("flakeid-c-native-static-libs");
    let print = format!("--print=native-static-libs={}", listed.display());
    Step::cargo(&["rustc", "--release", "--locked", "-p", "flakeid-c", "--lib", "--", &print])
        .run()?;
    let system_libraries = read(&listed)?;

    let name = name()?;
    let dist = root().join(DIST);
    let prefix = dist.join(&name);
    if dist.exists() {
        fs::remove_dir_all(&dist).map_err(|error| failed(&dist, &error))?;
    }
    let names = Names::here();
    libraries(&names, &target.join("release"), &prefix.join("lib"))?;
    for header in ["flakeid.h", "flakeid.hpp"] {
        copy(&root().join("include").join(header), &prefix.join("include").join(header))?;
    }
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&root().join(licence), &prefix.join("share/licenses/flakeid").join(licence))?;
    }
    package_files(&names, system_libraries.trim(), &prefix.join("lib"))?;
    let tarball = format!("{name}.tar.gz");
    Step::new("tar", &["-C", DIST, "-czf", &format!("{DIST}/{tarball}"), &name])
        .or_install("apt-get install tar")
        .run()?;
    fs::remove_dir_all(&prefix).map_err(|error| failed(&prefix, &error))?;
    println!("{DIST}/{tarball}");
    Ok(())
}

/// Unpacks the archive into an empty folder, and returns where its `lib` and `include` are.
pub(super) fn install(into: &Path) -> Result<PathBuf, Failed> {
    if into.exists() {
        fs::remove_dir_all(into).map_err(|error| failed(into, &error))?;
    }
    fs::create_dir_all(into).map_err(|error| failed(into, &error))?;
    let name = name()?;
    let archive = format!("{DIST}/{name}.tar.gz");
    Step::new("tar", &["-xzf", &archive, "-C", &into.display().to_string()]).run()?;
    Ok(into.join(name))
}

fn name() -> Result<String, Failed> {
    let about = Step::new("rustc", &["-vV"]).output()?;
    let triple = about
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .ok_or_else(|| Failed("rustc -vV names no host".to_owned()))?;
    Ok(format!("flakeid-{VERSION}-{triple}"))
}

/// Where cargo puts what it builds.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn libraries(names: &Names, from: &Path, to: &Path) -> Outcome {
    let built = match std::env::consts::OS {
        "windows" => "flakeid.dll",
        "macos" => "libflakeid.dylib",
        _ => "libflakeid.so",
    };
    copy(&from.join(built), &to.join(&names.shared))?;
    copy(&from.join(names.fixed), &to.join(names.fixed))?;
    for link in &names.links {
        symlink(&names.shared, &to.join(link))?;
    }
    names.import.map_or(Ok(()), |import| copy(&from.join(import), &to.join(import)))
}

#[cfg(unix)]
fn symlink(target: &str, link: &Path) -> Outcome {
    std::os::unix::fs::symlink(target, link).map_err(|error| failed(link, &error))
}

#[cfg(not(unix))]
fn symlink(_target: &str, link: &Path) -> Outcome {
    Err(Failed(format!("{}: no links on this system", link.display())))
}

fn package_files(names: &Names, system_libraries: &str, lib: &Path) -> Outcome {
    let mut version = VERSION.split('.');
    let import =
        names.import.map(|import| format!("IMPORTED_IMPLIB \"${{_flakeid_prefix}}/lib/{import}\""));
    let soname = names.links.first().map(|link| match std::env::consts::OS {
        "macos" => format!("IMPORTED_SONAME \"@rpath/{link}\""),
        _ => format!("IMPORTED_SONAME \"{link}\""),
    });
    let values = [
        ("@VERSION@", VERSION.to_owned()),
        ("@MAJOR@", version.next().unwrap_or_default().to_owned()),
        ("@MINOR@", version.next().unwrap_or_default().to_owned()),
        ("@REPOSITORY@", env!("CARGO_PKG_REPOSITORY").to_owned()),
        ("@SHARED@", names.shared.clone()),
        ("@STATIC@", names.fixed.to_owned()),
        ("@SONAME_PROPERTY@", import.or(soname).unwrap_or_default()),
        ("@STATIC_LIBRARIES@", system_libraries.to_owned()),
        (
            "@STATIC_LIBRARIES_LIST@",
            system_libraries.split_whitespace().collect::<Vec<_>>().join(";"),
        ),
    ];
    for (template, place) in [
        ("flakeid.pc.in", "pkgconfig/flakeid.pc"),
        ("flakeid-config.cmake.in", "cmake/flakeid/flakeid-config.cmake"),
        ("flakeid-config-version.cmake.in", "cmake/flakeid/flakeid-config-version.cmake"),
    ] {
        let text = read(&root().join("bindings/c/package").join(template))?;
        let text = values.iter().fold(text, |text, (name, value)| text.replace(name, value));
        let place = lib.join(place);
        folder_of(&place)?;
        fs::write(&place, text).map_err(|error| failed(&place, &error))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Outcome {
    folder_of(to)?;
    fs::copy(from, to).map_err(|error| failed(from, &error))?;
    Ok(())
}

fn folder_of(file: &Path) -> Outcome {
    file.parent()
        .map_or(Ok(()), |folder| fs::create_dir_all(folder).map_err(|error| failed(folder, &error)))
}

fn read(path: &Path) -> Result<String, Failed> {
    fs::read_to_string(path).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> Failed {
    Failed(format!("{}: {error}", path.display()))
}
