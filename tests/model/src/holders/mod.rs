//! Processes that lease nodes from a store: the product's rules, operations and keeper.

mod continuations;
mod events;
mod exchange;
mod forget;
mod process;
mod refutations;
mod world;

use flakeid_protocol::Identity;

use crate::scenario::{Event, Reading, Scenario};
pub use refutations::all as refutations;
pub use world::World;

#[allow(clippy::too_many_lines, reason = "a list")]
pub fn scenarios(processes: usize) -> Vec<Scenario> {
    let fixed = vec![Identity::Node(0); processes];
    let mut mixed = vec![Identity::Any; processes];
    mixed[0] = Identity::Node(0);
    let any = |name| Scenario { identities: vec![Identity::Any; processes], ..Scenario::new(name) };
    let two_nodes = |name| Scenario {
        leased: 2,
        rows: 2,
        ahead: 3,
        in_transit: 2,
        operates: true,
        accidents: 1,
        times: vec![0],
        ..any(name)
    };
    let mut scenarios = vec![
        Scenario {
            happens: vec![Event::TwoIssue, Event::LateConfirmation],
            ..any("one node for all processes")
        },
        Scenario {
            rows: 2,
            times: vec![0, 1],
            happens: vec![Event::TwoIssue, Event::TwoHold],
            ..any("two nodes")
        },
        Scenario {
            in_transit: 2,
            times: vec![0, 1],
            happens: vec![Event::TwoIssue, Event::LateConfirmation],
            ..any("messages are delayed")
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
            ..any("clients' clocks are wrong")
        },
        Scenario {
            identities: fixed.clone(),
            repeats: true,
            accidents: 1,
            ahead: 4,
            times: vec![0],
            happens: vec![Event::TwoIssue, Event::Displaced],
            ..any("a fixed node, requests arrive twice")
        },
        Scenario {
            identities: mixed,
            rows: 2,
            ahead: 2,
            times: vec![0, 1],
            steps: Some(19),
            happens: vec![Event::TwoIssue, Event::MovesOn],
            ..any("one process takes another's node")
        },
        Scenario {
            identities: fixed,
            crashes: true,
            closes: true,
            accidents: 1,
            times: vec![0, 1],
            happens: vec![Event::TwoIssue, Event::Released, Event::ClosedWhileAcquiring],
            ..any("processes are killed or close their leases")
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
            accidents: 1,
            rows: 2,
            times: vec![0],
            happens: vec![Event::TwoIssue, Event::TwoHold],
            ..any("forks, two nodes")
        },
        Scenario {
            forks: true,
            accidents: 1,
            times: vec![0, 1],
            happens: vec![Event::TwoIssue],
            ..any("forks, one node")
        },
        Scenario {
            operates: true,
            accidents: 1,
            times: vec![0, 1],
            happens: vec![Event::TwoIssue, Event::Quarantined, Event::MovesOn],
            ..any("an operator acts")
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
            ..two_nodes("a lease of two nodes, and other leases")
        },
        Scenario {
            moves: true,
            rows: 2,
            in_transit: 2,
            ahead: 3,
            times: vec![0],
            steps: Some(20),
            happens: vec![Event::TwoIssue, Event::Moves, Event::KeepsNode, Event::Released],
            ..any("a holder moves when its renewals fail")
        },
        Scenario {
            moves: true,
            leaves: true,
            rows: 2,
            in_transit: 2,
            ahead: 3,
            times: vec![0, 1],
            steps: Some(15),
            happens: vec![Event::TwoIssue, Event::Leaves, Event::Released],
            ..any("a holder moves because its granter shuts down")
        },
        Scenario {
            moves: true,
            rows: 2,
            in_transit: 2,
            ahead: 3,
            times: vec![0],
            crashes: true,
            closes: true,
            operates: true,
            accidents: 1,
            steps: Some(15),
            happens: vec![Event::TwoIssue, Event::Moves, Event::ClosedWhileAcquiring],
            ..any("a holder moves, with kills, closed leases and an operator")
        },
        Scenario {
            restores: 1,
            times: vec![0, 6],
            happens: vec![Event::GrantsAfterRestore, Event::IssuesAfterRestore],
            ..any("a restored store")
        },
        Scenario {
            restores: 1,
            pauses: true,
            times: vec![0, 6],
            happens: vec![Event::LateWrite, Event::GrantsAfterRestore, Event::IssuesAfterRestore],
            ..any("a process is paused during a restore")
        },
        Scenario {
            restores: 1,
            slow_clock: true,
            identities: vec![Identity::Node(0); processes],
            times: vec![0, 5],
            happens: vec![Event::GrantsAfterRestore, Event::IssuesAfterRestore],
            ..any("a restored store, the store's clock is slow")
        },
    ];
    scenarios.extend(continuations::scenarios(processes));
    scenarios
}
