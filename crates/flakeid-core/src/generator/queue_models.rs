//! Loom models of the queue, which explore the interleavings of a few calls. Loom's condition variables have no
//! spurious wake-ups, so a missing notification causes a deadlock. The models also run on copies of the queue that omit
//! a notification. Loom must detect this bug in each copy.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use loom::thread;

use super::obstacle::Obstacle;
use super::queue::{Flaw, Queue, Supply};
use super::shape::Run;
use crate::Error;
use crate::sync::{AtomicU64, Ordering};

/// A supply in which each tick has two positions. The first tick is used up, and the next tick begins when a call
/// sleeps.
struct Ticks {
    next: AtomicU64,
    end: AtomicU64,
    /// The exclusive end of all positions. A call that reaches this end fails, because waiting does not help.
    last: u64,
}

impl Ticks {
    fn until(last: u64) -> Self {
        Self { next: AtomicU64::new(2), end: AtomicU64::new(2), last }
    }
}

impl Supply for Ticks {
    fn attempt(&self, wanted: u64) -> Result<Run, Obstacle> {
        // Relaxed loads suffice, because a call makes an attempt only while it holds the queue's lock.
        let (first, end) = (self.next.load(Ordering::Relaxed), self.end.load(Ordering::Relaxed));
        if first == self.last {
            return Err(Error::closed().into());
        }
        let count = wanted.min(end - first);
        if count == 0 {
            return Err(Obstacle {
                error: Error::sequence_exhausted(Duration::ZERO),
                until: Some(0),
            });
        }
        self.next.store(first + count, Ordering::Relaxed);
        Ok(Run { first, count, clock_sequence: 0 })
    }

    fn sleep(&self, _until: i64, _at_most: Duration, _exact: bool) {
        self.end.fetch_add(2, Ordering::Relaxed);
    }
}

/// Runs three calls in three threads. Two calls request the numbers of positions in `wanted`, and the third call
/// requests `mine` positions. The supply ends at the position `last`. Returns the ranges that the calls received.
fn calls(queue: Queue, last: u64, wanted: [u64; 2], mine: u64) -> Vec<Run> {
    let shared = Arc::new((queue, Ticks::until(last)));
    let threads = wanted.map(|wanted| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || shared.0.take(&shared.1, wanted, Duration::MAX).ok())
    });
    let mine = shared.0.take(&shared.1, mine, Duration::MAX).ok();
    let others = threads.map(|thread| thread.join().unwrap());
    assert!(!shared.0.is_waiting());
    others.into_iter().chain([mine]).flatten().collect()
}

fn model(check: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(check);
}

fn assert_apart(mut runs: Vec<Run>) {
    runs.sort_by_key(|run| run.first);
    assert!(runs.windows(2).all(|pair| pair[0].end() <= pair[1].first), "{runs:?}");
}

#[test]
fn loom_finds_no_unserved_call_in_the_queue() {
    model(|| {
        let runs = calls(Queue::new(), u64::MAX, [1, 2], 1);
        assert_eq!(runs.len(), 3);
        assert_apart(runs);
    });
}

#[test]
fn loom_finds_no_stuck_call_after_the_last_id_is_taken() {
    model(|| assert_apart(calls(Queue::new(), 4, [1, 2], 2)));
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_detects_a_queue_that_never_notifies_waiting_calls() {
    model(|| assert_apart(calls(Queue::with_flaw(Flaw::NotifiesNoCall), u64::MAX, [1, 2], 1)));
}

/// Runs three calls while this thread serves the waiting calls, possibly during the leader's sleep. One tick has too
/// few positions for the three calls.
fn served_by_another(queue: Queue) {
    let shared = Arc::new((queue, Ticks::until(u64::MAX)));
    let threads = [(); 3].map(|()| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || shared.0.take(&shared.1, 1, Duration::MAX).ok())
    });
    shared.0.serve(&shared.1);
    let runs: Vec<Run> = threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect();
    assert_eq!(runs.len(), 3);
    assert!(!shared.0.is_waiting());
    assert_apart(runs);
}

#[test]
fn loom_finds_no_unserved_call_when_another_thread_helps() {
    model(|| served_by_another(Queue::new()));
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_detects_a_queue_leader_that_appoints_no_successor() {
    model(|| served_by_another(Queue::with_flaw(Flaw::LeavesNoSuccessor)));
}
