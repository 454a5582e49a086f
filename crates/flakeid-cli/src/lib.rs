//! The command `flakeid`, also for packages of other languages: generates, decodes and draws 64-bit Snowflake-family IDs, plans their
//! layouts, and manages the leases of their nodes. This crate reads arguments and writes output.
//! Arithmetic on bits and time is in the crate `flakeid-core`, and the rules of leases are in the
//! crates `flakeid-protocol` and `flakeid`.
//!
//! Each module in this list uses only the modules after it: `cli`, `commands`, `store`, `args`,
//! `failure`, `logging`, `terminal`, `format`.

mod args;
mod cli;
mod commands;
mod failure;
mod format;
#[cfg(feature = "http")]
mod logging;
mod store;
mod terminal;

use std::ffi::OsString;

use clap::{CommandFactory, Parser};

use cli::{Cli, Command, LayoutCommand};
use commands::{
    bounds, exec, inspect, keyed, layout, leases, migrate, next, plan, serve, shell, sql, whois,
};

/// Runs the command and returns its exit status. The first argument is the name of the program.
/// Ends the process if the arguments are invalid or request the help.
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let cli =
        Cli::try_parse_from(&arguments).unwrap_or_else(|error| args::reject(&error, &arguments));
    cli.color.apply();
    let outcome = match &cli.command {
        Command::Next(args) => next::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Bounds(args) => bounds::run(args),
        Command::Sql(args) => sql::run(args),
        Command::Layout(args) => match &args.command {
            None => layout::run(&args.show),
            Some(LayoutCommand::Plan(args)) => plan::run(args),
        },
        Command::Leases(args) => leases::run(args),
        Command::Migrate(args) => migrate::run(args),
        Command::Whois(args) => whois::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Exec(args) => exec::run(args),
        Command::Keygen(args) => keyed::keygen(args),
        Command::Seal(args) => keyed::seal(args),
        Command::Open(args) => keyed::open(args),
        Command::Completions(args) => shell::completions(args, Cli::command()),
        Command::Man(args) => shell::man(args, Cli::command()),
    };
    match outcome {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}
