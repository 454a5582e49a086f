//! Each mutant breaks something, in the least scenario that its kind of mistake needs.

use crate::scenario::Invariant::{self, I1, I11, I12, I13, I15};
use crate::scenario::Mutant;
use crate::scenario::Scenario;
use crate::threads;

/// A mutant, where it is let loose, and what it breaks first; whether it comes to the same ID twice.
type Refutation = (Mutant, Scenario, Invariant, bool);

pub fn refute_all(only: &str) {
    for (mutant, scenario, first, duplicates) in refutations() {
        if !format!("{mutant:?}").contains(only) {
            continue;
        }
        let scenario = Scenario { mutant, ..scenario };
        let mut told = refute(&scenario, first);
        let of_i1 = Scenario { only: Some(I1), ..scenario };
        if !duplicates {
            let outcome = of_i1.explore(threads());
            assert!(outcome.broken.is_none(), "{mutant:?} does repeat an ID");
            told = format!("{told}, never {} in {} states", I1.name(), outcome.states);
        } else if first != I1 {
            told = format!("{told}, {}", refute(&of_i1, I1));
        }
        println!("test mutant {mutant:?} ... ok: breaks {told}");
    }
}

/// How many steps a way to the broken invariant has. One thread finds the same way each time.
fn refute(scenario: &Scenario, expected: Invariant) -> String {
    let outcome = scenario.explore(1);
    let Some((broken, path)) = outcome.broken else {
        panic!("{:?} breaks nothing in {} states", scenario.mutant, outcome.states)
    };
    assert_eq!(broken, expected, "{:?} was refuted by {path:#?}", scenario.mutant);
    format!("{} in {} steps ({} states)", broken.name(), path.len(), outcome.states)
}

fn refutations() -> Vec<Refutation> {
    let plain = || Scenario::new("mutant");
    let ends = || Scenario { gives_back: true, releases: true, times: vec![0, 1], ..plain() };
    let forks = || Scenario { forks: true, mischief: 1, times: vec![0, 1], ..plain() };
    let kills = || Scenario { kills: true, mischief: 1, ..plain() };
    let restores = || Scenario { restorations: 1, ttl: 4, times: vec![0, 9], ..plain() };
    vec![
        (Mutant::ForkAnswers, forks(), I15, true),
        (Mutant::KeepsRows, Scenario { ahead: 6, ..plain() }, I12, true),
        (Mutant::BeyondFence, plain(), I11, true),
        (Mutant::BelowStart, plain(), I12, true),
        (Mutant::GivesBackOwnLast, ends(), I13, true),
        (Mutant::GivesBackPresentHighest, ends(), I13, false),
        (Mutant::GivesBackAndGrants, ends(), I13, true),
        (Mutant::GivesUpLaterGrant, Scenario { slots: 2, ..ends() }, I13, true),
        (Mutant::AnyToken, kills(), I1, true),
        (Mutant::BeforeConfirmed, plain(), I11, true),
        (Mutant::AckLostIsSuccess, plain(), I11, true),
        (Mutant::RollbackBlind, restores(), I1, true),
    ]
}
