//! Loom models of the ring, which explore the interleavings of a few calls with at most three preemptions. The models
//! also run on copies of the ring. Each copy has one deliberate bug, which loom must detect.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use super::buffer::{Buffer, Producer};
use super::loom_twin::{CAPACITY, Flaw, Subject, Twin};
use super::stock::Stock;
use crate::{Generator, Layout, ManualClock, Window};

fn model(check: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(check);
}

impl Subject for Buffer {
    type Producer = (Producer, u64);

    fn take(&self) -> Option<u64> {
        loop {
            let front = self.front()?;
            if Buffer::take(self, &front) {
                return Some(front.id);
            }
        }
    }

    fn skip(&self, bound: u64) {
        if let Some(front) = self.front() {
            let _too_late = Buffer::skip(self, &front, |id| id <= bound);
        }
    }

    fn put(&self, (producer, put): &mut Self::Producer, last: u64) -> u64 {
        let end = last.min(*put + producer.room(self));
        let ids: Vec<u64> = (*put + 1..=end).collect();
        producer.put(self, ids.into_iter());
        *put = end;
        end
    }
}

fn real() -> (Buffer, (Producer, u64)) {
    let (buffer, producer) = Buffer::new(CAPACITY);
    (buffer, (producer, 0))
}

/// Checks that each taker gets increasing IDs, that no two takes return the same ID, and that the ring loses no ID.
/// Before the takers start, the ring contains the IDs up to `first`. Two takers then take `each[0]` and `each[1]` IDs,
/// while a third thread puts the IDs up to `then` into the ring.
///
/// The takers are spawned first, so that they run first. Loom records only one access to each integer, so the producer
/// would otherwise never see a moved cursor. The main thread of the model only waits, so that the start of another
/// thread does not count as a preemption.
fn takers_and_producer<S: Subject>(
    (subject, mut producer): (S, S::Producer),
    first: u64,
    each: [usize; 2],
    then: u64,
) {
    let mut put = subject.put(&mut producer, first);
    let subject = Arc::new(subject);
    let take = |count: usize| {
        let subject = Arc::clone(&subject);
        move || {
            let ids: Vec<u64> = (0..count).filter_map(|_| subject.take()).collect();
            assert!(ids.is_sorted_by(|a, b| a < b), "wrong: out of order {ids:?}");
            ids
        }
    };
    let takers: Vec<_> =
        each.into_iter().filter(|n| *n > 0).map(|n| thread::spawn(take(n))).collect();
    let putter = (then > first).then(|| {
        let subject = Arc::clone(&subject);
        thread::spawn(move || subject.put(&mut producer, then))
    });
    let mut ids: Vec<u64> = takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect();
    if let Some(putter) = putter {
        put = putter.join().unwrap();
    }
    // The number of takes is bounded, because a faulty copy of the ring may return IDs forever.
    ids.extend((0..=CAPACITY + 1).map_while(|_| subject.take()));
    ids.sort_unstable();
    assert_eq!(ids, (1..=put).collect::<Vec<_>>(), "wrong: not each ID once");
}

