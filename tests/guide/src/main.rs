//! The guide in `docs/`: that it builds, that its commands do what it says, and that its programs,
//! which are the files of `examples/`, start and make IDs. `cargo xtask docs` runs this.

mod book;
mod commands;
mod examples;
mod readme;
mod run;
mod stores;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use flakeid_steps::{Failed, Outcome};

use run::Built;
use stores::Stores;

/// Checks the guide.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    check: Check,
}

#[derive(Subcommand)]
enum Check {
    /// The text alone: quotes, SQL, links, and that mdBook has no warning.
    Book,
    /// The README: quotes, and the command that prints the first IDs.
    Readme,
    /// Its commands and programs, with what was built for them.
    Programs(Built),
}

fn check(check: &Check) -> Outcome {
    match check {
        Check::Book => book::read().and_then(|_| book::build()),
        Check::Readme => readme::check(),
        Check::Programs(built) => {
            let chapters = book::read()?;
            let stores = Stores::start()?;
            commands::run(&chapters, built, &stores)?;
            examples::run(built, &stores)
        }
    }
}

fn main() -> ExitCode {
    match check(&Arguments::parse().check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed(why)) => {
            eprintln!("flakeid-guide: {why}");
            ExitCode::FAILURE
        }
    }
}
