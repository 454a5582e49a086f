//! Checks of the guide in `docs/`: it builds, its commands work, and its programs, which are the
//! files of `examples/`, start and generate IDs. `cargo xtask docs` runs them.

mod assistants;
mod book;
mod built;
mod commands;
mod examples;
mod links;
mod pictures;
mod readme;
mod run;
mod searched;
mod tutorials;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use flakeid_steps::servers::Servers;
use flakeid_steps::{Failed, Outcome};

use run::Built;
use tutorials::Chosen;

/// Checks the guide.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    check: Check,
}

#[derive(Subcommand)]
enum Check {
    /// Check only the text: quotes, SQL, links, that mdBook prints no warnings, and that search finds all errors.
    Book,
    /// Check the links of the built guide and of the API references.
    Links,
    /// Check the README: quotes, and the command that prints the first IDs.
    Readme,
    /// Run the commands and programs with the given builds.
    Programs(Box<Built>),
    /// Run the commands of tutorials.
    Tutorials(Chosen),
}

fn check(check: &Check) -> Outcome {
    match check {
        Check::Book => {
            tutorials::check(&book::read()?)?;
            book::build()?;
            searched::check()
        }
        Check::Links => built::check(),
        Check::Readme => readme::check(),
        Check::Programs(built) => {
            let chapters = book::read()?;
            let stores = Servers::start(&[])?;
            commands::run(&chapters, built, &stores)?;
            examples::run(built, &stores)
        }
        Check::Tutorials(chosen) => tutorials::run(&book::read()?, chosen),
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
