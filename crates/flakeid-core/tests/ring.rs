//! Tests of rings, which contain IDs generated in advance. The IDs of a ring are unique and increasing, and respect the
//! limits `max_age` and `max_ahead`.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use flakeid_core::{
    CachedGenerator, ErrorKind, Generator, Id, Layout, ManualClock, Overflow, RingOptions,
    Rollback, Window,
};

const START: u64 = 1_000_000;

/// Builds a generator with 4 IDs per one-millisecond tick, on a clock that stands still at tick `START`.
fn small(overflow: Overflow, max_ahead_ms: u64) -> (ManualClock, Generator) {
    let layout: Layout = "t41.n10.s2@1288834974657/1ms".parse().unwrap();
    let clock = ManualClock::new(layout.epoch() + START as i64);
    let generator = Generator::builder(layout)
        .node(3)
        .clock(clock.clone())
        .window(Window::new(START, START + 1_000_000).unwrap())
        .overflow(overflow)
        .max_ahead(Duration::from_millis(max_ahead_ms))
        .max_wait(Duration::from_millis(200))
        .build()
        .unwrap();
    (clock, generator)
}

fn tick(cached: &CachedGenerator, id: Id) -> u64 {
    cached.generator().layout().unpack(id).unwrap().tick
}

fn drain(cached: &CachedGenerator) -> Vec<Id> {
    std::iter::from_fn(|| cached.take().ok()).collect()
}

/// Waits until `holds` detects an effect of the background thread. If this takes longer than 10 s, panics with a
/// message that contains `what`, the name of the effect.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..5_000 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(2));
    }
    panic!("{what} did not happen within 10 s");
}

#[test]
fn ring_returns_distinct_increasing_ids_to_four_threads() {
    const EACH: usize = 100_000;
    let layout: Layout = "t41.n6.s16@1288834974657/1ms".parse().unwrap();
    let cached = CachedGenerator::new(&Generator::new(layout, 41).unwrap()).unwrap();
    let ids: Vec<Vec<Id>> = thread::scope(|scope| {
        let takers: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..EACH).map(|_| cached.next_id().unwrap()).collect()))
            .collect();
        takers.into_iter().map(|taker| taker.join().unwrap()).collect()
    });
    for ids in &ids {
        assert!(ids.is_sorted_by(|a, b| a < b), "IDs increase (I8)");
    }
    let distinct: HashSet<_> = ids.concat().into_iter().collect();
    assert_eq!(distinct.len(), 4 * EACH, "IDs are unique (I1)");
    assert_eq!(cached.stats().taken, 4 * EACH as u64);
}

