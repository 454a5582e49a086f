//! The fault campaign: processes lease nodes from a store while faults are injected into everything
//! around them. The campaign logs and checks every ID.

mod audit;
mod campaign;
mod continuations;
mod controls;
mod deployment;
mod execution;
mod failover;
mod fault;
mod ids;
mod lease_options;
mod renewals;
mod report;
mod rounds;
mod schedule;
mod shared_memory;
mod store_faults;
mod store_kind;
mod stores;
mod summary;
mod worker;
mod workers;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use campaign::Campaign;
use failover::{Failover, Issuer, Members, StoreRequests};
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
    /// Run a campaign on one or all kinds of stores, once or repeatedly.
    Run(Campaign),
    /// Measure the renewals and acquires per second of each kind of store.
    Renewals(Renewals),
    /// Measure how long processes get no IDs when their store restarts or fails over.
    Failover(Failover),
    /// Count the requests that two brokers send to a store.
    Requests(StoreRequests),
    /// Run a process of a campaign.
    #[command(hide = true)]
    Worker(Worker),
    /// Run a process of a failover measurement.
    #[command(hide = true)]
    Issuer(Issuer),
    /// Run a process of a fleet that leases from brokers.
    #[command(hide = true)]
    Members(Members),
}

fn run() -> io::Result<bool> {
    match Arguments::parse().command {
        Command::Run(campaign) => campaign.run(),
        Command::Renewals(renewals) => renewals.run(),
        Command::Failover(failover) => failover.run(),
        Command::Requests(requests) => requests.run(),
        Command::Issuer(issuer) => issuer.run().map(|()| true),
        Command::Members(members) => members.run().map(|()| true),
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
