//! The mutants of leases, each with the smallest scenario in which its mistake breaks an invariant.

use flakeid_protocol::Identity;

use super::continuations;
use crate::invariant::Invariant::{I1, I2, I3, I4, I5, I6, I7, I8};
use crate::scenario::{Mutant, Scenario};
use crate::search::Refutation;

pub fn all() -> Vec<Refutation> {
    let plain = || Scenario { times: vec![0, 1], ..Scenario::new("mutant") };
    let fixed = || Scenario { identities: vec![Identity::Node(0); 2], ahead: 4, ..plain() };
    let closing = || Scenario { closes: true, ..fixed() };
    let forking = || Scenario { forks: true, accidents: 1, ..plain() };
    let crashing = || Scenario { crashes: true, accidents: 1, ..plain() };
    let repeating = || Scenario { repeats: true, accidents: 1, times: vec![0], ..fixed() };
    let moving = || Scenario {
        identities: vec![Identity::Any],
        rows: 2,
        operates: true,
        accidents: 1,
        ..plain()
    };
    let leasing_two =
        || Scenario { leased: 2, rows: 3, ahead: 4, in_transit: 2, times: vec![0], ..moving() };
    let moving_elsewhere =
        || Scenario { moves: true, rows: 2, ahead: 3, in_transit: 2, times: vec![0], ..moving() };
    let pausing = || Scenario { restores: 1, pauses: true, ..plain() };
    let restoring = || Scenario { restores: 1, ..fixed() };
    let mut all = vec![
        (Mutant::UseBeforePersist, fixed(), I5, true),
        (Mutant::StartAtNow, fixed(), I4, true),
        (Mutant::NoToken, fixed(), I7, true),
        (Mutant::ReleaseWithoutClosing, closing(), I6, true),
        (Mutant::TimeoutIsSuccess, fixed(), I5, true),
        (Mutant::FenceInclusive, fixed(), I2, true),
        (Mutant::ReleasesAtLastTick, closing(), I3, true),
        (Mutant::Plain, crashing(), I2, true),
        (Mutant::ForkKeepsGenerator, forking(), I6, true),
        (Mutant::ForkKeepsHolder, forking(), I7, false),
        (Mutant::ExpiryDeletesRow, plain(), I4, true),
        (Mutant::RestoreUndetected, restoring(), I1, true),
        (Mutant::UsesLateWrite, pausing(), I1, true),
        (Mutant::ForgetsLateWrite, pausing(), I1, true),
        (Mutant::TokenOfAnyGrant, repeating(), I1, true),
        (Mutant::ReleasesAtLastTick, moving_elsewhere(), I3, false),
        (Mutant::BelowOwnLast, Scenario { times: vec![0, 1], ..leasing_two() }, I8, false),
        (Mutant::UnusedUnlessBegun, moving(), I3, false),
    ];
    all.extend(continuations::refutations());
    all
}
