//! Tests of local handles and the coarse clock: IDs are unique, increasing, and never ahead of the clock.

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::thread;

use flakeid_core::{
    Clock, CoarseClock, ErrorKind, Generator, Id, Layout, ManualClock, SystemClock, Window,
};

fn assert_distinct(ids: &[Id]) {
    let distinct: HashSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "IDs are unique (I1)");
}

#[test]
fn local_handles_and_their_generator_issue_distinct_ids() {
    let generator = Generator::new(Layout::TWITTER, 901).unwrap();
    let ids: Vec<Vec<Id>> = thread::scope(|scope| {
        let handles: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut local = generator.local();
                    (0..30_000).map(|_| local.next_id().unwrap()).collect::<Vec<_>>()
                })
            })
            .collect();
        let strict = (0..10_000).map(|_| generator.next_id().unwrap()).collect();
        let mut all: Vec<_> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
        all.push(strict);
        all
    });
    for ids in &ids {
        assert!(ids.is_sorted_by(|a, b| a < b), "the IDs of one handle must increase");
    }
    assert_distinct(&ids.concat());
}

#[test]
fn local_handle_ids_are_never_ahead_of_the_clock() {
    let generator = Generator::new(Layout::TWITTER, 902).unwrap();
    let mut local = generator.local();
    for _ in 0..50_000 {
        let id = local.next_id().unwrap();
        let now = SystemClock.unix_ms();
        assert!(Layout::TWITTER.unpack(id).unwrap().unix_ms <= now);
    }
}

#[test]
fn local_handle_discards_its_chunk_when_the_clock_advances() {
    let clock = ManualClock::new(Layout::TWITTER.epoch() + 1_000);
    let generator =
        Generator::builder(Layout::TWITTER).node(1).clock(clock.clone()).build().unwrap();
    let mut local = generator.local();
    let first = Layout::TWITTER.unpack(local.next_id().unwrap()).unwrap();
    assert_eq!((first.tick, first.sequence), (1_000, 0));
    let second = Layout::TWITTER.unpack(local.next_id().unwrap()).unwrap();
    assert_eq!((second.tick, second.sequence), (1_000, 1));
    // The generator's next ID follows the chunk of positions that the local handle reserved.
    let strict = Layout::TWITTER.unpack(generator.next_id().unwrap()).unwrap();
    assert_eq!((strict.tick, strict.sequence), (1_000, 256));
    clock.set(Layout::TWITTER.epoch() + 1_001);
    let third = Layout::TWITTER.unpack(local.next_id().unwrap()).unwrap();
    assert_eq!((third.tick, third.sequence), (1_001, 0), "the rest of the chunk is not used");
}

#[test]
fn local_handle_returns_closed_error_after_its_generator_retires() {
    let clock = ManualClock::new(Layout::TWITTER.epoch() + 1_000);
    let generator = Generator::builder(Layout::TWITTER)
        .node(1)
        .clock(clock)
        .window(Window::new(1_000, 1_010).unwrap())
        .build()
        .unwrap();
    let mut local = generator.local();
    local.next_id().unwrap();
    assert_eq!(generator.retire().unwrap(), Some(1_000));
    assert_eq!(local.next_id().unwrap_err().kind(), ErrorKind::Closed);
}

#[test]
fn local_handle_issues_increasing_ids_with_few_sequence_bits() {
    let layout: Layout = "t41.n10.s2@1288834974657/1ms".parse().unwrap();
    let generator = Generator::new(layout, 3).unwrap();
    let mut local = generator.local();
    let ids: Vec<_> = (0..50).map(|_| local.next_id().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
}

#[test]
fn generators_on_coarse_and_exact_clocks_issue_increasing_ids() {
    let (coarse, exact) = (CoarseClock.unix_ms(), SystemClock.unix_ms());
    assert!(coarse <= exact, "the coarse clock is never ahead: {coarse} > {exact}");
    let on_coarse =
        Generator::builder(Layout::TWITTER).node(903).clock(CoarseClock).build().unwrap();
    let on_exact = Generator::new(Layout::TWITTER, 903).unwrap();
    let mut ids = Vec::new();
    for _ in 0..20_000 {
        ids.push(on_coarse.next_id().unwrap());
        ids.push(on_exact.next_id().unwrap());
    }
    assert!(ids.is_sorted_by(|a, b| a < b), "both generators share one position");
    assert_eq!(on_exact.stats().rollbacks, 0, "a late reading does not count as a rollback");
}

#[test]
fn poll_and_try_next_id_of_a_local_handle_never_wait() {
    let clock = ManualClock::new(Layout::TWITTER.epoch() + 1_000);
    let generator = Generator::builder(Layout::TWITTER)
        .node(1)
        .clock(clock.clone())
        .sequence_mask(31)
        .build()
        .unwrap();
    let mut local = generator.local();
    assert_eq!(local.poll(), None, "no chunk is reserved yet");
    // Each chunk contains one sixteenth of the tick's positions, which is two positions in this test.
    let first = local.try_next_id().unwrap();
    let second = local.poll().unwrap();
    assert!(first < second);
    assert_eq!(local.poll(), None, "the chunk is used up");
    let mut ids = vec![first, second];
    while let Ok(id) = local.try_next_id() {
        ids.push(id);
    }
    assert_eq!(ids.len(), 32, "the IDs of the tick");
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert_eq!(local.try_next_id().unwrap_err().kind(), ErrorKind::SequenceExhausted);
    assert_eq!(clock.unix_ms(), Layout::TWITTER.epoch() + 1_000, "no call waited");
    let third = local.next_id().unwrap();
    assert_eq!(Layout::TWITTER.unpack(third).unwrap().tick, 1_001);
    local.next_id().unwrap();
    local.next_id().unwrap();
    clock.set(Layout::TWITTER.epoch() + 1_002);
    assert_eq!(local.poll(), None, "the chunk ended with its clock reading");
}

#[test]
fn local_handle_uses_all_nodes_of_its_generator() {
    for layout in [Layout::TWITTER, "t41.s12.n10@1288834974657/1ms".parse().unwrap()] {
        let make = || {
            let clock = ManualClock::new(layout.epoch() + 1_000);
            Generator::builder(layout).nodes(&[3, 1, 7, 5]).clock(clock).build().unwrap()
        };
        let mut twin = make().next_ids(4 * 4096).unwrap();
        let generator = make();
        let mut local = generator.local();
        let ids: Vec<_> = (0..twin.len()).map(|_| local.next_id().unwrap()).collect();
        assert_eq!(ids, twin);
        assert_distinct(&ids);
        twin.dedup_by_key(|id| layout.unpack(*id).unwrap().node);
        assert!(twin.len() >= 4, "the IDs use all nodes");
    }
}
