//! Each mutant breaks something, in the least scenario that its kind of mistake needs.

use super::scenario::{Mutant, Scenario};
use crate::invariant::Invariant::{self, I1, I11, I12, I13, I15};

/// A mutant, where it is let loose, and what it breaks first; whether it comes to the same ID twice.
pub type Refutation = (Mutant, Scenario, Invariant, bool);

pub fn all() -> Vec<Refutation> {
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
