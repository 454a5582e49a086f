//! The fault campaign, the measurement of failovers and private stores, in tests/campaign.

use std::path::Path;

use flakeid_steps::{Failed, Outcome, Step, files, target_folder};

use crate::{python, server_packages, wasm};

/// The fault campaign, on private servers. With Python some of the workers use the wheel.
pub(crate) fn run(with_python: bool, arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut step = campaign(&arguments)?;
    if with_python {
        step = step.args(&["--python", &python::with_wheel("campaign")?]);
    }
    step.run()
}

/// For half a minute on `MySQL`, whose packages are in that folder.
pub(crate) fn on_mysql(packages: &str) -> Outcome {
    campaign(&["--store=mysql", "--seconds=30"])?.env("FLAKEID_MYSQL", packages).run()
}

fn campaign(arguments: &[&str]) -> Result<Step, Failed> {
    let folder = files::shown(&target_folder().join("campaign"))?;
    // Brokers are processes of the command, which has to lie beside the campaign. Together both ask for what
    // the tests of the workspace do, and nothing is compiled twice.
    Step::cargo(&["build", "--quiet", "-p", "flakeid-cli", "-p", "flakeid-campaign", "--bins"])
        .optimised_with_checks()
        .run()?;
    Ok(start(&["run", "--folder", &folder]).args(arguments))
}

/// Every kind of store that is no cluster, as the tests try it. All at a time issue as many IDs together as
/// one alone would.
pub(crate) fn short() -> Outcome {
    run(
        false,
        &["--store=servers", "--seconds=30", "--at-once=6", "--rate=20000"].map(String::from),
    )
}

/// How long processes are without IDs when their store restarts or fails over.
pub(crate) fn failover(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut step = start(&["failover"]).args(&arguments);
    if arguments.contains(&"--brokers") {
        // It is found next to the program that measures.
        Step::cargo(&["build", "-p", "flakeid-cli"]).optimised_with_checks().run()?;
        wasm::build()?;
        let (python, package) =
            (python::with_wheel("campaign")?, files::shown(wasm::PACKAGE.as_ref())?);
        step = step.args(&["--python", &python, "--wasm", &package]);
    }
    step.run()
}

/// A private server of every kind, for trying things by hand.
pub(crate) fn stores() -> Outcome {
    server_packages::ensure_stores()?;
    start(&["stores"]).run()
}

fn start(arguments: &[&str]) -> Step {
    let step = Step::cargo(&["run", "-p", "flakeid-campaign"]).optimised_with_checks();
    let step = step.args(&["--"]).args(arguments);
    // Killing a process loses nothing that a file has, so servers may keep theirs in memory. On a
    // disk that is busy with the notes of IDs they take seconds to start again.
    let memory = "/dev/shm";
    if Path::new(memory).is_dir() { step.env("TMPDIR", memory) } else { step }
}
