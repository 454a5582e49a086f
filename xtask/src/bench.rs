//! The benchmarks: all of them in one run, or two commits alternately.

use std::time::Instant;

use clap::{Args, Subcommand};
use flakeid_steps::{Failed, Outcome, Step, files, packages, root, target_folder};

use crate::{c, go, java, node, python, server_packages, wasm};

/// The folder for results, relative to the root of the checkout.
const WORK: &str = "target/bench";

const MANIFEST: &str = "benches/Cargo.toml";

/// The options of a measurement.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each field is a flag of the command line")]
pub(crate) struct Options {
    /// Do a smoke run, whose results are not meaningful and are written to target/bench instead
    /// of benches.
    #[arg(long)]
    quick: bool,
    /// Measure only this table of Rust (may be given more than once), print it, and write nothing.
    #[arg(long, value_name = "TABLE")]
    only: Vec<String>,
    /// Also measure Go and its rivals, which are downloaded.
    #[arg(long)]
    go: bool,
    /// Also measure Java and its rivals, which are downloaded.
    #[arg(long)]
    java: bool,
    /// Also measure the server under the load of wrk, which must be installed.
    #[arg(long)]
    load: bool,
}

#[derive(Subcommand)]
pub(crate) enum Task {
    /// Measure two commits alternately and print the ratio of every row: OLD NEW [--only TABLE]
    /// [--rounds N] [--quick].
    #[command(disable_help_flag = true)]
    Compare {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure only Go, and print the results.
    Go {
        /// Do a smoke run.
        #[arg(long)]
        quick: bool,
    },
    /// Measure primary keys in a private `PostgreSQL`, and write the results to benches/keys. The
    /// arguments are passed to the benchmark: [--rows N] [--rounds N] [--shared-buffers SIZE]
    /// [--note TEXT]. With --quick, the results are written to target/bench/keys instead.
    #[command(disable_help_flag = true)]
    Keys {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure only Java, and print the results.
    Java {
        /// Do a smoke run.
        #[arg(long)]
        quick: bool,
    },
}

pub(crate) fn run(options: &Options, task: Option<&Task>) -> Outcome {
    let short = |quick: bool| -> &[&str] { if quick { &["--quick"] } else { &[] } };
    match task {
        Some(Task::Compare { arguments }) => {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            return report(&["compare"]).args(&arguments).run();
        }
        Some(Task::Keys { arguments }) => {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            return keys(&arguments);
        }
        Some(Task::Go { quick }) => return go::bench()?.args(short(*quick)).run(),
        Some(Task::Java { quick }) => {
            return java::bench()?
                .into_iter()
                .try_for_each(|(_, step)| step.args(short(*quick)).run());
        }
        None => {}
    }
    let quick = short(options.quick);
    if options.only.is_empty() {
        return all(quick, options);
    }
    let tables: Vec<&str> = options.only.iter().flat_map(|table| ["--only", table]).collect();
    if options.only.iter().any(|table| table == "statistics") {
        build_command()?;
    }
    rust().args(&tables).args(quick).run()
}

/// Builds all benchmarks, then measures one language after another.
fn all(quick: &[&str], options: &Options) -> Outcome {
    Step::cargo(&["build", "--release", "--locked", "--manifest-path", MANIFEST]).run()?;
    build_command()?;
    let mut suites = vec![
        ("rust", rust()),
        ("python", python::bench()?),
        ("node", node::bench()?),
        ("wasm", wasm::bench()?),
        ("c", c::bench()?),
    ];
    if options.go {
        suites.push(("go", go::bench()?));
    }
    if options.java {
        suites.extend(java::bench()?);
    }
    if options.load {
        suites.push(("load", load()?));
    }
    let names: Vec<&str> = suites.iter().map(|(name, _)| *name).collect();
    files::make_folder(WORK)?;
    let start = Instant::now();
    for (name, step) in suites {
        eprintln!("\nmeasuring {name}, one of {}", names.join(", "));
        let data = files::shown(&root().join(WORK).join(format!("{name}.json")))?;
        let text = step.args(&["--json", &data]).args(quick).printed()?;
        print!("{text}");
        files::write(format!("{WORK}/{name}.md"), text)?;
    }
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    println!("\nmeasured for {minutes:.1} minutes");
    let to = if quick.is_empty() { "benches" } else { WORK };
    report(&["results", "--from", WORK, "--to", to, "--minutes", &minutes.to_string()])
        .args(quick)
        .args(&names)
        .run()
}

/// Measures primary keys. A run with all rows takes a long time, so it is not part of the other runs.
fn keys(arguments: &[&str]) -> Outcome {
    packages::ensure(&[server_packages::POSTGRESQL])?;
    let build = ["build", "--profile", "dist", "--locked", "-p", "flakeid-bench-keys"];
    Step::cargo(&build).run()?;
    let work = root().join(WORK).join("keys");
    files::make_folder(&work)?;
    let start = Instant::now();
    let program = files::shown(&target_folder().join("dist/flakeid-bench-keys"))?;
    let data = files::shown(&work.join("keys.json"))?;
    let text = Step::new(&program, &["--json", &data]).args(arguments).printed()?;
    print!("{text}");
    files::write(work.join("keys.md"), text)?;
    let minutes = (start.elapsed().as_secs_f64() / 60.0).to_string();
    let work = files::shown(&work)?;
    let to = if arguments.contains(&"--quick") { &work } else { "benches/keys" };
    report(&["keys", "--from", &work, "--to", to, "--minutes", &minutes, "--"])
        .args(arguments)
        .run()
}

/// Builds the command with the profile `dist`, because one table measures how it handles many IDs.
fn build_command() -> Outcome {
    Step::cargo(&["build", "--profile", "dist", "--locked", "-p", "flakeid-cli"]).run()
}

/// Returns the Rust benchmark. It has its own workspace, because it depends on all rivals.
fn rust() -> Step {
    Step::cargo(&["run", "--quiet", "--release", "--locked", "--manifest-path", MANIFEST, "--"])
        .env("FLAKEID_COMMAND", target_folder().join("dist/flakeid"))
}

/// Returns the benchmark of the server. It starts the server and the bare server as processes.
fn load() -> Result<Step, Failed> {
    let flakeid = files::shown(&target_folder().join("dist/flakeid"))?;
    let bench = files::shown(&root().join("benches/target/release/flakeid-bench"))?;
    Ok(Step::new("benches/load/measure.py", &[&flakeid, &bench]))
}

fn report(arguments: &[&str]) -> Step {
    Step::cargo(&["run", "--quiet", "--locked", "-p", "flakeid-bench-report", "--"]).args(arguments)
}