#[test]
fn closed_ring_never_issues_its_remaining_ids() {
    let (_clock, generator) = small(Overflow::Borrow, 3);
    let cached = CachedGenerator::with(&generator, RingOptions::new().boost_power(5)).unwrap();
    let taken = cached.take().unwrap();
    assert_eq!(cached.stats().size, 15);
    cached.close();
    cached.close();
    assert_eq!(cached.take().unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(cached.next_id().unwrap_err().kind(), ErrorKind::Closed);
    let stats = cached.stats();
    assert_eq!((stats.taken, stats.size, stats.dropped_stale, stats.rejected_take), (1, 0, 0, 0));
    let next = cached.generator().try_next_id();
    assert!(next.is_err() || next.unwrap() > taken, "the generator continues above the ring's IDs");
}

/// Closes the ring in a handler that the ring's own thread calls. Closing must not wait for that thread.
#[test]
fn handler_for_rejected_puts_can_close_its_own_ring() {
    let (clock, generator) = small(Overflow::Wait, 0);
    let fence = START + 1_000_000;
    let ring = Arc::new(std::sync::OnceLock::<CachedGenerator>::new());
    let handle = Arc::downgrade(&ring);
    let options = RingOptions::new().on_rejected_put(move |_| {
        if let Some(ring) = handle.upgrade() {
            ring.get().unwrap().close();
        }
    });
    ring.set(CachedGenerator::with(&generator, options).unwrap()).unwrap();
    clock.set(clock_at(ring.get().unwrap(), fence + 1));
    let ring = ring.get().unwrap();
    eventually("the end", || ring.next_id().is_err_and(|e| e.kind() == ErrorKind::Closed));
}

fn clock_at(cached: &CachedGenerator, tick: u64) -> i64 {
    cached.generator().layout().epoch() + tick as i64
}

#[test]
fn next_id_on_empty_ring_waits_for_next_tick() {
    let layout: Layout = "t41.n10.s2@1288834974657/1ms".parse().unwrap();
    let cached = CachedGenerator::with(
        &Generator::new(layout, 42).unwrap(),
        RingOptions::new().boost_power(0),
    )
    .unwrap();
    assert_eq!(cached.capacity(), 4);
    let ids: Vec<Id> = (0..100).map(|_| cached.next_id().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
}

#[test]
fn ring_on_fixed_node_stays_within_the_current_tick() {
    let (clock, _) = small(Overflow::Wait, 0);
    let layout: Layout = "t41.n10.s2@1288834974657/1ms".parse().unwrap();
    let generator = Generator::builder(layout).node(3).clock(clock.clone()).build().unwrap();
    let cached = CachedGenerator::new(&generator).unwrap();
    let ids = drain(&cached);
    assert_eq!(ids.len(), 4);
    assert!(ids.iter().all(|id| tick(&cached, *id) == START));
    assert_eq!(cached.take().unwrap_err().kind(), ErrorKind::RingEmpty);
    assert_eq!(cached.take().unwrap_err().retry_after(), Some(Duration::from_millis(1)));
    clock.advance(Duration::from_millis(1));
    assert_eq!(tick(&cached, cached.next_id().unwrap()), START + 1, "no tick is skipped");
}

#[test]
fn ring_borrows_ticks_only_up_to_max_ahead() {
    let (_clock, generator) = small(Overflow::Borrow, 3);
    let cached = CachedGenerator::with(&generator, RingOptions::new().boost_power(5)).unwrap();
    assert_eq!(cached.capacity(), 128);
    let ids = drain(&cached);
    assert_eq!(ids.len(), 16, "this tick and three more");
    assert_eq!(tick(&cached, *ids.last().unwrap()), START + 3);
    let numbers: Vec<_> = ids.iter().map(|id| tick(&cached, *id)).collect();
    assert!(numbers.chunks(4).zip(START..).all(|(c, t)| c == [t; 4]), "no ID is skipped");
}

#[test]
fn ring_withholds_future_ids_until_the_clock_recovers() {
    let (clock, generator) = small(Overflow::Borrow, 3);
    let cached = CachedGenerator::with(&generator, RingOptions::new().boost_power(5)).unwrap();
    let start = generator_start(&cached);
    clock.set(start - 10);
    let error = cached.take().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ClockRollback);
    assert_eq!(error.retry_after(), Some(Duration::from_millis(7)));
    assert_eq!(cached.next_id().unwrap_err().kind(), ErrorKind::ClockRollback);
    clock.set(start - 3);
    assert_eq!(
        tick(&cached, cached.take().unwrap()),
        START,
        "the ID is neither dropped nor skipped"
    );
}

fn generator_start(cached: &CachedGenerator) -> i64 {
    cached.generator().layout().epoch() + START as i64
}

#[test]
fn ring_drops_ids_older_than_max_age() {
    let (clock, generator) = small(Overflow::Borrow, 31);
    let cached = CachedGenerator::with(
        &generator,
        RingOptions::new().boost_power(5).padding_factor(1).max_age(Duration::from_millis(20)),
    )
    .unwrap();
    assert_eq!(cached.stats().size, 128);
    let start = generator_start(&cached);
    clock.set(start + 20);
    assert_eq!(tick(&cached, cached.take().unwrap()), START, "the age equals `max_age`");
    clock.set(start + 25);
    assert_eq!(
        tick(&cached, cached.take().unwrap()),
        START + 5,
        "the first ID that is not too old"
    );
    let stats = cached.stats();
    assert_eq!((stats.taken, stats.dropped_stale), (2, 19));
    clock.set(start + 1_000);
    assert!(tick(&cached, cached.next_id().unwrap()) >= START + 980);
    assert_eq!(cached.stats().dropped_stale, 126);
}

#[test]
fn idle_ring_is_refreshed_after_each_refill_interval() {
    let (clock, generator) = small(Overflow::Borrow, 31);
    let cached = CachedGenerator::with(
        &generator,
        RingOptions::new()
            .boost_power(5)
            .max_age(Duration::from_millis(20))
            .refill_interval(Some(Duration::from_millis(5))),
    )
    .unwrap();
    clock.advance(Duration::from_secs(1));
    eventually("a refill", || {
        let stats = cached.stats();
        stats.refills >= 1 && stats.dropped_stale == 128 && stats.size == 128
    });
    assert_eq!(tick(&cached, cached.take().unwrap()), START + 1_000);
}

#[test]
fn ring_calls_its_handlers_for_rejected_puts_and_takes() {
    let (clock, generator) = small(Overflow::Wait, 0);
    let (puts, takes) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (put, take) = (Arc::clone(&puts), Arc::clone(&takes));
    let cached = CachedGenerator::with(
        &generator,
        RingOptions::new()
            .on_rejected_put(move |error| {
                assert_eq!(error.kind(), ErrorKind::LeaseExpired);
                put.fetch_add(1, Ordering::SeqCst);
            })
            .on_rejected_take(move |_| {
                take.fetch_add(1, Ordering::SeqCst);
            }),
    )
    .unwrap();
    assert_eq!(drain(&cached).len(), 4);
    assert_eq!(takes.load(Ordering::SeqCst), 1);
    clock.advance(Duration::from_secs(2_000));
    eventually("a rejected put", || puts.load(Ordering::SeqCst) > 0);
    assert_eq!(cached.next_id().unwrap_err().kind(), ErrorKind::LeaseExpired);
    assert_eq!(takes.load(Ordering::SeqCst), 2);
    let stats = cached.stats();
    assert!(stats.rejected_put >= 1);
    assert_eq!((stats.rejected_take, stats.taken), (2, 4));
    cached.generator().extend(START + 3_000_000).unwrap();
    assert_eq!(tick(&cached, cached.next_id().unwrap()), START + 2_000_000);
}

#[test]
fn polling_an_empty_ring_does_not_count_as_a_rejected_take() {
    let (_clock, generator) = small(Overflow::Error, 0);
    let refused = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&refused);
    let options = RingOptions::new().on_rejected_take(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let cached = CachedGenerator::with(&generator, options).unwrap();
    let ids: Vec<_> = std::iter::from_fn(|| cached.poll()).collect();
    assert_eq!(ids.len(), 4, "the IDs of the tick");
    assert_eq!(cached.poll(), None);
    assert_eq!((cached.stats().rejected_take, refused.load(Ordering::Relaxed)), (0, 0));
    assert_eq!(cached.take().unwrap_err().kind(), ErrorKind::RingEmpty);
    assert_eq!((cached.stats().rejected_take, refused.load(Ordering::Relaxed)), (1, 1));
}

#[test]
fn ring_keeps_refilling_after_a_handler_panics() {
    let (clock, generator) = small(Overflow::Wait, 0);
    let cached = CachedGenerator::with(
        &generator,
        RingOptions::new().on_rejected_put(|error| panic!("on purpose: {error}")),
    )
    .unwrap();
    drain(&cached);
    clock.advance(Duration::from_secs(2_000));
    eventually("a rejected put", || cached.stats().rejected_put >= 1);
    cached.generator().extend(START + 3_000_000).unwrap();
    // The timeout is long, because printing a panic message is slow.
    let id = cached.next_id_within(Duration::from_secs(20)).unwrap();
    assert_eq!(tick(&cached, id), START + 2_000_000);
}

/// Checks that a window with fewer IDs than the ring's capacity fills only a part of the ring.
#[test]
fn ring_remains_partly_empty_if_its_window_is_short() {
    let layout: Layout = "t41.n10.s2@1288834974657/1ms".parse().unwrap();
    let generator = Generator::builder(layout)
        .node(3)
        .clock(ManualClock::new(layout.epoch() + START as i64))
        .window(Window::new(START, START + 3).unwrap())
        .overflow(Overflow::Borrow)
        .build()
        .unwrap();
    let cached = CachedGenerator::new(&generator).unwrap();
    assert_eq!(drain(&cached).len(), 12);
    cached.generator().extend(START + 4).unwrap();
    assert_eq!(tick(&cached, cached.next_id().unwrap()), START + 3);
}

#[test]
fn ring_issues_no_id_after_its_generator_retires() {
    let (_clock, generator) = small(Overflow::Borrow, 31);
    let cached = CachedGenerator::new(&generator).unwrap();
    cached.take().unwrap();
    assert_eq!(cached.generator().retire().unwrap(), Some(START + 7));
    assert!(cached.stats().size > 0);
    assert_eq!(cached.take().unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(cached.next_id().unwrap_err().kind(), ErrorKind::Closed);
}

#[test]
fn dropping_the_ring_ends_its_thread() {
    let (_clock, generator) = small(Overflow::Wait, 0);
    let held = Arc::new(());
    let witness = Arc::clone(&held);
    let cached = CachedGenerator::with(
        &generator,
        RingOptions::new().on_rejected_put(move |_| assert!(Arc::strong_count(&witness) > 0)),
    )
    .unwrap();
    assert_eq!(Arc::strong_count(&held), 2);
    drop(cached);
    // The thread shares ownership of the handlers, so the handlers are freed only after the thread has ended.
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn ring_of_two_slots_returns_increasing_ids() {
    let layout: Layout = "t41.n10.s1@1288834974657/1ms".parse().unwrap();
    let generator = Generator::new(layout, 5).unwrap();
    let cached = CachedGenerator::with(&generator, RingOptions::new().boost_power(0)).unwrap();
    assert_eq!(cached.capacity(), 2);
    let ids: Vec<Id> = (0..20).map(|_| cached.next_id().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
}

#[test]
fn ring_returns_increasing_ids_with_one_second_ticks() {
    let generator = Generator::new(Layout::BAIDU_29, 6).unwrap();
    let cached = CachedGenerator::new(&generator).unwrap();
    assert_eq!(cached.capacity(), 8 << 13);
    let ids: Vec<Id> = (0..8192).map(|_| cached.next_id().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
}

#[test]
fn ring_rejects_out_of_range_and_incompatible_options() {
    let build = |set: fn(RingOptions) -> RingOptions| {
        let (_clock, generator) = small(Overflow::Wait, 0);
        CachedGenerator::with(&generator, set(RingOptions::new())).unwrap_err()
    };
    let error = build(|ring| ring.boost_power(21));
    assert_eq!((error.kind(), error.field()), (ErrorKind::FieldOutOfRange, Some("boost_power")));
    for percent in [0, 100] {
        let error = match percent {
            0 => build(|ring| ring.padding_factor(0)),
            _ => build(|ring| ring.padding_factor(100)),
        };
        assert_eq!(error.field(), Some("padding_factor"));
    }
    let error = build(|ring| ring.max_age(Duration::from_millis(1)));
    assert_eq!(error.kind(), ErrorKind::InvalidOption);
    let error = build(|ring| ring.refill_interval(Some(Duration::ZERO)));
    assert_eq!(error.kind(), ErrorKind::InvalidOption);
    let layout: Layout = "t41.n6.c2.s4@1288834974657/1ms".parse().unwrap();
    let generator = Generator::builder(layout)
        .node(1)
        .clock(ManualClock::new(layout.epoch() + 5))
        .rollback(Rollback::ClockSequence)
        .build()
        .unwrap();
    let error = CachedGenerator::new(&generator).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOption);
}
