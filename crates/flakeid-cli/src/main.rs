//! The command `flakeid`: makes, decodes and draws 64-bit Snowflake-family IDs, and plans their
//! layouts. All arithmetic on bits and time is in `flakeid-core`; this crate reads arguments and
//! writes text.

mod args;
mod cli;
mod commands;
mod failure;
mod format;
mod store;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.color.apply();
    let outcome = match &cli.command {
        Command::Next(args) => commands::next::run(args),
        Command::Inspect(args) => commands::inspect::run(args),
        Command::Bounds(args) => commands::bounds::run(args),
        Command::Layout(args) => match &args.command {
            None => commands::layout::run(args),
            Some(cli::LayoutCommand::Plan(args)) => commands::plan::run(args),
        },
        Command::Leases(args) => commands::leases::run(args),
        Command::Whois(args) => commands::whois::run(args),
        Command::Completions(args) => commands::completions::run(args),
        Command::Man(args) => commands::man::run(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
