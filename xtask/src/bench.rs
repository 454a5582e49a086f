//! The benchmarks: all of them in one run, or those of two commits side by side.

mod chart;
mod compare;
mod data;
mod results;

use std::time::Instant;

use clap::{Args, Subcommand};

use crate::command::{Failed, Outcome, Step, root};
use crate::{c, files, node, python, wasm};
use data::Suite;
use results::Measured;

pub(crate) use compare::Compare;

/// Under the root of the checkout.
const WORK: &str = "target/bench";

const MANIFEST: &str = "benches/Cargo.toml";

/// How much to measure.
#[derive(Args)]
pub(crate) struct Options {
    /// A smoke run: its figures mean little, and go to target/bench instead of benches.
    #[arg(long)]
    quick: bool,
    /// Only this table of Rust's (may be given more than once): print it, and write nothing.
    #[arg(long, value_name = "TABLE")]
    only: Vec<String>,
}

#[derive(Subcommand)]
pub(crate) enum Task {
    /// Measure two commits alternately and print the ratio of every row.
    Compare(Compare),
}

pub(crate) fn run(options: &Options, task: Option<&Task>) -> Outcome {
    if let Some(Task::Compare(compare)) = task {
        return compare::run(compare);
    }
    if options.only.is_empty() {
        return all(options.quick);
    }
    let tables: Vec<&str> = options.only.iter().flat_map(|table| ["--only", table]).collect();
    rust().args(&tables).args(if options.quick { &["--quick"] } else { &[] }).run()
}

/// Builds everything, then measures one language after the other.
fn all(quick: bool) -> Outcome {
    Step::cargo(&["build", "--release", "--locked", "--manifest-path", MANIFEST]).run()?;
    let suites = [
        ("rust", rust()),
        ("python", python::bench()?),
        ("node", node::bench()?),
        ("wasm", wasm::bench()?),
        ("c", c::bench()?),
    ];
    let start = Instant::now();
    let count = suites.len();
    let mut measured = Vec::new();
    for (index, (name, step)) in suites.into_iter().enumerate() {
        eprintln!("\nmeasuring {name} ({} of {count})", index + 1);
        measured.push(measure(name, step, quick)?);
    }
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    println!("\nmeasured for {minutes:.1} minutes");
    let folder = if quick { WORK } else { "benches" };
    let text = results::text(&measured, &commit()?, minutes, quick);
    let suites: Vec<&Suite> = measured.iter().map(|measured| &measured.suite).collect();
    for (name, contents) in [("RESULTS.md", text), ("results.svg", chart::draw(&suites))] {
        let path = format!("{folder}/{name}");
        files::write(&path, contents)?;
        println!("{path}");
    }
    Ok(())
}

/// A workspace of its own, because it pulls in every rival.
fn rust() -> Step {
    Step::cargo(&["run", "--quiet", "--release", "--locked", "--manifest-path", MANIFEST, "--"])
}

fn measure(name: &str, step: Step, quick: bool) -> Result<Measured, Failed> {
    files::make_folder(WORK)?;
    let file = files::shown(&root().join(WORK).join(format!("{name}.json")))?;
    let step = step.args(&["--json", &file]).args(if quick { &["--quick"] } else { &[] });
    let text = step.printed()?;
    print!("{text}");
    Ok(Measured { suite: Suite::read(&file)?, text })
}

/// What was measured, as git knows it.
fn commit() -> Result<String, Failed> {
    let commit = Step::new("git", &["rev-parse", "--short=12", "HEAD"]).output()?;
    let sources = ["crates", "bindings", "node", "python", "include", "benches"];
    let changes = Step::new("git", &["status", "--porcelain", "--"])
        .args(&sources)
        .args(&[":!benches/RESULTS.md", ":!benches/results.svg"])
        .output()?;
    let note = if changes.trim().is_empty() { "" } else { ", with changes" };
    Ok(format!("{}{note}", commit.trim()))
}
