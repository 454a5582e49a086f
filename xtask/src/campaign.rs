//! The fault campaign, the measurement of failovers and the private stores, all in tests/campaign.

use std::path::Path;

use flakeid_steps::servers::Servers;
use flakeid_steps::{Failed, Outcome, Step, files, target_folder, workspace};

use crate::{python, server_packages, wasm};

/// Runs the fault campaign on private servers. With Python, some of the workers use the wheel.
pub(crate) fn run(with_python: bool, arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut step = campaign(&arguments)?;
    if with_python {
        step = step.args(&["--python", &python::with_wheel("campaign")?]);
    }
    step.run()
}

/// Runs the campaign on `MySQL` for half a minute. The folder `packages` contains its unpacked
/// packages.
pub(crate) fn on_mysql(packages: &str) -> Outcome {
    campaign(&["--store=mysql", "--seconds=30"])?.env("FLAKEID_MYSQL", packages).run()
}

fn campaign(arguments: &[&str]) -> Result<Step, Failed> {
    let folder = files::shown(&target_folder().join("campaign"))?;
    Ok(start(&["run", "--folder", &folder])?.args(arguments))
}

/// Runs the campaign as in the tests: for half a minute on one kind of store for each way of writing rows, or in a full
/// run for ten minutes on every kind except clusters. More campaigns at the same time would starve each other on two
/// cores.
pub(crate) fn test(full: bool) -> Outcome {
    let size = if full {
        ["--store=servers", "--seconds=600", "--at-once=3"]
    } else {
        ["--store=samples", "--seconds=30", "--at-once=4"]
    };
    campaign(&size)?.args(&["--rate=20000"]).run()
}

/// Measures how long processes get no IDs when their store restarts or fails over.
pub(crate) fn failover(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut step = start(&["failover"])?.args(&arguments);
    if arguments.contains(&"--brokers") {
        wasm::build()?;
        let (python, package) =
            (python::with_wheel("campaign")?, files::shown(wasm::PACKAGE.as_ref())?);
        step = step.args(&["--python", &python, "--wasm", &package]);
    }
    step.run()
}

/// Counts the requests that two brokers send to a store.
pub(crate) fn requests(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    start(&["requests"])?.args(&arguments).run()
}

/// Runs a private server of every kind until Ctrl-C, for manual tests.
pub(crate) fn stores() -> Outcome {
    server_packages::ensure_all()?;
    let servers = Servers::start(&[])?;
    for (kind, url) in servers.urls() {
        println!("{kind:<10} {url}");
    }
    println!("Ctrl-C stops them and deletes their data.");
    loop {
        std::thread::park();
    }
}

fn start(arguments: &[&str]) -> Result<Step, Failed> {
    // Brokers are processes of the command, so the command's executable must be next to the
    // campaign's.
    let folder = workspace::build_programs(&["flakeid", "flakeid-campaign"])?;
    let program = files::shown(&folder.join("flakeid-campaign"))?;
    let step = Step::new(&program, arguments);
    // Servers may keep their files in memory, because killing a process does not lose written
    // data. On a disk that is busy with the logs of IDs, a server takes seconds to restart.
    let memory = "/dev/shm";
    Ok(if Path::new(memory).is_dir() { step.env("TMPDIR", memory) } else { step })
}
