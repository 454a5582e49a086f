//! A model checker for the lease protocol. It runs the product's rules, operations, keeper and blocks in every order
//! of events within the bounds of each scenario. It also checks that each mutant of the protocol breaks an invariant.
//!
//! `FLAKEID_MODEL_PROCESSES=3 cargo run --release -p flakeid-model` takes long, because three holders have many times
//! more states than two. The argument `fork` selects the scenarios and mutants with `fork` in their names, and `--list`
//! lists the names.
//! `FLAKEID_MODEL_STEPS=14` tries orders of at most 14 steps in every scenario, and skips the mutants.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod brokers;
mod fingerprint;
mod holders;
mod invariant;
mod message;
mod scenario;
mod search;
mod store;

use std::process::ExitCode;

fn main() -> ExitCode {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        let number = text.parse::<usize>();
        Some(number.unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")))
    };
    let processes = number("FLAKEID_MODEL_PROCESSES").unwrap_or(2);
    assert!((2..=4).contains(&processes), "FLAKEID_MODEL_PROCESSES must be from 2 to 4");
    let steps = number("FLAKEID_MODEL_STEPS");
    let (scenarios, refutations) = (holders::scenarios(processes), holders::refutations());
    let mut searches = search::all::<holders::World>(scenarios, "mutant", refutations, steps);
    let (scenarios, refutations) = (brokers::scenarios(), brokers::refutations());
    let of_brokers = search::all::<brokers::World>(scenarios, "broker_mutant", refutations, steps);
    searches.extend(of_brokers);
    flakeid_test_runner::run(searches)
}
