//! npm, and the tools that `xtask/linters` pins. The tools are installed once.

use flakeid_steps::{Failed, Outcome, Step, files};

/// The command that installs Node and npm.
pub(crate) const NODE: &str = "apt-get install nodejs npm (Node 20 or later)";
pub(crate) const PINS: &str = "xtask/linters";
/// The folder where npm installs the pinned packages.
const PINNED: &str = "target/linters/npm";

pub(crate) fn npm(arguments: &[&str]) -> Step {
    Step::new("npm", arguments).or_install(NODE)
}

/// Returns a step that bundles several files into one.
pub(crate) fn esbuild(arguments: &[&str]) -> Result<Step, Failed> {
    installed("esbuild/bin/esbuild", arguments)
}

/// Returns a step that runs a program of the packages in `xtask/linters`.
pub(crate) fn installed(program: &str, arguments: &[&str]) -> Result<Step, Failed> {
    install_once(PINNED, "package-lock.json", || {
        files::empty(PINNED)?;
        for file in ["package.json", "package-lock.json", ".npmrc"] {
            files::copy(format!("{PINS}/{file}"), format!("{PINNED}/{file}"))?;
        }
        npm(&["--prefix", PINNED, "ci", "--silent", "--ignore-scripts"]).run()
    })?;
    let program = format!("{PINNED}/node_modules/{program}");
    Ok(Step::new("node", &[&program]).args(arguments).or_install(NODE))
}

/// Installs the pinned packages, unless they were already installed from the current version of
/// the file with the pins.
pub(crate) fn install_once(folder: &str, pins: &str, install: impl FnOnce() -> Outcome) -> Outcome {
    install_once_from(folder, &format!("{PINS}/{pins}"), install)
}

/// Installs packages, unless they were already installed from the current version of the file
/// `pins`.
pub(crate) fn install_once_from(
    folder: &str,
    pins: &str,
    install: impl FnOnce() -> Outcome,
) -> Outcome {
    let (wanted, installed) = (files::text(pins)?, format!("{folder}/installed"));
    if files::text(&installed).ok().as_ref() == Some(&wanted) {
        return Ok(());
    }
    install()?;
    files::write(installed, wanted)
}
