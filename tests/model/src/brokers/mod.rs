//! Brokers that lease blocks from a store, and processes that lease nodes from brokers: the product's
//! `Blocks`, rules, operations and keeper.

mod actors;
mod choices;
mod exchange;
mod refutations;
mod scenario;
mod service;
mod view;
mod world;

use std::sync::atomic::Ordering;

use crate::invariant::Invariant;
use crate::search::{self, Run};
use scenario::{Event, Scenario};
use world::{Action, World};

/// Tries all scenarios, and refutes all mutants.
pub fn run(run: &Run) {
    for scenario in scenarios() {
        run.holds(&scenario);
    }
    for (mutant, scenario, first, duplicates) in refutations::all() {
        let scenario = Scenario { mutant, ..scenario };
        run.refutes(&format!("{mutant:?}"), &scenario, first, duplicates);
    }
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
            ..Scenario::new("forks of brokers")
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
            ..Scenario::new("blocks in a store restored")
        },
    ]
}

impl search::Scenario for Scenario {
    const MOST_STEPS_OF_MUTANTS: Option<usize> = None;

    type World = World;
    type Action = Action;
    type Event = Event;

    fn name(&self) -> &str {
        self.name
    }

    fn steps(&self) -> Option<usize> {
        self.steps
    }

    fn happens(&self) -> &[Event] {
        &self.happens
    }

    fn only(&self, invariant: Invariant) -> Self {
        Self { only: Some(invariant), ..self.clone() }
    }

    fn first(&self) -> World {
        World::new(self)
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        world.actions(self, actions);
    }

    fn after(&self, world: &World, action: Action) -> Option<World> {
        world.after(self, action)
    }

    fn broken(&self, world: &World) -> Option<Invariant> {
        world.broken
    }

    fn has_happened(&self, event: Event, _level: &[World]) -> bool {
        self.seen.load(Ordering::Relaxed) & 1 << event as u32 != 0
    }
}
