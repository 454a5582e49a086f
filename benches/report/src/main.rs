//! Writes `RESULTS.md` and the chart from the output of the benchmarks, and compares two commits. `cargo xtask bench`
//! runs this.

mod chart;
mod compare;
mod data;
mod keys;
mod results;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use flakeid_steps::{Failed, Outcome, Step, files};

use compare::Compare;
use data::Suite;
use keys::Keys;
use results::Measured;

/// Report on the benchmarks.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Write `RESULTS.md` and `results.svg`.
    Results(Results),
    /// Measure two commits alternately and print the ratio of every row.
    Compare(Compare),
    /// Write the results of the primary keys, and the table that the guide quotes.
    Keys(Keys),
}

#[derive(Args)]
struct Results {
    /// Folder of the benchmarks' output: NAME.json and NAME.md.
    #[arg(long)]
    from: PathBuf,
    /// Folder to write to.
    #[arg(long)]
    to: PathBuf,
    /// Duration of the measurements in minutes.
    #[arg(long)]
    minutes: f64,
    /// Mark the figures as those of a smoke run.
    #[arg(long)]
    quick: bool,
    /// Benchmarks in the order of the report.
    names: Vec<String>,
}

impl Results {
    fn write(&self) -> Outcome {
        let read = |name: &String| {
            let suite = Suite::read(&files::shown(&self.from.join(format!("{name}.json")))?)?;
            Ok(Measured { suite, text: files::text(self.from.join(format!("{name}.md")))? })
        };
        let measured = self.names.iter().map(read).collect::<Result<Vec<_>, Failed>>()?;
        let text = results::text(&measured, &commit()?, self.minutes, self.quick);
        let suites: Vec<&Suite> = measured.iter().map(|measured| &measured.suite).collect();
        for (name, contents) in [("RESULTS.md", text), ("results.svg", chart::draw(&suites))] {
            let path = self.to.join(name);
            files::write(&path, contents)?;
            println!("{}", path.display());
        }
        Ok(())
    }
}

/// Returns the measured commit as Git describes it.
fn commit() -> Result<String, Failed> {
    let commit = Step::new("git", &["rev-parse", "--short=12", "HEAD"]).output()?;
    let sources = ["crates", "bindings", "node", "python", "go", "java", "include", "benches"];
    let changes = Step::new("git", &["status", "--porcelain", "--"])
        .args(&sources)
        .args(&[":!benches/RESULTS.md", ":!benches/results.svg"])
        .output()?;
    let note = if changes.trim().is_empty() { "" } else { ", with changes" };
    Ok(format!("{}{note}", commit.trim()))
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Results(results) => results.write(),
        Task::Compare(compare) => compare::run(&compare),
        Task::Keys(keys) => commit().and_then(|commit| keys.write(&commit)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed(why)) => {
            eprintln!("flakeid-bench-report: {why}");
            ExitCode::FAILURE
        }
    }
}
