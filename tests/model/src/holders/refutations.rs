//! Each mutant breaks something, in the least scenario that its kind of mistake needs.

use flakeid_protocol::Identity;

use super::mutant::Mutant;
use super::scenario::Scenario;
use crate::invariant::Invariant::{self, I1, I2, I3, I4, I5, I6, I7, I8};

/// A mutant, where it is let loose, and what it breaks first; whether it comes to the same ID
/// twice.
pub type Refutation = (Mutant, Scenario, Invariant, bool);

pub fn all() -> Vec<Refutation> {
    let plain = || Scenario { times: vec![0, 1], ..Scenario::new("mutant") };
    let fixed = || Scenario { identities: vec![Identity::Node(0); 2], ahead: 4, ..plain() };
    let closing = || Scenario { closes: true, ..fixed() };
    let forking = || Scenario { forks: true, mischief: 1, ..plain() };
    let crashing = || Scenario { crashes: true, mischief: 1, ..plain() };
    let repeating = || Scenario { repeats: true, mischief: 1, times: vec![0], ..fixed() };
    let moving = || Scenario {
        identities: vec![Identity::Any],
        nodes: 2,
        operates: true,
        mischief: 1,
        ..plain()
    };
    let leasing_two =
        || Scenario { leased: 2, nodes: 3, ahead: 4, mail: 2, times: vec![0], ..moving() };
    let moving_elsewhere =
        || Scenario { moves: true, nodes: 2, ahead: 3, mail: 2, times: vec![0], ..moving() };
    let restoring = || Scenario { restorations: 1, ..fixed() };
    vec![
        (Mutant::UseBeforePersist, fixed(), I5, true),
        (Mutant::StartAtNow, fixed(), I4, true),
        (Mutant::NoToken, fixed(), I7, true),
        (Mutant::ReleaseWithoutClosing, closing(), I6, true),
        (Mutant::AckLostIsSuccess, fixed(), I5, true),
        (Mutant::FenceInclusive, fixed(), I2, true),
        (Mutant::PastHighWater, closing(), I3, true),
        (Mutant::Plain, crashing(), I2, true),
        (Mutant::ForkBlind, forking(), I6, true),
        (Mutant::ForkKeepsHolder, forking(), I7, false),
        (Mutant::TtlErasesKey, plain(), I4, true),
        (Mutant::RollbackBlind, restoring(), I1, true),
        (Mutant::TokenOfAnyGrant, repeating(), I1, true),
        (Mutant::BelowOwnLast, moving(), I8, false),
        (Mutant::PastHighWater, moving_elsewhere(), I3, false),
        (Mutant::BelowOwnLast, moving_elsewhere(), I8, false),
        (Mutant::UnusedUnlessBegun, leasing_two(), I3, false),
    ]
}
