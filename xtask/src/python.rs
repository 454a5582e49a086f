//! The Python package, which is built, installed and tested.

use std::path::{Path, PathBuf};

use flakeid_steps::servers::Servers;
use flakeid_steps::venv::{self, PYTHON, Venv};
use flakeid_steps::{Failed, Outcome, Step, files, packages, root, target_folder};

use crate::platform::Target;
use crate::server_packages::{POSTGRESQL, REDIS};

const ALPINE: &str = "python:3.11-alpine";
/// The wheel also contains the command, which the tests in Rust build with this feature.
pub(crate) const OF_TESTS: &str = "workspace-hack/tests,flakeid-cli/grpc";
const FRAMEWORKS: &str = "python/tests/frameworks/requirements.txt";

/// The wheel to build.
pub(crate) struct Wheel<'a> {
    pub(crate) target: Target,
    /// A free-threaded interpreter. It gets a separate wheel, because the wheel with the stable
    /// ABI, which serves all other interpreters, requires the GIL.
    pub(crate) free_threaded: Option<&'a str>,
}

/// Returns the folder for the wheel and the sdist. It must be empty before a build.
fn artefacts(target: &Target) -> Result<String, Failed> {
    files::shown(&root().join(target.packages("python")))
}

/// Installs maturin, and returns a step that runs it.
fn maturin(arguments: &[&str], target: &Target) -> Result<Step, Failed> {
    let mut needed = vec![(PYTHON, "python3")];
    if cfg!(unix) {
        needed.push(("cc", "gcc"));
    }
    packages::ensure(&needed)?;
    let tools = Venv::lasting("build")?;
    tools.pip(&["install", "-q", "-r", "python/requirements-build.txt"])?;
    // maturin reads the pyproject.toml of the current folder.
    let step = Step::new(&tools.program("maturin")?, arguments).within("python");
    Ok(step.args(&["--out", &artefacts(target)?]))
}

/// Builds a wheel and an sdist.
pub(crate) fn build(wheel: &Wheel) -> Outcome {
    let target = &wheel.target;
    files::remove(target.packages("python"))?;
    let mut step = maturin(&["build"], target)?.args(&target.options(OF_TESTS));
    if target.released {
        step = step.args(&["--target", target.platform.triple]);
    }
    if target.needs_zig() {
        // The policy that maturin checks the wheel against. maturin also adds it to the wheel's
        // name.
        let policy = match target.platform.abi {
            Some("musl") => "musllinux_1_2",
            _ => "manylinux2014",
        };
        step = step
            .args(&["--zig", "--compatibility", policy])
            .env("CARGO_ZIGBUILD_PYTHON_PATH", Target::zig()?.program("python")?);
    }
    if let Some(interpreter) = wheel.free_threaded {
        step = step.args(&["--no-default-features", "--interpreter", interpreter]);
    }
    step.run()?;
    maturin(&["sdist"], target)?.run()
}

/// Installs the wheel into a clean environment and runs `python/tests` there.
pub(crate) fn test(wheel: &Wheel) -> Outcome {
    let image = wheel.target.image(ALPINE)?;
    build(wheel)?;
    if !wheel.target.released && wheel.free_threaded.is_none() {
        check_sdist(&wheel.target)?;
    }
    let interpreter = wheel.free_threaded.unwrap_or(PYTHON);
    let clean = Venv::clean("test", interpreter, image)?;
    let with_tests = format!("{}[test]", self::wheel(&wheel.target)?);
    clean.pip(&["install", "-q", "--no-compile", &with_tests])?;
    if wheel.free_threaded.is_some() {
        let gil = "import flakeid, sys; sys.exit(sys._is_gil_enabled())";
        clean.python(&["-P", "-c", gil])?.run()?;
    }
    pytest(&clean, "python/tests")?.run()?;
    // One platform is enough, because these modules are plain Python and the same on all
    // platforms.
    if cfg!(target_os = "linux") && !wheel.target.released && wheel.free_threaded.is_none() {
        test_frameworks(&clean)?;
    }
    Ok(())
}

/// Runs `python/tests/frameworks` in the same environment, after installing the frameworks.
fn test_frameworks(clean: &Venv) -> Outcome {
    packages::ensure(&[POSTGRESQL, REDIS])?;
    let servers = Servers::begin(&["postgres", "redis"])?;
    clean.pip(&["install", "-q", "--no-deps", "--no-compile", "-r", FRAMEWORKS])?;
    let servers = servers.ready()?;
    let tests = pytest(clean, "python/tests/frameworks")?;
    tests
        .env("FLAKEID_POSTGRESQL", servers.url("postgres")?)
        .env("FLAKEID_REDIS", servers.url("redis")?)
        .run()
}

/// Returns a step that runs pytest. `-P` makes Python import the installed package, not the sources
/// in `python/`.
fn pytest(clean: &Venv, folder: &str) -> Result<Step, Failed> {
    let step = clean.python(&["-P", "-m", "pytest", "-q", "-c", "python/pyproject.toml"])?;
    Ok(step.args(&[folder]))
}

/// Builds the wheel, installs it into a clean environment with the given name, and returns the
/// interpreter.
pub(crate) fn with_wheel(name: &str) -> Result<String, Failed> {
    let target = Target::tested(None)?;
    build(&Wheel { target, free_threaded: None })?;
    let clean = Venv::clean(name, PYTHON, None)?;
    clean.pip(&["install", "-q", "--no-deps", "--no-index", &wheel(&target)?])?;
    clean.program("python")
}

