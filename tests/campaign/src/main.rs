//! The fault campaign: processes lease nodes from a store while everything around them fails, and
//! every ID that they hand out is written down and checked.

mod audit;
mod board;
mod campaign;
mod clock;
mod controls;
mod crew;
mod dice;
mod fault;
mod notebook;
mod renewals;
mod report;
mod schedule;
mod shape;
mod site;
mod terms;
mod worker;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use campaign::Campaign;
use renewals::Renewals;
use worker::Worker;

#[derive(Parser)]
#[command(name = "flakeid-campaign")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a campaign on one kind of store, or on all, one after the other.
    Run(Campaign),
    /// Measure how many renewals and acquires per second each kind of store takes.
    Renewals(Renewals),
    /// Start a private server of every kind, print their URLs, and keep them until Ctrl-C.
    Stores,
    /// One of the processes of a campaign.
    #[command(hide = true)]
    Worker(Worker),
}

fn run() -> io::Result<bool> {
    match Arguments::parse().command {
        Command::Run(campaign) => campaign.run(),
        Command::Renewals(renewals) => renewals.run(),
        Command::Stores => site::keep_all().map(|()| true),
        Command::Worker(worker) => worker.run().map(|()| true),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("flakeid-campaign: {error}");
            ExitCode::FAILURE
        }
    }
}
