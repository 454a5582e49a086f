//! Scenarios in which holders continue their leases after a restore, and mutants in which holders wrongly do so.

use flakeid_protocol::Identity;

use crate::invariant::Invariant::{I4, I7, I14};
use crate::scenario::{Event, Mutant, Scenario};
use crate::search::Refutation;

/// Creates a scenario with one restore, in which rows live long enough for their holders to continue their leases.
fn continuing(name: &'static str, identities: Vec<Identity>) -> Scenario {
    Scenario {
        identities,
        restores: 1,
        ages: true,
        ttl: 4,
        quiet: 9,
        times: vec![0],
        happens: vec![Event::Continues],
        ..Scenario::new(name)
    }
}

/// Returns the scenarios in which holders continue their leases after a restore.
pub fn scenarios(processes: usize) -> Vec<Scenario> {
    let any = |name| continuing(name, vec![Identity::Any; processes]);
    let mut one_fixed = vec![Identity::Any; processes];
    one_fixed[0] = Identity::Node(0);
    vec![
        Scenario { times: vec![0, 4], ..any("leases continue") },
        Scenario {
            quiet: 5,
            times: vec![0, 6],
            steps: Some(17),
            happens: vec![Event::Continues, Event::GrantsAfterRestore],
            ..any("leases continue, then other leases are granted")
        },
        Scenario {
            ttl: 6,
            quiet: 5,
            ahead: 4,
            times: vec![0, 1, 6],
            steps: Some(17),
            happens: vec![Event::HasLastWindow, Event::GrantsAfterRestore],
            ..any("last windows")
        },
        Scenario {
            copies: 2,
            restores: 2,
            ttl: 12,
            quiet: 5,
            ahead: 4,
            times: vec![0, 6],
            steps: Some(17),
            happens: vec![Event::HasLastWindow],
            ..any("last windows, several copies are restored")
        },
        Scenario {
            slow_clock: true,
            ttl: 5,
            times: vec![0, 1, 5],
            steps: Some(15),
            ..any("leases continue, the store's clock is slow")
        },
        Scenario {
            copies: 2,
            restores: 2,
            ttl: 12,
            quiet: 5,
            times: vec![0, 6],
            steps: Some(17),
            ..any("leases continue, several copies are restored")
        },
        Scenario { ahead: 4, ..continuing("leases continue, one node is fixed", one_fixed) },
        Scenario {
            operates: true,
            accidents: 1,
            ahead: 4,
            steps: Some(17),
            ..any("leases continue, an operator acts")
        },
        Scenario {
            crashes: true,
            closes: true,
            accidents: 1,
            steps: Some(16),
            ..any("leases continue, processes are killed or close their leases")
        },
        Scenario {
            repeats: true,
            accidents: 1,
            steps: Some(16),
            ..any("leases continue, requests arrive twice")
        },
        Scenario { forks: true, accidents: 1, steps: Some(16), ..any("leases continue, forks") },
        Scenario { in_transit: 2, steps: Some(17), ..any("leases continue, messages are delayed") },
        Scenario {
            leased: 2,
            rows: 2,
            ahead: 3,
            in_transit: 2,
            steps: Some(14),
            ..any("leases of two nodes continue")
        },
    ]
}

/// Returns the mutants that omit a condition for continuing after a restore.
pub fn refutations() -> Vec<Refutation> {
    let two = || Scenario { times: vec![0, 4], ..continuing("mutant", vec![Identity::Any; 2]) };
    let mixed =
        || Scenario { identities: vec![Identity::Node(0), Identity::Any], ahead: 4, ..two() };
    let other_copies =
        || Scenario { copies: 2, restores: 2, ttl: 12, quiet: 5, times: vec![0, 6], ..two() };
    vec![
        (Mutant::ContinuesExpired, two(), I14, true),
        (
            Mutant::ContinuesWithoutSkew,
            Scenario { slow_clock: true, ttl: 3, times: vec![0, 3], ..two() },
            I14,
            true,
        ),
        (Mutant::ContinuesDespiteOtherCopies, other_copies(), I14, false),
        (Mutant::ContinuesAnyGrant, two(), I7, true),
        (
            Mutant::LastWindowExpired,
            Scenario { quiet: 5, ttl: 3, ahead: 4, times: vec![0, 4], ..two() },
            I14,
            true,
        ),
        (Mutant::LastWindowDespiteOtherCopies, other_copies(), I14, false),
        (Mutant::TakesOverLive, Scenario { times: vec![0], ..mixed() }, I14, true),
        (
            Mutant::ContinuesFixed,
            Scenario { identities: vec![Identity::Node(0); 2], times: vec![0], ahead: 4, ..two() },
            I14,
            true,
        ),
        (
            Mutant::OperatorFreesAtOnce,
            Scenario { operates: true, accidents: 1, times: vec![0], ahead: 4, ..two() },
            I14,
            true,
        ),
        (Mutant::NoWait, Scenario { times: vec![0], ..two() }, I4, true),
    ]
}
