//! The linters of the other languages: ruff, biome, actionlint, zizmor and typos. `xtask/linters` pins
//! their versions and the hashes of all downloads for them.

use flakeid_steps::venv::Venv;
use flakeid_steps::{Failed, Outcome, Step, files, root};

use crate::npm::{PINS, install_once, installed};

/// The folders with Go sources.
const GO_SOURCES: [&str; 4] = ["go", "benches", "examples", "tests/rivals"];

/// The folder where Go installs actionlint.
const GO: &str = "target/linters/go";

/// Checks every Python file with the settings of `ruff.toml`.
pub(crate) fn python() -> Outcome {
    ruff(&["format", "--check"])?.run()?;
    ruff(&["check"])?.run()
}

/// Checks every JavaScript and TypeScript file with the settings of `biome.jsonc`.
pub(crate) fn javascript() -> Outcome {
    biome(&["check", "--error-on-warnings"])?.run()
}

/// Checks that gofmt has formatted all Go sources.
pub(crate) fn go() -> Outcome {
    let unformatted = gofmt("-d").output()?;
    if unformatted.is_empty() {
        return Ok(());
    }
    Err(Failed(format!("{unformatted}\nnot formatted by gofmt: run cargo xtask format")))
}

fn gofmt(what: &str) -> Step {
    Step::new("gofmt", &[what]).args(&GO_SOURCES).or_install("apt-get install golang-go")
}

/// Checks the workflows of `.github`: their syntax with actionlint, their security with zizmor and the settings of
/// `.github/zizmor.yml`, and their shell steps by running them without effects.
pub(crate) fn workflows() -> Outcome {
    let tools = from_pypi()?;
    Step::new(&actionlint()?, &["-shellcheck", &tools.program("shellcheck")?, "-pyflakes="])
        .run()?;
    Step::new(&tools.program("zizmor")?, &["--offline", "--pedantic", "--strict-collection"])
        .args(&["--quiet", "--no-progress", "--config", ".github/zizmor.yml", "."])
        .run()?;
    let xtask =
        std::env::current_exe().map_err(|error| Failed(format!("the path of xtask: {error}")))?;
    tools.python(&[&format!("{PINS}/dry_run.py"), &files::shown(&xtask)?])?.run()
}

/// Checks the spelling in all files. `typos.toml` lists the words that typos does not know.
pub(crate) fn spelling() -> Outcome {
    Step::new(&from_pypi()?.program("typos")?, &["--format", "brief", ".", ".github"]).run()
}

/// Formats the sources as the linters expect.
pub(crate) fn format() -> Outcome {
    ruff(&["check", "--select", "I", "--fix"])?.run()?;
    ruff(&["format"])?.run()?;
    biome(&["check", "--write", "--linter-enabled=false"])?.run()?;
    gofmt("-w").run()
}

fn ruff(arguments: &[&str]) -> Result<Step, Failed> {
    Ok(Step::new(&from_pypi()?.program("ruff")?, arguments))
}

fn biome(arguments: &[&str]) -> Result<Step, Failed> {
    installed("@biomejs/biome/bin/biome", arguments)
}

/// Returns the environment with pdoc, `PyYAML`, ruff, typos, zizmor, and the shellcheck that actionlint calls.
pub(crate) fn from_pypi() -> Result<Venv, Failed> {
    let venv = Venv::lasting("lint")?;
    install_once("target/python/lint", "requirements.txt", || {
        let pins = format!("{PINS}/requirements.txt");
        venv.pip(&["install", "-q", "--no-deps", "--require-hashes", "-r", &pins])
    })?;
    Ok(venv)
}

fn actionlint() -> Result<String, Failed> {
    go_tool("actionlint")
}

/// Returns the program that translates WebAssembly to Go.
pub(crate) fn wasm2go() -> Result<String, Failed> {
    go_tool("wasm2go")
}

/// Returns a program that `xtask/linters/go.mod` pins.
fn go_tool(name: &str) -> Result<String, Failed> {
    install_once(GO, "go.sum", || {
        check_go()?;
        Step::new("go", &["install", "-trimpath", "tool"])
            .within(PINS)
            .env("CGO_ENABLED", "0")
            .env("GOBIN", root().join(GO))
            .env("GOFLAGS", "-mod=readonly")
            // An older Go downloads the version that go.mod requires.
            .env("GOTOOLCHAIN", "auto")
            .run()
    })?;
    files::shown(&root().join(GO).join(name))
}

/// Checks that Go can download other versions, which is possible since Go 1.21. Older versions
/// only report that they cannot read go.mod.
pub(crate) fn check_go() -> Outcome {
    let found = Step::new("go", &["env", "GOVERSION"])
        .or_install("apt-get install golang-go (Go 1.21 or later), or see https://go.dev/dl")
        .output()?;
    if minor_of_go(&found).is_none_or(|minor| minor >= 21) {
        return Ok(());
    }
    Err(Failed(format!(
        "the tools in xtask/linters and tests/servers are built with Go 1.21 or later, but this is {}; install a \
         newer version: https://go.dev/dl",
        found.trim()
    )))
}

/// Returns the minor version, such as 22 for `go1.22.4`, or `None` for a development version.
fn minor_of_go(version: &str) -> Option<u32> {
    let rest = version.trim().strip_prefix("go1.")?;
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::minor_of_go;

    #[test]
    fn go_minor_version_is_parsed_except_from_development_builds() {
        assert_eq!(minor_of_go("go1.19.8\n"), Some(19));
        assert_eq!(minor_of_go("go1.26"), Some(26));
        assert_eq!(minor_of_go("go1.27rc1"), Some(27));
        assert_eq!(minor_of_go("devel go1.28-abcdef"), None);
    }
}
