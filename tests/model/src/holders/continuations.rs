//! Holders that go on after a restoration: where they may, and what breaks if they may elsewhere.

use flakeid_protocol::Identity;

use super::mutant::Mutant;
use super::refutations::Refutation;
use super::scenario::{Event, Scenario};
use crate::invariant::Invariant::{I4, I7, I14};

/// One restoration, with rows that live long enough for their holders to go on.
fn going_on(name: &'static str, identities: Vec<Identity>) -> Scenario {
    Scenario {
        identities,
        restorations: 1,
        ages: true,
        ttl: 4,
        quiet: 9,
        times: vec![0],
        happens: vec![Event::Continues],
        ..Scenario::new(name)
    }
}

/// Whether holders go on, whatever else happens.
pub fn scenarios(processes: usize) -> Vec<Scenario> {
    let any = |name| going_on(name, vec![Identity::Any; processes]);
    let mut one_fixed = vec![Identity::Any; processes];
    one_fixed[0] = Identity::Node(0);
    vec![
        Scenario { times: vec![0, 4], ..any("leases go on") },
        Scenario {
            quiet: 5,
            times: vec![0, 6],
            steps: Some(17),
            happens: vec![Event::Continues, Event::GrantsAfterRestoration],
            ..any("leases go on, then others are granted")
        },
        Scenario {
            ttl: 6,
            quiet: 5,
            ahead: 4,
            times: vec![0, 1, 6],
            steps: Some(17),
            happens: vec![Event::HasLastWindow, Event::GrantsAfterRestoration],
            ..any("last windows")
        },
        Scenario {
            copies: 2,
            restorations: 2,
            ttl: 12,
            quiet: 5,
            ahead: 4,
            times: vec![0, 5],
            steps: Some(17),
            happens: vec![Event::HasLastWindow],
            ..any("last windows, several copies are put back")
        },
        Scenario {
            slow_clock: true,
            ttl: 5,
            times: vec![0, 1, 5],
            steps: Some(15),
            ..any("leases go on, on a slow clock")
        },
        Scenario {
            copies: 2,
            restorations: 2,
            ttl: 12,
            quiet: 5,
            times: vec![0, 5],
            steps: Some(17),
            ..any("leases go on, several copies are put back")
        },
        Scenario { ahead: 4, ..going_on("leases go on, one node is fixed", one_fixed) },
        Scenario {
            operates: true,
            mischief: 1,
            ahead: 4,
            steps: Some(17),
            ..any("leases go on, operators")
        },
        Scenario {
            crashes: true,
            closes: true,
            mischief: 1,
            steps: Some(16),
            ..any("leases go on, kills, ends and releases")
        },
        Scenario {
            repeats: true,
            mischief: 1,
            steps: Some(16),
            ..any("leases go on, requests that arrive twice")
        },
        Scenario { forks: true, mischief: 1, steps: Some(16), ..any("leases go on, forks") },
        Scenario { mail: 2, steps: Some(17), ..any("leases go on, letters that take their time") },
        Scenario {
            leased: 2,
            nodes: 2,
            ahead: 3,
            mail: 2,
            steps: Some(14),
            ..any("leases of two nodes go on")
        },
    ]
}

/// Conditions left out.
pub fn refutations() -> Vec<Refutation> {
    let two = || Scenario { times: vec![0, 4], ..going_on("mutant", vec![Identity::Any; 2]) };
    let mixed =
        || Scenario { identities: vec![Identity::Node(0), Identity::Any], ahead: 4, ..two() };
    let siblings =
        || Scenario { copies: 2, restorations: 2, ttl: 12, quiet: 5, times: vec![0, 5], ..two() };
    vec![
        (Mutant::ContinuesExpired, two(), I14, true),
        (
            Mutant::ContinuesWithoutSkew,
            Scenario { slow_clock: true, ttl: 3, times: vec![0, 3], ..two() },
            I14,
            true,
        ),
        (Mutant::ContinuesBesideSiblings, siblings(), I14, false),
        (Mutant::ContinuesAnyGrant, two(), I7, true),
        (
            Mutant::LastWindowExpired,
            Scenario { quiet: 5, ttl: 3, ahead: 4, times: vec![0, 4], ..two() },
            I14,
            true,
        ),
        (Mutant::LastWindowBesideSiblings, siblings(), I14, false),
        (Mutant::TakesOverLive, Scenario { times: vec![0], ..mixed() }, I14, true),
        (
            Mutant::ContinuesFixed,
            Scenario { identities: vec![Identity::Node(0); 2], times: vec![0], ahead: 4, ..two() },
            I14,
            true,
        ),
        (
            Mutant::OperatorFreesAtOnce,
            Scenario { operates: true, mischief: 1, times: vec![0], ahead: 4, ..two() },
            I14,
            true,
        ),
        (Mutant::NoWait, Scenario { times: vec![0], ..two() }, I4, true),
    ]
}
