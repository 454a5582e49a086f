//! Every task of the project, so that people and CI run the same ones.

mod bench;
mod command;
mod lint;
mod readme;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use command::Failed;

/// Tasks of the flakeid project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that must pass before a change lands: lint, all tests, loom models, vectors,
    /// README.
    Test,
    /// Formatting, clippy on every feature set, documentation; all without warnings.
    Lint,
    /// Build the workspace with exactly the oldest compiler it promises (rust-version).
    Msrv,
    /// The benchmarks against rivals and the floor; the rest of the line goes to them.
    Bench {
        /// For example `--quick`, or `--only threads`; `-- --help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Test => test::run(),
        Task::Lint => lint::run(),
        Task::Msrv => lint::msrv(),
        Task::Bench { arguments } => bench::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed(why)) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}
