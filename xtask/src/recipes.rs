//! Tests of the C archive that take minutes: the sizes of the static libraries, and the recipes for
//! Conan and vcpkg.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use flakeid_steps::packages::Program;
use flakeid_steps::venv::Venv;
use flakeid_steps::{Failed, Outcome, Step, files, packages, root};

use crate::c;
use crate::platform::Target;

const WORK: &str = "target/recipes";

pub(crate) const NEEDED: [Program; 4] =
    [("gcc", "gcc"), ("strip", "binutils"), ("cmake", "cmake"), ("pkg-config", "pkg-config")];

/// The largest sizes in bytes: of the full and of the slim static library, and of a static
/// executable with the slim library.
const LARGEST: [(&str, u64); 3] = [
    ("libflakeid.a", 25_000_000),
    ("libflakeid-slim.a", c::SLIM_MOST_BYTES),
    ("executable", 6_000_000),
];

/// A part of the check.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The sizes of the static libraries as users get them.
    Sizes,
    /// The recipe for Conan.
    Conan,
    /// The port for vcpkg.
    Vcpkg,
}

/// Checks everything, or only the given parts.
pub(crate) fn test(only: &[Part]) -> Outcome {
    packages::ensure(&NEEDED)?;
    let parts = if only.is_empty() { Part::value_variants() } else { only };
    // A missing vcpkg is reported before the builds, which take minutes.
    let vcpkg = if parts.contains(&Part::Vcpkg) { Some(vcpkg_root()?) } else { None };
    if parts.contains(&Part::Sizes) {
        sizes(&c::installed(&Target::new(None)?, &format!("{WORK}/released"))?)?;
    }
    if parts == [Part::Sizes] {
        return Ok(());
    }
    // The recipes are the same for every profile.
    let prefix = c::installed(&Target::tested(None)?, &format!("{WORK}/tested"))?;
    if parts.contains(&Part::Conan) {
        conan(&prefix)?;
    }
    vcpkg.map_or(Ok(()), |root| install(&root, &prefix))
}

/// Checks the sizes of the static libraries, and of an executable without shared libraries.
fn sizes(prefix: &Path) -> Outcome {
    let lib = prefix.join("lib");
    let program = files::shown(&root().join(WORK).join("executable"))?;
    let words = ["--static", "--cflags", "--libs", "flakeid-slim"];
    let words =
        Step::new("pkg-config", &words).env("PKG_CONFIG_PATH", lib.join("pkgconfig")).output()?;
    Step::new("gcc", &["-O2", "-static", "examples/lease.c", "-o", &program])
        .args(&words.split_whitespace().collect::<Vec<_>>())
        .run()?;
    Step::new("strip", &[&program]).run()?;
    let store = format!("sqlite://{program}.db");
    Step::new(&program, &[]).env("FLAKEID_STORE", store).run()?;
    for (name, largest) in LARGEST {
        let folder = if name == "executable" { root().join(WORK) } else { lib.clone() };
        let file = folder.join(name);
        let size = fs::metadata(&file).map_err(|error| files::failed(&file, &error))?.len();
        println!("{name}: {size} bytes, at most {largest}");
        if size > largest {
            return Err(Failed(format!("{} is too large", file.display())));
        }
    }
    Ok(())
}

/// Creates a Conan package of each library. Conan then builds and runs a program with the package.
fn conan(prefix: &Path) -> Outcome {
    let venv = Venv::lasting("conan")?;
    venv.pip(&["install", "-q", "-r", "bindings/c/package/conan/requirements.txt"])?;
    let program = venv.program("conan")?;
    let home = root().join(WORK).join("conan");
    let conan = |arguments: &[&str]| {
        Step::new(&program, arguments).within(WORK).env("CONAN_HOME", &home).run()
    };
    conan(&["profile", "detect", "--force"])?;
    let recipe = files::shown(&prefix.join("share/conan"))?;
    for option in ["slim=False", "slim=True", "shared=True"] {
        conan(&["create", &recipe, "-o", &format!("flakeid/*:{option}")])?;
    }
    Ok(())
}

/// Returns vcpkg's folder, which vcpkg itself and GitHub's runners name in these variables.
fn vcpkg_root() -> Result<PathBuf, Failed> {
    let named = ["VCPKG_ROOT", "VCPKG_INSTALLATION_ROOT"].into_iter().find_map(env::var_os);
    named.map(PathBuf::from).filter(|root| root.join("vcpkg").is_file()).ok_or_else(|| {
        Failed(
            "vcpkg is missing; install it: git clone https://github.com/microsoft/vcpkg && \
             vcpkg/bootstrap-vcpkg.sh && export VCPKG_ROOT=$PWD/vcpkg, or check the other recipes: \
             cargo xtask recipes --only sizes --only conan"
                .to_owned(),
        )
    })
}

/// Installs the static and the shared libraries with vcpkg, and builds and runs a program with each.
fn install(vcpkg: &Path, prefix: &Path) -> Outcome {
    let (ports, program) = (prefix.join("share/vcpkg"), files::shown(&vcpkg.join("vcpkg"))?);
    let work = root().join(WORK).join("vcpkg");
    files::empty(&work)?;
    let folder = |name: &str| work.join(name).display().to_string();
    let processor = if env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
    for linkage in ["", "-dynamic"] {
        let triplet = format!("{processor}-linux{linkage}");
        let installed = folder("installed");
        Step::new(&program, &["install", "flakeid", "--binarysource=clear"])
            .args(&[&format!("--triplet={triplet}"), &format!("--host-triplet={triplet}")])
            .args(&[&format!("--overlay-ports={}", ports.display())])
            .args(&[&format!("--vcpkg-root={}", vcpkg.display())])
            .args(&[&format!("--x-install-root={installed}")])
            .args(&[&format!("--x-buildtrees-root={}", folder("buildtrees"))])
            .args(&[&format!("--x-packages-root={}", folder("packages"))])
            .within(WORK)
            .run()?;
        let (source, build) = (prefix.join("share/conan/test_package"), folder(&triplet));
        let toolchain = vcpkg.join("scripts/buildsystems/vcpkg.cmake");
        Step::new("cmake", &["-S", &files::shown(&source)?, "-B", &build])
            .args(&[&format!("-DCMAKE_TOOLCHAIN_FILE={}", toolchain.display())])
            .args(&[&format!("-DVCPKG_INSTALLED_DIR={installed}")])
            .args(&[&format!("-DVCPKG_TARGET_TRIPLET={triplet}")])
            .run()?;
        Step::new("cmake", &["--build", &build]).run()?;
        Step::new(&format!("{build}/quickstart"), &[]).run()?;
    }
    Ok(())
}
