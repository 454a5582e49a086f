//! The command `flakeid`: makes, decodes and draws 64-bit Snowflake-family IDs, and plans their
//! layouts. All arithmetic on bits and time is in `flakeid-core`; this crate reads arguments and
//! writes text.

mod bounds;
mod choice;
mod cli;
mod completions;
mod consent;
mod diagram;
mod environment;
mod failure;
mod figure;
mod inspect;
mod instant;
mod layout;
mod leases;
mod maker;
mod man;
mod need;
mod next;
mod node;
mod output;
mod plan;
mod progress;
mod proposal;
mod record;
mod span;
mod store;
mod table;
mod whois;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.color.apply();
    let outcome = match &cli.command {
        Command::Next(args) => next::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Bounds(args) => bounds::run(args),
        Command::Layout(args) => match &args.command {
            None => layout::run(args),
            Some(cli::LayoutCommand::Plan(args)) => plan::run(args),
        },
        Command::Leases(args) => leases::run(args),
        Command::Whois(args) => whois::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
