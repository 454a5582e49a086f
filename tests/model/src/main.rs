//! A model checker for the lease protocol. It runs the product's rules, operations, keeper and blocks in every order
//! of events within the bounds of each scenario. It also checks that each mutant of the protocol breaks an invariant.
//!
//! `FLAKEID_MODEL_PROCESSES=3 cargo run --release -p flakeid-model` takes long, because three holders have many times
//! more states than two. `FLAKEID_MODEL_ONLY=forks` selects the scenarios and mutants with `forks` in their names.
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

use search::Run;

fn main() {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        let number = text.parse::<usize>();
        Some(number.unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")))
    };
    let processes = number("FLAKEID_MODEL_PROCESSES").unwrap_or(2);
    assert!((2..=4).contains(&processes), "FLAKEID_MODEL_PROCESSES must be from 2 to 4");
    let only = std::env::var("FLAKEID_MODEL_ONLY").unwrap_or_default();
    let run = Run { only, steps: number("FLAKEID_MODEL_STEPS") };
    run.tries::<holders::World>(&holders::scenarios(processes), holders::refutations());
    run.tries::<brokers::World>(&brokers::scenarios(), brokers::refutations());
}
