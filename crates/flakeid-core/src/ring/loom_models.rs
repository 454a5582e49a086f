//! Loom models of the ring: every interleaving of a few calls, and the same models for twins with one flaw each, which
//! loom must refute.

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

/// Two threads take `each` IDs, while a third puts up to `then` IDs after `first` were put. Checks that the IDs of a taker
/// increase, that only IDs that were put are taken, that no ID is taken twice, and that the other IDs are still in the
/// ring.
///
/// The takers are spawned first and therefore run first, because loom records only one access to each word and would
/// otherwise never let the producer see a moved cursor. The model's own thread only waits, so that starting with any of
/// the others does not count as a preemption.
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
    // Bounded, because a twin may loop forever.
    ids.extend((0..=CAPACITY + 1).map_while(|_| subject.take()));
    ids.sort_unstable();
    assert_eq!(ids, (1..=put).collect::<Vec<_>>(), "wrong: not each ID once");
}

#[test]
fn concurrent_takes_get_distinct_ids() {
    model(|| takers_and_producer(real(), 2, [1, 1], 0));
}

#[test]
#[should_panic(expected = "wrong")]
fn take_with_a_plain_store_is_refuted() {
    model(|| takers_and_producer(Twin::new(Flaw::PlainStore), 2, [1, 1], 0));
}

#[test]
fn concurrent_take_and_fill_lose_no_id() {
    model(|| takers_and_producer(real(), 0, [1, 1], 2));
}

#[test]
#[should_panic(expected = "wrong")]
fn tail_published_before_the_slots_is_refuted() {
    model(|| takers_and_producer(Twin::new(Flaw::EarlyTail), 0, [1, 1], 2));
}

#[test]
fn takes_at_the_empty_boundary_get_distinct_ids() {
    model(|| takers_and_producer(real(), 1, [1, 1], 2));
}

#[test]
#[should_panic(expected = "wrong")]
fn empty_check_apart_from_the_take_is_refuted() {
    model(|| takers_and_producer(Twin::new(Flaw::CheckedApart), 1, [1, 1], 2));
}

#[test]
fn takes_at_the_full_boundary_get_distinct_ids() {
    model(|| takers_and_producer(real(), 2, [1, 1], 3));
}

#[test]
#[should_panic(expected = "wrong")]
fn overfull_ring_is_refuted() {
    model(|| takers_and_producer(Twin::new(Flaw::Overfull), 2, [1, 1], 3));
}

#[test]
#[should_panic(expected = "wrong")]
fn slot_read_after_the_cursor_moved_is_refuted() {
    model(|| takers_and_producer(Twin::new(Flaw::LateRead), 2, [1, 0], 3));
}

#[test]
fn takes_across_a_lap_get_distinct_ids() {
    model(|| takers_and_producer(real(), 2, [2, 1], 4));
}

#[test]
#[should_panic(expected = "wrong")]
fn wrapping_cursor_is_refuted() {
    model(|| takers_and_producer(Twin::new(Flaw::Lapping), 2, [2, 1], 2));
}

/// One thread drops IDs up to 1 while another takes and a third puts. Checks that 2 and 3 are not lost. The order of the
/// first two threads determines which interleavings loom tries.
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
fn take_during_skip_and_fill_loses_no_id() {
    model(|| skip_against_take(real(), false));
}

#[test]
fn skip_during_take_and_fill_loses_no_id() {
    model(|| skip_against_take(real(), true));
}

#[test]
#[should_panic(expected = "wrong")]
fn take_during_a_blind_skip_is_refuted() {
    model(|| skip_against_take(Twin::new(Flaw::BlindSkip), false));
}

#[test]
#[should_panic(expected = "wrong")]
fn blind_skip_is_refuted() {
    model(|| skip_against_take(Twin::new(Flaw::BlindSkip), true));
}

/// The limit becomes 0 while a thread takes from a full ring.
fn take_against_retire(looks: bool) {
    let layout = Layout::builder().time(8).sequence(2).build_const();
    let generator = Generator::builder(layout)
        .clock(ManualClock::new(11))
        .window(Window::new(10, 12).unwrap())
        .build()
        .unwrap();
    let (stock, mut producer) = Stock::new(generator.into(), 4, Duration::from_secs(1));
    assert_eq!(stock.put(&mut producer).unwrap(), 4);
    let stock = Arc::new(stock);
    let ended = Arc::new(AtomicU64::new(0));
    let retirer = {
        let (stock, ended) = (Arc::clone(&stock), Arc::clone(&ended));
        thread::spawn(move || {
            let last = stock.generator.retire().unwrap();
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
            assert!(!over, "wrong: issued after it was retired");
            ids.push(id);
        }
    }
    let bound = retirer.join().unwrap();
    assert!(ids.iter().all(|id| *id < bound), "wrong: beyond what was reported");
    assert!(stock.put(&mut producer).is_err() || stock.buffer.len() == 4, "wrong: refilled");
}

#[test]
fn ring_issues_no_id_after_its_generator_retires() {
    model(|| take_against_retire(true));
}

#[test]
#[should_panic(expected = "wrong")]
fn take_that_skips_the_limit_is_refuted() {
    model(|| take_against_retire(false));
}
