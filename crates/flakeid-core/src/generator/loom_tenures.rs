//! Loom models of a leased generator that changes its node, or is closed, while other threads take IDs. Loom explores
//! every interleaving of operations on the real list, the real tenures and the real generator. Some variants of the
//! models contain one deliberate bug each, which loom must find.

use alloc::vec::Vec;
use core::ptr;
use core::time::Duration;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use loom::thread;

use super::home::adopt;
use super::{Generator, Tenure, TenureSource, Window};
use crate::chain::Chain;
use crate::{Error, ErrorKind, Layout, ManualClock};

/// A source whose grants the model makes itself.
struct Source(Chain<alloc::sync::Arc<Tenure>>);

impl Source {
    fn push(&self, tenure: Tenure) {
        self.0.push(alloc::sync::Arc::new(tenure));
    }
}

impl TenureSource for Source {
    fn newest(&self) -> Option<&alloc::sync::Arc<Tenure>> {
        self.0.newest()
    }

    fn has_node(&self) -> bool {
        true
    }

    fn gains(&self) -> Result<u64, Error> {
        Ok(0)
    }

    fn gain(&self, _since: u64, kind: ErrorKind, _timeout: Duration) -> Result<(), Error> {
        Err(Error::new(kind, "no grant", None))
    }

    fn pause(&self, _waited: Duration, _max_wait: Duration) -> Option<Duration> {
        None
    }

    fn leave(&self, _has_left: bool) {}
}

/// Returns the layout `t8.n1.s1`, in which the node is between the tick and the sequence.
fn layout() -> Layout {
    Layout::builder().time(8).node(1).sequence(1).build_const()
}

fn tenure(node: u64, start: u64) -> Tenure {
    Generator::builder(layout())
        .node(node)
        .clock(ManualClock::new(11))
        .window(Window::new(start, start + 2).unwrap())
        .build_tenure()
        .unwrap()
}

#[derive(Clone, Copy, PartialEq)]
enum Change {
    /// The old tenure is retired before the new tenure is published, as in the keeper.
    Real,
    /// The new tenure is published before the old tenure is retired.
    PublishedFirst,
    /// The old tenure is never retired.
    NeverRetired,
    /// The new tenure starts at the position that the old tenure had when the node was requested.
    StartTooLow,
}

fn change(tenures: &Source, how: Change) {
    let old = tenures.0.newest().unwrap();
    let asked_at = old.next_tick().unwrap_or(10);
    let retired = |old: &Tenure| old.retire().unwrap().map_or(10, |last| last + 1);
    match how {
        Change::Real => {
            let start = retired(old);
            tenures.push(tenure(1, start));
        }
        Change::PublishedFirst => {
            tenures.push(tenure(0, asked_at + 1));
            retired(old);
        }
        Change::NeverRetired => tenures.push(tenure(0, asked_at + 1)),
        Change::StartTooLow => {
            retired(old);
            // In the same tick, IDs of node 0 are smaller than IDs of node 1. The IDs therefore decrease if the old
            // tenure, on node 1, has used this tick.
            tenures.push(tenure(0, asked_at));
        }
    }
}

/// Takes IDs on two threads while the node changes. A thread that has seen an ID must get a larger ID.
fn rises(how: Change) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let tenures = alloc::sync::Arc::new(Source(Chain::default()));
        tenures.push(tenure(1, 10));
        let first = alloc::sync::Arc::clone(tenures.newest().unwrap());
        let generator = Generator::leased(first, tenures.clone());
        let last = Arc::new(AtomicU64::new(0));
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let (generator, last) = (generator.clone(), Arc::clone(&last));
                thread::spawn(move || take(&generator, &last))
            })
            .collect();
        change(&tenures, how);
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

fn take(generator: &Generator, last: &AtomicU64) {
    // Like a local handle or a ring, each thread begins with the newest tenure.
    generator.newest().unwrap();
    let seen = last.load(Ordering::Acquire);
    if let Ok(id) = generator.try_next_id() {
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
fn loom_detects_a_tenure_published_before_its_predecessor_retires() {
    rises(Change::PublishedFirst);
}

#[test]
#[should_panic(expected = "an ID fell back")]
fn loom_detects_a_tenure_that_is_never_retired() {
    rises(Change::NeverRetired);
}

#[test]
#[should_panic(expected = "an ID fell back")]
fn loom_detects_a_tenure_that_starts_too_low() {
    rises(Change::StartTooLow);
}

/// Closes a generator while another thread adopts a newer tenure. `adopt` changes the generator's pointer.
fn close_against_adopt(adopt: fn(&AtomicPtr<u64>, *mut u64) -> bool) {
    loom::model(move || {
        let (mut old, mut new) = (1, 2);
        let (old, new) = (&raw mut old, &raw mut new);
        let current = Arc::new(AtomicPtr::new(old));
        let closer = {
            let current = Arc::clone(&current);
            thread::spawn(move || current.swap(ptr::null_mut(), Ordering::AcqRel))
        };
        let adopted = adopt(&current, new);
        let closed_at = closer.join().unwrap();
        assert!(
            current.load(Ordering::Acquire).is_null(),
            "wrong: a closed generator was opened again"
        );
        assert_eq!(adopted, closed_at == new, "wrong: not the result of the exchange");
    });
}

#[test]
fn closed_generator_adopts_no_tenure() {
    close_against_adopt(adopt);
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_a_tenure_adopted_with_a_plain_store() {
    close_against_adopt(|current, newest| {
        if current.load(Ordering::Acquire).is_null() {
            return false;
        }
        current.store(newest, Ordering::Release);
        true
    });
}

/// Lets two threads search for a suitable value concurrently, and checks that the missing value is added only once.
fn fits(look: fn(&Chain<u64>, &AtomicU64) -> bool) {
    loom::model(move || {
        let chain = Arc::new(Chain::default());
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
