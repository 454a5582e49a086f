//! The simulation: whole fleets in virtual time over the product's keeper, brokers, rules and operations. Every window
//! is checked for overlaps, and every member for the time that it had no window.

// A broken assumption of the simulation itself ends the simulation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod broker;
mod config;
mod event;
mod exchange;
mod fault;
mod faults;
mod gaps;
mod liveness;
mod member;
mod network;
mod queue;
mod random;
mod serve;
mod slab;
mod store;
mod summary;
#[cfg(test)]
mod tests;
mod thread;
mod windows;
mod world;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use config::{Config, Mutant};
use world::World;

/// Simulates a fleet that leases nodes from brokers, and checks every window.
#[derive(Parser)]
#[command(name = "flakeid-simulation")]
struct Arguments {
    /// The number of members.
    #[arg(long, default_value_t = 40)]
    members: usize,
    /// The number of brokers.
    #[arg(long, default_value_t = 3)]
    brokers: usize,
    /// The simulated time, such as `240s`, `10m` or `24h`.
    #[arg(long = "for", default_value = "240s", value_parser = milliseconds)]
    length_ms: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of seeds.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// The mean time between two faults, or `0s` for none.
    #[arg(long, default_value = "2500ms", value_parser = milliseconds)]
    fault_every: u64,
    /// Let messages in an intact network arrive within the same millisecond.
    #[arg(long)]
    fast: bool,
    /// Run the fleet and its store on one host, whose clock is sometimes set forward.
    #[arg(long)]
    one_host: bool,
    /// Simulate a mutant.
    #[arg(long, value_enum, default_value = "none")]
    mutant: Mutant,
    /// Print every event except renewals.
    #[arg(long)]
    trace: bool,
}

/// Parses a duration.
fn milliseconds(text: &str) -> Result<u64, String> {
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[end..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err("must be a number and one of the units ms, s, m and h".into()),
    };
    let number: u64 = text[..end].parse().map_err(|_| "must begin with a number".to_owned())?;
    Ok(number * unit)
}

/// Returns the CPU time of this process in seconds, or 0 if the system does not report it as Linux does.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = stat.split(' ').next().and_then(|number| number.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}

/// Returns the peak memory of this process as text.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or_else(|| "unknown peak memory".into(), |peak| format!("{} at most", peak.trim()))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut code = ExitCode::SUCCESS;
    for seed in arguments.seed..arguments.seed + arguments.seeds {
        let config = Config {
            seed,
            members: arguments.members,
            brokers: arguments.brokers,
            length_ms: arguments.length_ms,
            fault_every_ms: Some(arguments.fault_every).filter(|every| *every > 0),
            is_slow: !arguments.fast,
            is_one_host: arguments.one_host,
            mutant: arguments.mutant,
            traces: arguments.trace,
        };
        let (begun, processed) = (Instant::now(), cpu_seconds());
        match World::new(config).run() {
            Ok(summary) => {
                let (seconds, cpu) = (begun.elapsed().as_secs_f64(), cpu_seconds() - processed);
                let rate = summary.renewals as f64 / cpu.max(0.01);
                let memory = peak_memory();
                println!(
                    "seed {seed}: {seconds:.1} s, {cpu:.1} s of CPU time, {rate:.0} renewals per second of CPU time, \
                     {memory}, {summary:?}"
                );
            }
            Err(violation) => {
                println!("{violation}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}
