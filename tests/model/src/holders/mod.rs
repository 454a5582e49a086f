//! Processes that lease nodes from a store: the product's rules, operations and keeper.

mod continuations;
mod events;
mod exchange;
mod forget;
mod keepers;
mod mutant;
mod process;
mod refutations;
mod scenario;
mod world;

use flakeid_protocol::Identity;

use crate::invariant::Invariant;
use crate::search::{self, Run};
use scenario::{Event, Reading, Scenario};
use world::{Action, World};

/// Tries all scenarios with the given number of processes, and refutes all mutants.
pub fn run(run: &Run, processes: usize) {
    for scenario in scenarios(processes).into_iter().chain(continuations::scenarios(processes)) {
        run.holds(&scenario);
    }
    for (mutant, scenario, first, duplicates) in
        refutations::all().into_iter().chain(continuations::refutations())
    {
        let scenario = Scenario { mutant, ..scenario };
        run.refutes(&format!("{mutant:?}"), &scenario, first, duplicates);
    }
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

impl search::Scenario for Scenario {
    const MOST_STEPS_OF_MUTANTS: Option<usize> = Some(20);

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

    fn has_happened(&self, event: Event, level: &[World]) -> bool {
        level.iter().any(|world| world.shows(event))
    }
}
