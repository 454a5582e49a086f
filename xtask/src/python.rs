//! The Python package, tested as installed.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Failed, Outcome, Step, root};
use crate::packages;

const ARTEFACTS: &str = "target/dist/python";

/// A wheel and an sdist in `target/dist/python`.
pub(crate) fn build() -> Outcome {
    packages::ensure(&[("python3", "python3"), ("cc", "gcc")])?;
    let tools = environment("build")?;
    pip(&tools, &["install", "-q", "-r", "python/requirements-build.txt"])?;
    let artefacts = root().join(ARTEFACTS);
    remove(&artefacts)?;
    let (maturin, artefacts) = (shown(&tools.join("bin/maturin"))?, shown(&artefacts)?);
    // It takes the pyproject.toml of the current folder.
    let maturin = || Step::new("env", &["-C", "python", &maturin]);
    maturin().args(&["build", "--release", "--locked", "--out", &artefacts]).run()?;
    maturin().args(&["sdist", "--out", &artefacts]).run()
}

/// Installs the wheel into a clean environment and runs `python/tests` there.
pub(crate) fn test() -> Outcome {
    build()?;
    build_from_sdist()?;
    remove(&folder("test"))?;
    let clean = environment("test")?;
    pip(&clean, &["install", "-q", "-r", "python/tests/requirements.txt"])?;
    pip(&clean, &["install", "-q", "--no-deps", "--no-index", &artefact("whl")?])?;
    // -P: not the folder python/, where the sources are, but what is installed.
    Step::new(&shown(&clean.join("bin/python"))?, &["-P", "-m", "pytest", "-q"])
        .args(&["-c", "python/pyproject.toml", "python/tests"])
        .run()
}

/// Measures the wheel next to the packages it competes with, and next to the floor.
pub(crate) fn bench() -> Outcome {
    build()?;
    let floor = folder("floor");
    remove(&floor)?;
    let maturin = shown(&folder("build").join("bin/maturin"))?;
    Step::new(&maturin, &["build", "--release", "--locked", "--out", &shown(&floor)?])
        .args(&["--manifest-path", "benches/python/floor/Cargo.toml"])
        .run()?;
    let clean = environment("bench")?;
    let (floor, wheel) = (only(&floor, "whl")?, artefact("whl")?);
    pip(&clean, &["install", "-q", "-r", "benches/python/requirements.txt"])?;
    pip(
        &clean,
        &["install", "-q", "--no-deps", "--no-index", "--force-reinstall", &floor, &wheel],
    )?;
    Step::new(&shown(&clean.join("bin/python"))?, &["benches/python/bench.py"]).run()
}

/// That nothing is missing from the sdist: it builds, with a target folder of its own. In any other
/// one cargo would take what is there for up to date, because the sources in an sdist are always
/// equally old.
fn build_from_sdist() -> Outcome {
    let (target, wheels) = (folder("sdist-target"), folder("sdist-wheels"));
    remove(&target)?;
    remove(&wheels)?;
    let tools = environment("build")?;
    let python = shown(&tools.join("bin/python"))?;
    Step::new(&python, &["-m", "pip", "--disable-pip-version-check", "wheel", "-q"])
        .args(&["--no-deps", "--no-build-isolation", "--wheel-dir", &shown(&wheels)?])
        .args(&[&artefact("gz")?])
        .env("CARGO_TARGET_DIR", target)
        .env("PATH", tool_path(&tools)?)
        .run()
}

/// The build backend looks for maturin on the `PATH`.
fn tool_path(environment: &Path) -> Result<OsString, Failed> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::join_paths([environment.join("bin")].into_iter().chain(env::split_paths(&path)))
        .map_err(|error| Failed(format!("PATH: {error}")))
}

fn folder(name: &str) -> PathBuf {
    root().join("target/python").join(name)
}

/// A virtual environment of its own for what is pinned, made if it is not there yet.
fn environment(name: &str) -> Result<PathBuf, Failed> {
    let folder = folder(name);
    if !folder.join("bin/pip").exists() {
        Step::new("python3", &["-m", "venv", "--clear", &shown(&folder)?])
            .or_install("apt-get install python3 python3-venv")
            .run()?;
    }
    Ok(folder)
}

fn pip(environment: &Path, arguments: &[&str]) -> Outcome {
    let python = shown(&environment.join("bin/python"))?;
    Step::new(&python, &["-m", "pip", "--disable-pip-version-check"]).args(arguments).run()
}

/// The one artefact with that extension.
fn artefact(extension: &str) -> Result<String, Failed> {
    only(&root().join(ARTEFACTS), extension)
}

/// The one file with that extension in a folder.
fn only(folder: &Path, extension: &str) -> Result<String, Failed> {
    let place = folder.display();
    let files = fs::read_dir(folder).map_err(|error| Failed(format!("{place}: {error}")))?;
    let mut found = files
        .filter_map(Result::ok)
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|known| known == extension));
    match (found.next(), found.next()) {
        (Some(path), None) => shown(&path),
        _ => Err(Failed(format!("{place} does not hold exactly one .{extension}"))),
    }
}

fn remove(folder: &Path) -> Outcome {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failed(format!("{}: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}

fn shown(path: &Path) -> Result<String, Failed> {
    path.to_str().map(str::to_owned).ok_or_else(|| Failed("a path that is not UTF-8".to_owned()))
}
