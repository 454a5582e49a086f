//! Compares the relations of the proof with the code on random states: the rules of the store, the keeper with its
//! holders, the generator, and the blocks of a broker. Each mutant of the code must be detected.
//!
//! `cargo xtask proof --states 100000000 --seed 7` compares more states. A difference prints the seed and the state.

// A comparison fails by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod broker;
mod comparison;
mod holder;
mod random;
#[rustfmt::skip]
mod relations;
mod store;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use comparison::{MUTANTS, Mutant};
use random::Random;

/// A comparison of one relation in one random state. Returns whether the relation allows the action.
type Comparison = fn(&mut Random, Mutant) -> bool;

const COMPARISONS: &[(&str, Comparison)] = &[
    ("acquire", store::acquire),
    ("renew", store::renew),
    ("renew in a later run", store::renew_older),
    ("release", store::release),
    ("operator", store::cut_off),
    ("proof of a loss", store::forgotten),
    ("new run", store::restored),
    ("begin a generator", holder::begin),
    ("raise the limit", holder::raise_limit),
    ("renewal sent", holder::send),
    ("close and release", holder::close),
    ("issue", holder::issue),
    ("broker: grant", broker::grant),
    ("broker: renew", broker::renew),
    ("broker: lose a block", broker::lose),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = || arguments.next().map(|text| text.parse::<u64>().expect("a number"));
    let states = number().unwrap_or(1_000_000);
    let seed = number().unwrap_or_else(Random::seed);
    println!("seed {seed}: cargo xtask proof --states {states} --seed {seed}");
    for (name, (allowed, refused)) in compare(states, seed, Mutant::None) {
        println!(
            "ok  {name}: {allowed} states in which it is allowed, {refused} in which it is not"
        );
        assert!(
            allowed > 0 && (refused > 0 || name == "new run"),
            "{name}: only one outcome occurred"
        );
    }
    std::panic::set_hook(Box::new(|_| {}));
    for mutant in MUTANTS {
        let run = || compare(states.min(1_000_000), seed, *mutant);
        let found = catch_unwind(AssertUnwindSafe(run));
        let Err(difference) = found else {
            eprintln!("BAD mutant {mutant:?}: no comparison detected the mistake");
            std::process::exit(1);
        };
        let text = difference.downcast_ref::<String>().map_or("", String::as_str);
        println!("ok  mutant {mutant:?}: {}", text.lines().next().unwrap_or_default());
    }
}

/// Compares each relation in an equal share of the states. Returns the number of allowed and refused actions.
fn compare(states: u64, seed: u64, mutant: Mutant) -> BTreeMap<&'static str, (u64, u64)> {
    let mut counts = BTreeMap::new();
    let share = states.div_ceil(COMPARISONS.len() as u64);
    for (name, comparison) in COMPARISONS {
        let count: &mut (u64, u64) = counts.entry(*name).or_default();
        let mut random = Random::new(seed);
        for _ in 0..share {
            if comparison(&mut random, mutant) {
                count.0 += 1;
            } else {
                count.1 += 1;
            }
        }
    }
    counts
}