/// Builds the wheel, and installs it and the packages of a requirements file into the lasting
/// environment with the given name.
pub(crate) fn with_wheel_and(name: &str, requirements: &str) -> Result<Venv, Failed> {
    let target = Target::tested(None)?;
    build(&Wheel { target, free_threaded: None })?;
    let venv = Venv::lasting(name)?;
    venv.pip(&["install", "-q", "-r", requirements])?;
    let wheel = wheel(&target)?;
    venv.pip(&["install", "-q", "--no-deps", "--no-index", "--force-reinstall", &wheel])?;
    Ok(venv)
}

/// Returns the benchmark, with the wheel, its rivals and the floor installed.
pub(crate) fn bench() -> Result<Step, Failed> {
    let target = Target::new(None)?;
    build(&Wheel { target, free_threaded: None })?;
    let floor = venv::folder("floor");
    files::remove(&floor)?;
    let maturin = Venv::lasting("build")?.program("maturin")?;
    Step::new(&maturin, &["build", "--release", "--locked", "--out", &files::shown(&floor)?])
        .args(&["--manifest-path", "benches/python/floor/Cargo.toml"])
        .run()?;
    let clean = Venv::lasting("bench")?;
    let (floor, wheel) = (files::only(&floor, "whl")?, wheel(&target)?);
    clean.pip(&["install", "-q", "-r", "benches/python/requirements.txt"])?;
    clean.pip(&[
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--force-reinstall",
        &floor,
        &wheel,
    ])?;
    // -P: Python must not import modules from the benchmark's folder.
    clean.python(&["-P", "benches/python/bench.py"])
}

/// Unpacks the sdist, and returns the folder.
fn unpacked(target: &Target) -> Result<String, Failed> {
    let folder = venv::folder("sdist");
    files::empty(&folder)?;
    // With -m, the files get the current time. All files of an sdist have the same time
    // regardless of their contents, so cargo would otherwise consider the output of the last
    // sdist up to date.
    Step::new("tar", &["-xzmf", &artefact(target, "gz")?, "--strip-components=1"])
        .args(&["-C", &files::shown(&folder)?])
        .or_install("apt-get install tar")
        .run()?;
    files::shown(&folder)
}

/// Checks that the sdist contains each file of the project from which cargo has built the wheel, and that cargo accepts
/// the manifests of the sdist. Building from the sdist would compile our crates again, so only [`test_sdist`] does that.
fn check_sdist(target: &Target) -> Outcome {
    let sources = PathBuf::from(unpacked(target)?);
    let listed = files::text(target.built_folder().join("lib_flakeid.d"))?;
    let (_, listed) = listed.split_once(": ").unwrap_or_default();
    let built_from: Vec<&str> = listed
        .split_whitespace()
        .filter_map(|path| Path::new(path).strip_prefix(root()).ok()?.to_str())
        .filter(|path| !path.starts_with("target/"))
        .collect();
    let missing: Vec<&str> =
        built_from.iter().copied().filter(|path| !sources.join(path).is_file()).collect();
    if built_from.is_empty() || !missing.is_empty() {
        return Err(Failed(format!(
            "the wheel was built from {} files of the project, of which the sdist lacks: {}",
            built_from.len(),
            missing.join(", ")
        )));
    }
    // Without --locked, because the lock file in an sdist also lists crates that the sdist omits.
    let platform = ["--filter-platform", target.platform.triple];
    Step::cargo(&["metadata", "--format-version", "1"])
        .args(&platform)
        .within(&sources)
        .output()
        .map(drop)
}

/// Builds a wheel from the sdist as pip does, and generates IDs with it.
pub(crate) fn test_sdist() -> Outcome {
    let target = Target::tested(None)?;
    files::remove(target.packages("python"))?;
    maturin(&["sdist"], &target)?.run()?;
    let sources = unpacked(&target)?;
    let tools = Venv::lasting("build")?;
    tools
        .python(&["-m", "pip", "--disable-pip-version-check", "wheel", "-q"])?
        .args(&["--no-deps", "--no-build-isolation", "--wheel-dir", &artefacts(&target)?])
        .args(&[&sources])
        .env("CARGO_TARGET_DIR", target_folder())
        .env("MATURIN_PEP517_ARGS", format!("--profile {}", target.profile.name()))
        // Our crates have the same paths below the root as in the checkout. cargo distinguishes
        // them because this setting differs, and the setting does not apply to dependencies.
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        // The build backend looks for maturin in the PATH.
        .env("PATH", tools.path()?)
        .run()?;
    let clean = Venv::clean("from-sdist", PYTHON, None)?;
    clean.pip(&["install", "-q", "--no-deps", "--no-index", &wheel(&target)?])?;
    clean.python(&["-P", "examples/quickstart.py"])?.run()
}

/// Returns the path of the wheel.
pub(crate) fn wheel(target: &Target) -> Result<String, Failed> {
    artefact(target, "whl")
}

/// Returns the only artefact with the given extension.
fn artefact(target: &Target, extension: &str) -> Result<String, Failed> {
    files::only(target.packages("python"), extension)
}
