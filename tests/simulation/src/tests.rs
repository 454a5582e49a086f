//! Small fleets with frequent faults, and the mutants that they must find.

use std::thread;

use crate::config::{Config, Mutant};
use crate::summary::Summary;
use crate::world::World;

/// The number of seeds that must not violate a rule.
const SEEDS: u64 = 100;

fn simulate(config: Config) -> Result<Summary, String> {
    World::new(config).run()
}

/// Returns the violations of the first `seeds` seeds of a mutant.
fn violations(mutant: Mutant, seeds: u64) -> Vec<String> {
    let outcomes = (1..=seeds).map(|seed| simulate(Config { mutant, ..Config::small(seed) }));
    outcomes.filter_map(Result::err).collect()
}

#[test]
fn small_fleets_violate_no_rule() {
    let threads = 2;
    let of_thread = |first: u64| {
        thread::spawn(move || {
            let mut total = Summary::default();
            for seed in (first..=SEEDS).step_by(threads) {
                let summary =
                    simulate(Config::small(seed)).unwrap_or_else(|found| panic!("{found}"));
                total.renewals += summary.renewals;
                total.grants += summary.grants;
                total.faults += summary.faults;
            }
            total
        })
    };
    let threads: Vec<_> = (1..=threads as u64).map(of_thread).collect();
    let totals: Vec<Summary> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let sum = |of: fn(&Summary) -> u64| totals.iter().map(of).sum::<u64>();
    // Fleets without renewals, grants and faults would violate no rule either.
    assert!(sum(|of| of.renewals) > 1_000 * SEEDS, "{totals:?}");
    assert!(sum(|of| of.grants) > 100 * SEEDS, "{totals:?}");
    assert!(sum(|of| of.faults) > 30 * SEEDS, "{totals:?}");
}

#[test]
fn equal_seeds_give_equal_fleets() {
    let first = simulate(Config::small(7)).unwrap();
    assert_eq!(simulate(Config::small(7)).unwrap(), first);
    assert_ne!(simulate(Config::small(8)).unwrap().digest, first.digest);
}

#[test]
fn fast_path_of_large_fleets_violates_no_rule() {
    for seed in 1..=5 {
        let summary = simulate(Config { is_slow: false, ..Config::small(seed) }).unwrap();
        assert!(summary.renewals > 1_000, "{summary:?}");
    }
}

#[test]
fn steps_of_the_only_host_leave_no_member_without_a_window() {
    let one_host = |seed| Config { is_one_host: true, ..Config::small(seed) };
    for seed in 1..=20 {
        simulate(one_host(seed)).unwrap_or_else(|found| panic!("{found}"));
    }
    let mutant = Mutant::FollowsSteps;
    let found = (1..=5).filter_map(|seed| simulate(Config { mutant, ..one_host(seed) }).err());
    let found: Vec<String> = found.collect();
    assert!(found.iter().any(|text| text.contains("has had no window since")), "{found:?}");
}

#[test]
fn final_first_answer_leaves_members_without_a_window() {
    let found = violations(Mutant::AnswerIsFinal, 5);
    assert!(found.iter().any(|text| text.contains("has had no window since")), "{found:?}");
    let seed = found.first().unwrap();
    assert_eq!(violations(Mutant::AnswerIsFinal, 5).first(), Some(seed), "the seed repeats it");
}

#[test]
fn equal_tokens_of_two_hosts_overlap_without_the_check_of_owners() {
    let found = violations(Mutant::OwnerUnchecked, 30);
    assert!(found.iter().any(|text| text.contains("I1: two windows of node")), "{found:?}");
}
