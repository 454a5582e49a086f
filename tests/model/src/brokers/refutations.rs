//! The broker mutants, each with the smallest scenario in which its mistake breaks an invariant.

use crate::invariant::Invariant::{I1, I11, I12, I13, I15};
use crate::scenario::{Mutant, Scenario};
use crate::search::Refutation;

pub fn all() -> Vec<Refutation> {
    let plain = || super::plain("mutant");
    let ends = || Scenario { closes: true, releases: true, times: vec![0, 1], ..plain() };
    let forks = || Scenario { forks: true, accidents: 1, times: vec![0, 1], ..plain() };
    let kills = || Scenario { crashes: true, accidents: 1, ..plain() };
    let restores = || Scenario { restores: 1, ttl: 4, times: vec![0, 9], ..plain() };
    let batches = || Scenario { slots: 2, rows: 2, times: vec![0, 2], ..plain() };
    vec![
        (Mutant::ForkResponds, forks(), I15, true),
        (Mutant::KeepsRows, Scenario { ahead: 6, ..plain() }, I12, true),
        (Mutant::BeyondFence, plain(), I11, true),
        (Mutant::BelowStart, plain(), I12, true),
        (Mutant::ReleasesAtOwnLastTick, ends(), I13, true),
        (Mutant::ReleasesAtPresentFence, ends(), I13, false),
        (Mutant::ReleasesAndGrants, ends(), I13, true),
        (Mutant::DropsLaterGrant, Scenario { slots: 2, ..ends() }, I13, true),
        (Mutant::AnyToken, kills(), I1, true),
        (Mutant::BeforeConfirmed, plain(), I11, true),
        (Mutant::TimeoutIsSuccess, plain(), I11, true),
        (Mutant::OneResponseForAll, batches(), I11, true),
        (Mutant::RestoreUndetected, restores(), I1, true),
    ]
}
