//! Attacks a server in every protocol at once, and compares how long its clients wait with and without the attack.
//!
//! The attackers send requests without a token, wrong tokens, calls whose responses they do not read, and requests for
//! leases in a loop. The clients with tokens use every protocol, from the attackers' address and from another one. The run
//! fails if a client is refused, waits too long, or if the server takes too much memory.

mod attackers;
mod clients;
mod grpc;
mod server;
mod wire;

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

use clients::Measured;
use server::{Addresses, Server};

/// The address of the attackers, and of some of the clients.
const ATTACKERS: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 66));
/// The address of the other clients.
const OTHERS: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 7));
/// The largest allowed memory of the server, in MiB.
const MOST_MEMORY: u64 = 128;
/// The largest allowed ratio of the waiting with and without the attack.
const MOST_RATIO: f64 = 2.0;
/// The smallest share of an attack's intended rate that counts as the attack.
const LEAST_RATE: f64 = 0.9;

type Failure = Box<dyn Error + Send + Sync>;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Starts a server, and measures its clients without and with the attack.
    Run {
        /// The executable of the command `flakeid`, with the feature `grpc`.
        flakeid: PathBuf,
        /// The length of each of the two measurements.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Print the times and rates, but do not fail because of them.
        #[arg(long)]
        without_times: bool,
    },
    /// Attacks a server; `run` starts this task in a process of its own.
    #[command(hide = true)]
    Attack { http: u16, resp: u16, grpc: u16, seconds: u64 },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Run { flakeid, seconds, without_times } => {
            run(&flakeid, Duration::from_secs(seconds), !without_times)
        }
        Task::Attack { http, resp, grpc, seconds } => {
            attackers::attack(Addresses { http, resp, grpc }, Duration::from_secs(seconds))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(flakeid: &Path, length: Duration, checks_times: bool) -> Result<(), Failure> {
    let server = Server::start(flakeid)?;
    let quiet = clients::measure(server.addresses, length)?;
    let attack = attackers::start(server.addresses, length + Duration::from_secs(4))?;
    // The attack has begun when all connections of the attackers are open.
    std::thread::sleep(Duration::from_secs(2));
    let attacked = clients::measure(server.addresses, length)?;
    let rates = attack.rates()?;
    let memory = server.most_memory()?;
    let mut faults = Vec::new();
    print_clients(&quiet, &attacked, checks_times, &mut faults);
    println!("\n| attack | intended per second | per second | responses |\n|---|---|---|---|");
    for rate in &rates {
        let (name, intended, per_second) = (&rate.name, rate.intended, rate.per_second);
        println!("| {name} | {intended} | {per_second:.0} | {} |", rate.responses);
        if checks_times && per_second < f64::from(intended) * LEAST_RATE {
            faults.push(format!("the attack {name:?} reached only {per_second:.0} per second"));
        }
    }
    println!("\nmost memory of the server: {memory} MiB, of {MOST_MEMORY} MiB; {}", server.limit());
    if memory > MOST_MEMORY {
        faults.push(format!("the server took {memory} MiB, above {MOST_MEMORY} MiB"));
    }
    server.stop()?;
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

fn print_clients(
    quiet: &[Measured],
    attacked: &[Measured],
    checks_times: bool,
    faults: &mut Vec<String>,
) {
    println!(
        "| clients with a token | requests | refused | p50 quiet, attacked | p99 quiet, attacked | ratio |"
    );
    println!("|---|---|---|---|---|---|");
    for (before, during) in quiet.iter().zip(attacked) {
        let [p50, p50_attacked] = [before, during].map(|of| of.quantile_ms(0.5));
        let [p99, p99_attacked] = [before, during].map(|of| of.quantile_ms(0.99));
        let (ratio, refused) = (p99_attacked / p99, before.refused + during.refused);
        let (name, requests) = (&during.name, during.waits.len());
        println!(
            "| {name} | {requests} | {refused} | {p50:.2}, {p50_attacked:.2} ms | {p99:.2}, {p99_attacked:.2} ms | {ratio:.2} |"
        );
        if refused > 0 {
            let reason = during.reason.as_ref().or(before.reason.as_ref());
            faults.push(format!("{name}: {refused} requests were refused: {reason:?}"));
        }
        if (checks_times && ratio > MOST_RATIO) || during.waits.is_empty() {
            faults.push(format!("{name}: the p99 is {ratio:.2} times the quiet one"));
        }
    }
}
