//! Long checks of the server: its `OpenAPI` description with generated requests, and its clients under an attack.

use flakeid_steps::packages::Program;
use flakeid_steps::venv::Venv;
use flakeid_steps::{Outcome, Step, files, packages, target_folder, workspace};

const FOLDER: &str = "tests/openapi";
/// The programs that the attack calls.
const ATTACK: [Program; 3] = [("kill", "procps"), ("nice", "coreutils"), ("sh", "dash")];

/// Checks that the server behaves as its `OpenAPI` description says.
pub(crate) fn openapi() -> Outcome {
    let tools = Venv::lasting("openapi")?;
    let pins = format!("{FOLDER}/requirements.txt");
    tools.pip(&["install", "-q", "--no-deps", "--require-hashes", "-r", &pins])?;
    let flakeid = files::shown(&workspace::build_programs(&["flakeid"])?.join("flakeid"))?;
    // -B: Python must not write bytecode into the sources.
    tools.python(&["-B", &format!("{FOLDER}/check.py"), &flakeid])?.run()
}

/// Attacks a server in every protocol at once, and compares the waiting of its clients. An unoptimised server would use
/// up the processors for the attack alone, so the programs are built as for users.
pub(crate) fn attack(arguments: &[&str]) -> Outcome {
    packages::ensure(&ATTACK)?;
    Step::cargo(&["build", "--quiet", "--release", "--locked"])
        .args(&["-p", "flakeid-attack", "-p", "flakeid-cli", "--features", "flakeid-cli/grpc"])
        .run()?;
    let folder = target_folder().join("release");
    let [program, flakeid] =
        ["flakeid-attack", "flakeid"].map(|name| files::shown(&folder.join(name)));
    Step::new(&program?, &["run", &flakeid?]).args(arguments).run()
}
