//! Brokers under a model checker: the product's `Blocks`, rules, operations and holder, in every order
//! of events within the bounds of each scenario; and mutants of them, each refuted.
//!
//! `FLAKEID_MODEL_ONLY=forks` tries only the scenarios and mutants with that in their names.
//! `FLAKEID_MODEL_STEPS=12` tries so many steps where they are bounded, which takes longer.

// A test may panic; that is how it fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod actors;
mod choices;
mod exchange;
mod ledger;
mod refutations;
mod scenario;
mod service;
mod view;
mod world;

use scenario::{Event, Scenario};

fn main() {
    let only = std::env::var("FLAKEID_MODEL_ONLY").unwrap_or_default();
    let more = std::env::var("FLAKEID_MODEL_STEPS").map(|text| {
        text.parse()
            .unwrap_or_else(|_| panic!("FLAKEID_MODEL_STEPS must be a number, not {text:?}"))
    });
    for mut scenario in scenarios().into_iter().filter(|scenario| scenario.name.contains(&only)) {
        if let Ok(more) = more {
            scenario.steps = scenario.steps.map(|_| more);
        }
        holds(&scenario);
    }
    refutations::refute_all(&only);
}

fn holds(scenario: &Scenario) {
    let outcome = scenario.explore(threads());
    if let Some((invariant, path)) = &outcome.broken {
        for action in path {
            println!("  {action:?}");
        }
        panic!("{}: {} is broken in {} steps", scenario.name, invariant.name(), path.len());
    }
    let extent = match scenario.steps {
        None => "every order of events".into(),
        Some(steps) => format!("at most {steps} steps"),
    };
    println!(
        "test {} ... ok: {} states, {extent}, {} deep, {:.1} s",
        scenario.name, outcome.states, outcome.depth, outcome.seconds
    );
    assert!(outcome.missing.is_empty(), "{}: never: {:?}", scenario.name, outcome.missing);
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario {
            happens: vec![Event::TwoIssue, Event::TakenOver, Event::CutShort, Event::FencedOff],
            ..Scenario::new("a block of one node")
        },
        Scenario {
            is_slow: true,
            times: vec![0, 1, 2],
            happens: vec![Event::TwoIssue, Event::TakenOver, Event::LateConfirmation],
            ..Scenario::new("messages between broker and store are under way for a while")
        },
        Scenario {
            steps: Some(9),
            gives_back: true,
            releases: true,
            kills: true,
            mischief: 1,
            times: vec![0, 1, 2],
            happens: vec![
                Event::TwoIssue,
                Event::TakenOver,
                Event::SameBlockAgain,
                Event::GivenBackInUse,
            ],
            ..Scenario::new("kills, and blocks and nodes that are given back")
        },
        Scenario {
            block_bits: 1,
            times: vec![0, 1],
            gives_back: true,
            happens: vec![Event::TakenOver, Event::GivenBackInUse],
            ..Scenario::new("a block of two nodes")
        },
        Scenario {
            steps: Some(9),
            blocks: 2,
            times: vec![0, 1],
            gives_back: true,
            happens: vec![Event::TwoIssue, Event::TakenOver, Event::SameBlockAgain],
            ..Scenario::new("two blocks")
        },
        Scenario {
            steps: Some(8),
            slots: 2,
            gives_back: true,
            times: vec![0, 1, 2],
            happens: vec![Event::TwoIssue, Event::TakenOver, Event::OwnBlockAgain],
            ..Scenario::new("a broker that gets its own block again")
        },
        Scenario {
            steps: Some(10),
            forks: true,
            kills: true,
            mischief: 2,
            times: vec![0, 1, 2],
            happens: vec![Event::TwoIssue, Event::ForkRefuses],
            ..Scenario::new("forks")
        },
        Scenario {
            steps: Some(7),
            repeats: true,
            releases: true,
            mischief: 1,
            times: vec![0, 1, 2],
            happens: vec![Event::TwoIssue, Event::SameAnswer],
            ..Scenario::new("requests that arrive twice or late")
        },
        Scenario {
            steps: Some(9),
            readings: vec![-1, 0, 1],
            times: vec![0, 1],
            happens: vec![Event::TwoIssue, Event::TakenOver],
            ..Scenario::new("clocks as they like")
        },
        Scenario {
            steps: Some(11),
            restorations: 1,
            ttl: 4,
            times: vec![0, 1, 9],
            happens: vec![Event::TwoIssue, Event::GrantsAfterRestoration, Event::Continues],
            ..Scenario::new("a store restored")
        },
    ]
}
