//! The fault campaign: processes lease nodes from a store while everything around them fails. Every
//! ID that they issue is logged and checked.

mod audit;
mod campaign;
mod clock;
mod controls;
mod deployment;
mod execution;
mod fault;
mod id_bits;
mod id_log;
mod lease_options;
mod renewals;
mod report;
mod rng;
mod schedule;
mod shared_memory;
mod store_kind;
mod worker;
mod workers;

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
    /// Run a campaign on one kind of store, or on all kinds one after the other.
    Run(Campaign),
    /// Measure how many renewals and acquires per second each kind of store handles.
    Renewals(Renewals),
    /// Start a private server of every kind, print their URLs, and keep them until Ctrl-C.
    Stores,
    /// Run one of the processes of a campaign.
    #[command(hide = true)]
    Worker(Worker),
}

fn run() -> io::Result<bool> {
    match Arguments::parse().command {
        Command::Run(campaign) => campaign.run(),
        Command::Renewals(renewals) => renewals.run(),
        Command::Stores => deployment::keep_all().map(|()| true),
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
