//! Brokers that lease blocks from a store, and processes that lease nodes from brokers: the product's
//! `Blocks`, rules, operations and keeper.

mod actors;
mod choices;
mod exchange;
mod refutations;
mod service;
mod view;
mod world;

use crate::scenario::{Event, Reading, Scenario};
pub use refutations::all as refutations;
pub use world::World;

/// Creates a scenario of one block with one node, without accidents.
fn plain(name: &'static str) -> Scenario {
    let times = vec![0, 1, 2, 3];
    Scenario { window: 3, ahead: 2, quiet: 7, ages: true, times, ..Scenario::new(name) }
}

pub fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario {
            happens: vec![Event::TwoIssue, Event::TakenOver, Event::CutShort, Event::FencedOff],
            ..plain("a block of one node")
        },
        Scenario {
            is_slow: true,
            times: vec![0, 1, 2],
            happens: vec![Event::TwoIssue, Event::TakenOver, Event::LateConfirmation],
            ..plain("messages between broker and store are delayed")
        },
        Scenario {
            steps: Some(9),
            closes: true,
            releases: true,
            crashes: true,
            accidents: 1,
            times: vec![0, 1, 2],
            happens: vec![
                Event::TwoIssue,
                Event::TakenOver,
                Event::SameBlockAgain,
                Event::ReleasedInUse,
            ],
            ..plain("kills, and released blocks and nodes")
        },
        Scenario {
            block_bits: 1,
            times: vec![0, 1],
            closes: true,
            happens: vec![Event::TakenOver, Event::ReleasedInUse],
            ..plain("a block of two nodes")
        },
        Scenario {
            steps: Some(9),
            rows: 2,
            times: vec![0, 1],
            closes: true,
            happens: vec![Event::TwoIssue, Event::TakenOver, Event::SameBlockAgain],
            ..plain("two blocks")
        },
        Scenario {
            steps: Some(8),
            slots: 2,
            closes: true,
            times: vec![0, 1, 2],
            happens: vec![Event::TwoIssue, Event::TakenOver, Event::OwnBlockAgain],
            ..plain("a broker leases its own block again")
        },
        Scenario {
            steps: Some(7),
            slots: 2,
            rows: 2,
            times: vec![0, 1],
            happens: vec![Event::TakenOver, Event::PartlyRefused],
            ..plain("a broker renews two blocks in one transaction")
        },
        Scenario {
            steps: Some(10),
            forks: true,
            crashes: true,
            accidents: 2,
            times: vec![0, 1, 2],
            happens: vec![Event::TwoIssue, Event::ForkRefuses],
            ..plain("broker forks")
        },
        Scenario {
            steps: Some(7),
            repeats: true,
            releases: true,
            accidents: 1,
            times: vec![0, 1, 2],
            happens: vec![Event::TwoIssue, Event::SameResponse],
            ..plain("requests arrive twice or late")
        },
        Scenario {
            steps: Some(9),
            readings: vec![Reading::Off(-1), Reading::Off(0), Reading::Off(1)],
            times: vec![0, 1],
            happens: vec![Event::TwoIssue, Event::TakenOver],
            ..plain("brokers' clocks differ from the store's clock")
        },
        Scenario {
            steps: Some(11),
            restores: 1,
            ttl: 4,
            times: vec![0, 1, 9],
            happens: vec![Event::TwoIssue, Event::GrantsAfterRestore, Event::Continues],
            ..plain("blocks in a restored store")
        },
    ]
}
