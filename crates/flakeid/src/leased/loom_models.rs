//! Loom models of a lease that changes its node while other threads take IDs. Loom explores every interleaving of
//! operations on the real list and the real generators. Some variants of the models contain one deliberate bug each,
//! which Loom must find. `flakeid-core` contains the models of renewals and of the end of a window.
//!
//! The command to run the models is `RUSTFLAGS="--cfg loom" cargo test -p flakeid --no-default-features --lib loom`.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use flakeid_core::{Generator, Layout, ManualClock, Window};

use crate::keeper::Chain;

type Tenures = Chain<Generator>;

/// Returns the layout `t8.n1.s1`, in which the node is between the tick and the sequence.
fn layout() -> Layout {
    Layout::builder().time(8).node(1).sequence(1).build_const()
}

fn generator(node: u64, start: u64) -> Generator {
    Generator::builder(layout())
        .node(node)
        .clock(ManualClock::new(11))
        .window(Window::new(start, start + 2).unwrap())
        .build()
        .unwrap()
}

#[derive(Clone, Copy, PartialEq)]
enum Change {
    /// The old generator is retired before the new generator is published, as in the keeper.
    Real,
    /// The new generator is published before the old generator is retired.
    PublishedFirst,
    /// The old generator is never retired.
    NeverRetired,
    /// The new generator starts at the position that the old generator had when the node was requested.
    StartTooLow,
}

fn change(tenures: &Tenures, how: Change) {
    let old = tenures.newest().unwrap();
    let asked_at = old.next_tick().unwrap_or(10);
    let retired = |old: &Generator| old.retire().unwrap().map_or(10, |last| last + 1);
    match how {
        Change::Real => {
            let start = retired(old);
            tenures.push(generator(1, start));
        }
        Change::PublishedFirst => {
            tenures.push(generator(0, asked_at + 1));
            retired(old);
        }
        Change::NeverRetired => tenures.push(generator(0, asked_at + 1)),
        Change::StartTooLow => {
            retired(old);
            // In the same tick, IDs of node 0 are smaller than IDs of node 1. The IDs therefore decrease if the old
            // generator, on node 1, has used this tick.
            tenures.push(generator(0, asked_at));
        }
    }
}

/// Takes IDs on two threads while the node changes. A thread that has seen an ID must get a larger ID.
fn rises(how: Change) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let tenures = Arc::new(Tenures::new());
        tenures.push(generator(1, 10));
        let last = Arc::new(AtomicU64::new(0));
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let (tenures, last) = (Arc::clone(&tenures), Arc::clone(&last));
                // Like a real handle, each thread looks up the generator once and keeps it until a call fails.
                thread::spawn(move || take(&tenures, &last))
            })
            .collect();
        change(&tenures, how);
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

fn take(tenures: &Tenures, last: &AtomicU64) {
    let at_hand = tenures.newest().unwrap();
    let seen = last.load(Ordering::Acquire);
    let id = at_hand.try_next_id().or_else(|_| tenures.newest().unwrap().try_next_id());
    if let Ok(id) = id {
        assert!(id.to_u64() > seen, "an ID fell back");
        last.fetch_max(id.to_u64(), Ordering::AcqRel);
    }
}

#[test]
fn ids_increase_when_a_lease_changes_its_node() {
    rises(Change::Real);
}

#[test]
#[should_panic(expected = "an ID fell back")]
fn loom_detects_a_generator_published_before_its_predecessor_retires() {
    rises(Change::PublishedFirst);
}

#[test]
#[should_panic(expected = "an ID fell back")]
fn loom_detects_a_generator_that_is_never_retired() {
    rises(Change::NeverRetired);
}

#[test]
#[should_panic(expected = "an ID fell back")]
fn loom_detects_a_generator_that_starts_too_low() {
    rises(Change::StartTooLow);
}

/// Lets two threads search for a suitable value concurrently, and checks that the missing value is added only once.
fn fits(look: fn(&Chain<u64>, &AtomicU64) -> bool) {
    loom::model(move || {
        let chain = Arc::new(Chain::new());
        chain.push(1);
        let made = Arc::new(AtomicU64::new(0));
        let looking: Vec<_> = (0..2)
            .map(|_| {
                let (chain, made) = (Arc::clone(&chain), Arc::clone(&made));
                thread::spawn(move || look(&chain, &made))
            })
            .collect();
        for thread in looking {
            assert!(thread.join().unwrap(), "the value that was found does not fit");
        }
        let values: Vec<u64> = chain.iter().copied().collect();
        assert_eq!(values, [2, 1], "more than one value was added");
        assert!(made.load(Ordering::Acquire) >= 1);
    });
}

#[test]
fn concurrent_lookups_add_a_missing_value_only_once() {
    fits(|chain, made| {
        let make = || {
            made.fetch_add(1, Ordering::AcqRel);
            Ok::<u64, ()>(2)
        };
        chain.newest_or_push(|value| *value == 2, make) == Ok(&2)
    });
}

#[test]
#[should_panic(expected = "more than one value was added")]
fn loom_detects_duplicate_values_if_lookup_and_push_are_separate_calls() {
    fits(|chain, made| {
        if chain.newest() != Some(&2) {
            made.fetch_add(1, Ordering::AcqRel);
            chain.push(2);
        }
        chain.newest() == Some(&2)
    });
}
