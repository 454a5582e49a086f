//! The protocol of leases under a model checker: the product's rules, operations and keeper, in
//! every order of events within the bounds of each scenario; and mutants of them, each refuted.
//!
//! `FLAKEID_MODEL_PROCESSES=3 cargo run --release -p flakeid-model` takes long: its
//! state space is many times larger. `FLAKEID_MODEL_ONLY=forks` tries only the scenarios with that
//! in their names, and then all mutants. `FLAKEID_MODEL_STEPS=14` tries orders of at most so many
//! steps in every scenario, and no mutants.

// A test may panic; that is how it fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod contents;
mod continuations;
mod events;
mod exchange;
mod fingerprint;
mod forget;
mod invariant;
mod keepers;
mod mutant;
mod process;
mod refutations;
mod scenario;
mod search;
mod world;

use flakeid_protocol::Identity;

use invariant::Event;
use scenario::{Reading, Scenario};

fn main() {
    let processes = match std::env::var("FLAKEID_MODEL_PROCESSES") {
        Err(_) => 2,
        Ok(text) => match text.parse() {
            Ok(count @ 2..=4) => count,
            _ => panic!("FLAKEID_MODEL_PROCESSES must be from 2 to 4, not {text:?}"),
        },
    };
    let only = std::env::var("FLAKEID_MODEL_ONLY").unwrap_or_default();
    let mut all = scenarios(processes);
    all.extend(continuations::scenarios(processes));
    let steps = std::env::var("FLAKEID_MODEL_STEPS").ok().map(|text| {
        let steps = text.parse::<usize>();
        steps.unwrap_or_else(|_| panic!("FLAKEID_MODEL_STEPS must be a number, not {text:?}"))
    });
    for mut scenario in all.into_iter().filter(|scenario| scenario.name.contains(&only)) {
        scenario.steps = steps.or(scenario.steps);
        holds(&scenario);
    }
    if steps.is_none() {
        refutations::refute(refutations::all().into_iter().chain(continuations::refutations()));
    }
}

fn holds(scenario: &Scenario) {
    let outcome = scenario.explore(scenario.steps);
    if let Some((invariant, path)) = &outcome.broken {
        for action in path {
            println!("  {action:?}");
        }
        panic!("{}: {} is broken in {} steps", scenario.name, invariant.name(), path.len());
    }
    println!(
        "test {} ... ok: {} states, {} steps, {:.1} s",
        scenario.name, outcome.states, outcome.steps, outcome.seconds
    );
    let missing: Vec<_> = outcome.missing.iter().map(|event| event.name()).collect();
    assert!(missing.is_empty(), "{}: never happened: {missing:?}", scenario.name);
}

#[allow(clippy::too_many_lines, reason = "a list")]
fn scenarios(processes: usize) -> Vec<Scenario> {
    let fixed = vec![Identity::Node(0); processes];
    let mut mixed = vec![Identity::Any; processes];
    mixed[0] = Identity::Node(0);
    let any = |name| Scenario { identities: vec![Identity::Any; processes], ..Scenario::new(name) };
    let two_nodes = |name| Scenario {
        leased: 2,
        nodes: 2,
        ahead: 3,
        mail: 2,
        operates: true,
        mischief: 1,
        times: vec![0],
        ..any(name)
    };
    vec![
        Scenario {
            happens: vec![Event::TwoIssue, Event::LateConfirmation],
            ..any("one node for all")
        },
        Scenario {
            nodes: 2,
            times: vec![0, 1],
            happens: vec![Event::TwoIssue, Event::TwoHold],
            ..any("two nodes")
        },
        Scenario {
            mail: 2,
            times: vec![0, 1],
            happens: vec![Event::TwoIssue, Event::LateConfirmation],
            ..any("letters that take their time")
        },
        Scenario {
            readings: vec![
                Reading::FarBehind,
                Reading::Off(-1),
                Reading::Off(1),
                Reading::FarAhead,
            ],
            times: vec![0, 1],
            happens: vec![Event::TwoIssue],
            ..any("clocks as they like")
        },
        Scenario {
            identities: fixed.clone(),
            repeats: true,
            mischief: 1,
            ahead: 4,
            times: vec![0],
            happens: vec![Event::TwoIssue, Event::Ousted],
            ..any("a fixed node, requests that arrive twice")
        },
        Scenario {
            identities: mixed,
            nodes: 2,
            ahead: 2,
            times: vec![0, 1],
            steps: Some(19),
            happens: vec![Event::TwoIssue, Event::MovesOn],
            ..any("one takes the other's node")
        },
        Scenario {
            identities: fixed,
            crashes: true,
            closes: true,
            mischief: 1,
            times: vec![0, 1],
            happens: vec![Event::TwoIssue, Event::Released, Event::ClosedWhileAsking],
            ..any("kills, ends and releases")
        },
        Scenario {
            fills_ticks: true,
            closes: true,
            times: vec![0, 1],
            happens: vec![Event::TwoIssue, Event::Released],
            ..any("releases within a tick")
        },
        Scenario {
            forks: true,
            mischief: 1,
            nodes: 2,
            times: vec![0],
            happens: vec![Event::TwoIssue, Event::TwoHold],
            ..any("forks, two nodes")
        },
        Scenario {
            forks: true,
            mischief: 1,
            times: vec![0, 1],
            happens: vec![Event::TwoIssue],
            ..any("forks, one node")
        },
        Scenario {
            operates: true,
            mischief: 1,
            times: vec![0, 1],
            happens: vec![Event::TwoIssue, Event::Quarantined, Event::MovesOn],
            ..any("operators")
        },
        Scenario {
            identities: vec![Identity::Any],
            closes: true,
            steps: Some(20),
            happens: vec![Event::MovesOn, Event::Released, Event::WindowsDoNotMeet],
            ..two_nodes("a lease of two nodes")
        },
        Scenario {
            steps: Some(13),
            happens: vec![Event::TwoIssue, Event::MovesOn],
            ..two_nodes("a lease of two nodes, and others")
        },
        Scenario {
            moves: true,
            nodes: 2,
            mail: 2,
            ahead: 3,
            times: vec![0],
            steps: Some(20),
            happens: vec![Event::TwoIssue, Event::Moves, Event::KeepsNode, Event::Released],
            ..any("a holder whose renewals fail moves")
        },
        Scenario {
            moves: true,
            nodes: 2,
            mail: 2,
            ahead: 3,
            times: vec![0],
            crashes: true,
            closes: true,
            operates: true,
            mischief: 1,
            steps: Some(15),
            happens: vec![Event::TwoIssue, Event::Moves, Event::ClosedWhileAsking],
            ..any("a holder moves, kills, ends and operators")
        },
        Scenario {
            restorations: 1,
            times: vec![0, 5],
            happens: vec![Event::GrantsAfterRestoration, Event::IssuesAfterRestoration],
            ..any("a store restored")
        },
        Scenario {
            restorations: 1,
            slow_clock: true,
            identities: vec![Identity::Node(0); processes],
            times: vec![0, 4],
            happens: vec![Event::GrantsAfterRestoration, Event::IssuesAfterRestoration],
            ..any("a store restored, on a slow clock")
        },
    ]
}