#[test]
fn concurrent_takers_get_distinct_ids_from_a_ring() {
    model(|| takers_and_producer(real(), 2, [1, 1], 0));
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_a_ring_cursor_moved_with_plain_stores() {
    model(|| takers_and_producer(Twin::new(Flaw::PlainStore), 2, [1, 1], 0));
}

#[test]
fn ring_loses_no_id_during_concurrent_takes_and_refills() {
    model(|| takers_and_producer(real(), 0, [1, 1], 2));
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_a_tail_published_before_slots_are_written() {
    model(|| takers_and_producer(Twin::new(Flaw::EarlyTail), 0, [1, 1], 2));
}

#[test]
fn concurrent_takers_never_share_the_last_ring_id() {
    model(|| takers_and_producer(real(), 1, [1, 1], 2));
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_an_emptiness_check_separate_from_the_take() {
    model(|| takers_and_producer(Twin::new(Flaw::CheckedApart), 1, [1, 1], 2));
}

#[test]
fn concurrent_takers_get_distinct_ids_from_a_full_ring() {
    model(|| takers_and_producer(real(), 2, [1, 1], 3));
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_an_overfull_ring() {
    model(|| takers_and_producer(Twin::new(Flaw::Overfull), 2, [1, 1], 3));
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_a_slot_read_after_the_cursor_moved() {
    model(|| takers_and_producer(Twin::new(Flaw::LateRead), 2, [1, 0], 3));
}

#[test]
fn concurrent_takers_get_distinct_ids_when_the_ring_wraps() {
    model(|| takers_and_producer(real(), 2, [2, 1], 4));
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_a_cursor_reset_after_every_lap() {
    model(|| takers_and_producer(Twin::new(Flaw::Lapping), 2, [2, 1], 2));
}

/// Checks that IDs 2 and 3 are not lost while three threads use the ring. One thread drops ID 1, another thread takes
/// an ID, and the third thread puts ID 3 into the ring. The start order of the first two threads determines which
/// interleavings loom explores.
fn skip_against_take<S: Subject>((subject, mut producer): (S, S::Producer), skips_first: bool) {
    subject.put(&mut producer, 2);
    let subject = Arc::new(subject);
    let run = |skips: bool| {
        let subject = Arc::clone(&subject);
        move || {
            if skips {
                subject.skip(1);
                None
            } else {
                subject.take()
            }
        }
    };
    let runners = [skips_first, !skips_first].map(|skips| thread::spawn(run(skips)));
    let putter = {
        let subject = Arc::clone(&subject);
        thread::spawn(move || subject.put(&mut producer, 3))
    };
    let mut ids: Vec<u64> =
        runners.into_iter().filter_map(|runner| runner.join().unwrap()).collect();
    let put = putter.join().unwrap();
    ids.extend((0..=CAPACITY + 1).map_while(|_| subject.take()));
    ids.sort_unstable();
    ids.retain(|id| *id != 1);
    assert_eq!(ids, (2..=put).collect::<Vec<_>>(), "wrong: not each ID once");
}

#[test]
fn ring_loses_no_id_when_take_races_with_skip_and_refill() {
    model(|| skip_against_take(real(), false));
}

#[test]
fn ring_loses_no_id_when_skip_races_with_take_and_refill() {
    model(|| skip_against_take(real(), true));
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_an_id_taken_during_a_skip_that_does_not_check_for_takes() {
    model(|| skip_against_take(Twin::new(Flaw::BlindSkip), false));
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_an_unchecked_skip_during_a_take() {
    model(|| skip_against_take(Twin::new(Flaw::BlindSkip), true));
}

/// Checks that a full ring issues no more IDs after another thread has retired the ring's generator. The taker checks
/// the generator's limit only if `looks` is true.
fn take_against_retire(looks: bool) {
    let layout = Layout::builder().time(8).sequence(2).build_const();
    let tenure = Generator::builder(layout)
        .clock(ManualClock::new(11))
        .window(Window::new(10, 12).unwrap())
        .build_tenure()
        .unwrap();
    let (stock, mut producer) =
        Stock::new(alloc::sync::Arc::new(tenure), 4, Duration::from_secs(1));
    assert_eq!(stock.put(&mut producer).unwrap(), 4);
    let stock = Arc::new(stock);
    let ended = Arc::new(AtomicU64::new(0));
    let retirer = {
        let (stock, ended) = (Arc::clone(&stock), Arc::clone(&ended));
        thread::spawn(move || {
            let last = stock.tenure.retire().unwrap();
            ended.store(1, Ordering::Release);
            last.map_or(0, |tick| (tick + 1) << 2)
        })
    };
    let mut ids = Vec::new();
    for _ in 0..2 {
        let over = ended.load(Ordering::Acquire) == 1;
        let id = if looks {
            stock.take().ok().map(|taken| taken.id.to_u64())
        } else {
            stock.take_unchecked()
        };
        if let Some(id) = id {
            assert!(!over, "wrong: an ID was issued after the generator was retired");
            ids.push(id);
        }
    }
    let bound = retirer.join().unwrap();
    assert!(ids.iter().all(|id| *id < bound), "wrong: an ID is at or above the reported bound");
    assert!(stock.put(&mut producer).is_err() || stock.buffer.len() == 4, "wrong: refilled");
}

#[test]
fn ring_issues_no_id_after_its_generator_is_retired_concurrently() {
    model(|| take_against_retire(true));
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_a_ring_that_ignores_the_generators_limit() {
    model(|| take_against_retire(false));
}
