//! Loom models of the generator, which explore the interleavings of a few calls. The same models also run on copies of
//! the generator, each with one deliberate bug. Loom must find each bug, because a model that accepts a faulty copy
//! would prove nothing.
//!
//! The command to run the models is `RUSTFLAGS="--cfg loom" cargo test -p flakeid-core --lib loom`.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use super::cell::Cell;
use super::local::Chunk;
use super::loom_twin::{Flaw, Subject, Twin};
use super::registry::Registry;
use super::{Generator, Rollback, Tenure, Window, fill_by};
use crate::{Id, Layout, ManualClock};

pub(super) fn model(check: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    // The bound is three preemptions. According to loom's authors, two or three preemptions reveal nearly every bug.
    builder.preemption_bound = Some(3);
    builder.check(check);
}

/// Returns the layout of the models, `t8.s1`, in which an ID equals its position.
pub(super) fn layout() -> Layout {
    Layout::builder().time(8).sequence(1).build_const()
}

/// Builds a tenure whose clock reads `now`, with the window `[10, 12)`. The window contains positions 20 to 23.
fn real(now: i64) -> Tenure {
    Generator::builder(layout())
        .clock(ManualClock::new(now))
        .window(Window::new(10, 12).unwrap())
        .build_tenure()
        .unwrap()
}

impl Subject for Tenure {
    fn issue(&self, wanted: usize) -> Vec<u64> {
        let mut ids = vec![Id::default(); wanted];
        let count = fill_by(&mut ids, |rest| self.fill_in_tick(rest, Duration::ZERO));
        let count = count.unwrap_or(0);
        ids[..count].iter().map(|id| id.to_u64()).collect()
    }

    fn extend(&self, fence: u64) {
        Tenure::extend(self, fence).unwrap();
    }

    fn retire(&self) -> u64 {
        Tenure::retire(self).unwrap().map_or(0, |tick| (tick + 1) << 1)
    }
}

fn assert_distinct(mut ids: Vec<u64>) {
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "issued twice: {ids:?}");
}

/// Checks that two threads issue distinct IDs (invariant I1), and that the IDs of each thread increase (I8).
fn two_take(subject: impl Subject, wanted: [&'static [usize]; 2]) {
    let subject = Arc::new(subject);
    let threads = wanted.map(|wanted| {
        let subject = Arc::clone(&subject);
        thread::spawn(move || {
            let ids: Vec<u64> = wanted.iter().flat_map(|n| subject.issue(*n)).collect();
            assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "out of order: {ids:?}");
            ids
        })
    });
    assert_distinct(threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect());
}

#[test]
fn concurrent_calls_for_single_ids_return_distinct_ids() {
    model(|| two_take(real(11), [&[1, 1], &[1]]));
}

#[test]
#[should_panic(expected = "issued twice")]
fn loom_detects_positions_taken_with_a_plain_store() {
    model(|| two_take(Twin::new(Flaw::PlainStore), [&[1], &[1]]));
}

#[test]
fn concurrent_single_and_batch_calls_return_distinct_ids() {
    // The window starts ahead of the clock, so that the calls for one ID and for three IDs use both ticks of the
    // window.
    model(|| two_take(real(5), [&[1, 1], &[3]]));
}

#[test]
#[should_panic(expected = "issued twice")]
fn loom_detects_a_range_computed_from_a_stale_position() {
    model(|| two_take(Twin::new(Flaw::StaleRun), [&[1], &[2]]));
}

/// Takes IDs in two threads while a third thread persists a fence and then raises the limit to the fence. Checks that
/// the tick of each ID is below the persisted fence (I2, I5).
fn take_against_extend(subject: impl Subject, wanted: &'static [usize]) {
    let subject = Arc::new(subject);
    let persisted = Arc::new(AtomicU64::new(12));
    let takers = [(); 2].map(|()| {
        let (subject, persisted) = (Arc::clone(&subject), Arc::clone(&persisted));
        thread::spawn(move || {
            for id in wanted.iter().flat_map(|n| subject.issue(*n)) {
                let fence = persisted.load(Ordering::Acquire);
                assert!(id >> 1 < fence, "position {id} is beyond the fence {fence}");
            }
        })
    });
    persisted.store(14, Ordering::Release);
    subject.extend(14);
    for taker in takers {
        taker.join().unwrap();
    }
}

#[test]
fn ids_stay_below_the_persisted_fence_during_concurrent_extension() {
    model(|| take_against_extend(real(11), &[1, 1]));
}

#[test]
fn late_extension_allows_no_id_beyond_the_persisted_fence() {
    model(|| take_against_extend(real(13), &[1]));
}

#[test]
#[should_panic(expected = "beyond the fence")]
fn loom_detects_a_limit_not_rechecked_after_a_failed_swap() {
    model(|| take_against_extend(Twin::new(Flaw::LimitCheckedOnce), &[1, 1]));
}

/// Checks that the higher fence remains in effect if two threads raise the limit at the same time (I6: the limit only
/// rises).
fn extend_against_extend(subject: impl Subject) {
    let subject = Arc::new(subject);
    let other = {
        let subject = Arc::clone(&subject);
        thread::spawn(move || subject.extend(13))
    };
    subject.extend(14);
    other.join().unwrap();
    let ids: Vec<u64> = (0..8).flat_map(|_| subject.issue(1)).collect();
    assert_eq!(ids.last(), Some(&27), "the limit was lowered: {ids:?}");
}

#[test]
fn concurrent_extensions_keep_the_highest_fence() {
    // The window starts ahead of the clock, so that the calls can use up every tick of the window.
    model(|| extend_against_extend(real(5)));
}

#[test]
#[should_panic(expected = "the limit was lowered")]
fn loom_detects_an_extension_that_lowers_the_limit() {
    model(|| extend_against_extend(Twin::new(Flaw::LoweredLimit)));
}

/// Takes IDs in one thread while another thread retires the generator. Checks that all issued IDs are below the bound
/// that `retire` returns, and that a retired generator issues no ID (I6).
fn take_against_retire(subject: impl Subject, wanted: &'static [usize]) {
    let subject = Arc::new(subject);
    let taker = {
        let subject = Arc::clone(&subject);
        thread::spawn(move || wanted.iter().flat_map(|n| subject.issue(*n)).collect::<Vec<_>>())
    };
    let bound = subject.retire();
    assert!(subject.issue(1).is_empty(), "an ID was issued after the generator was retired");
    for id in taker.join().unwrap() {
        assert!(id < bound, "position {id} was issued but {bound} was reported");
    }
}

#[test]
fn generator_issues_no_id_after_concurrent_retirement() {
    model(|| take_against_retire(real(5), &[1, 1, 1]));
}

#[test]
fn generator_issues_no_batch_after_concurrent_retirement() {
    model(|| take_against_retire(real(5), &[3]));
}

#[test]
#[should_panic(expected = "issued")]
fn loom_detects_retirement_that_reads_the_position_too_early() {
    model(|| take_against_retire(Twin::new(Flaw::LateClose), &[1, 1]));
}

/// Checks that extending the window while the generator is being retired does not revive the generator (I6: a closed
/// generator issues no ID).
#[test]
fn extend_does_not_revive_a_retired_generator() {
    model(|| {
        let generator = Arc::new(real(5));
        let extender = {
            let generator = Arc::clone(&generator);
            thread::spawn(move || Tenure::extend(&generator, 14))
        };
        generator.retire().unwrap();
        // The extension may succeed before the retirement, or fail after the retirement. Both outcomes are correct.
        let _either = extender.join().unwrap();
        assert!(generator.issue(1).is_empty(), "an ID was issued after the generator was retired");
    });
}

/// Takes IDs in two threads while the clock goes backwards twice. Checks that all IDs are distinct, although the layout
/// has only two clock-sequence values.
#[test]
fn ids_remain_distinct_after_two_clock_rollbacks() {
    model(|| {
        let clock = ManualClock::new(20);
        let layout = Layout::builder().time(6).clock_sequence(1).sequence(1).build_const();
        let generator = Generator::builder(layout)
            .clock(clock.clone())
            .rollback(Rollback::ClockSequence)
            .build_tenure()
            .unwrap();
        let mut ids = generator.issue(1);
        clock.set(10);
        let generator = Arc::new(generator);
        let other = {
            let generator = Arc::clone(&generator);
            thread::spawn(move || generator.issue(1))
        };
        clock.set(9);
        ids.extend(generator.issue(1));
        ids.extend(other.join().unwrap());
        for now in [10, 20] {
            clock.set(now);
            ids.extend(generator.issue(1));
        }
        assert_distinct(ids);
    });
}

/// Models a switch to another clock-sequence value. One store sets the new value, and another store marks the previous
/// value as used. A thread that loads the new value must also load the mark. Otherwise, the previous value would look
/// unused.
fn mark_against_switch(mark_first: bool, read: Ordering) {
    let state = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let switcher = {
        let state = Arc::clone(&state);
        thread::spawn(move || {
            if mark_first {
                state.1.fetch_max(41, Ordering::AcqRel);
            }
            state.0.store(1, Ordering::Release);
            state.1.fetch_max(41, Ordering::AcqRel);
        })
    };
    if state.0.load(read) == 1 {
        assert!(state.1.load(Ordering::Acquire) >= 41, "the old value looks unused");
    }
    switcher.join().unwrap();
}

#[test]
fn clock_sequence_switch_makes_the_previous_mark_visible() {
    model(|| mark_against_switch(true, Ordering::Acquire));
}

#[test]
#[should_panic(expected = "the old value looks unused")]
fn loom_detects_that_the_high_water_mark_is_raised_too_late_on_a_clock_sequence_switch() {
    model(|| mark_against_switch(false, Ordering::Acquire));
}

#[test]
#[should_panic(expected = "the old value looks unused")]
fn loom_detects_a_relaxed_load_of_the_clock_sequence() {
    model(|| mark_against_switch(true, Ordering::Relaxed));
}

/// Checks that two generators for the same node share a cell, and that a third generator, for another node in the
/// same bucket, has its own cell.
#[test]
fn registry_keeps_one_cell_for_each_node() {
    model(|| {
        let registry = Arc::new(Registry::<1>::new());
        let get = |node| {
            let registry = Arc::clone(&registry);
            move || registry.cell(&layout(), &[node], || Cell::fixed(&layout(), 0)).unwrap()
        };
        let same = thread::spawn(get(7));
        let another = thread::spawn(get(8));
        let cell = get(7)();
        assert!(Arc::ptr_eq(&cell, &same.join().unwrap()), "two cells for one node");
        assert!(!Arc::ptr_eq(&cell, &another.join().unwrap()), "one cell for two nodes");
        assert!(Arc::ptr_eq(&cell, &get(7)()), "the entry was lost");
    });
}

/// Checks that no node belongs to two cells. Two threads request the cell for nodes 4 and 7, and a third thread
/// requests the cell for nodes 7 and 8.
#[test]
fn registry_keeps_one_cell_for_all_nodes_of_a_set() {
    model(|| {
        let registry = Arc::new(Registry::<1>::new());
        let get = |nodes: &'static [u64]| {
            let registry = Arc::clone(&registry);
            move || registry.cell(&layout(), nodes, || Cell::fixed(&layout(), 0))
        };
        let same = thread::spawn(get(&[4, 7]));
        let across = thread::spawn(get(&[7, 8]));
        let mine = get(&[4, 7])();
        let (same, across) = (same.join().unwrap(), across.join().unwrap());
        if let (Ok(mine), Ok(same)) = (&mine, &same) {
            assert!(Arc::ptr_eq(mine, same), "two cells for one node");
        }
        assert!(across.is_err() || (mine.is_err() && same.is_err()), "two cells for one node");
    });
}

/// Checks that loom detects the lost entry if threads add entries with a separate load and store instead of a
/// compare-and-swap.
#[test]
#[should_panic(expected = "the entry was lost")]
fn loom_detects_registry_entries_added_with_plain_stores() {
    model(|| {
        // The entries in the bucket, as a bit mask.
        let bucket = Arc::new(AtomicU64::new(0));
        let add = |entry| {
            let bucket = Arc::clone(&bucket);
            move || {
                let older = bucket.load(Ordering::Acquire);
                bucket.store(older | entry, Ordering::Release);
            }
        };
        let other = thread::spawn(add(1));
        add(2)();
        other.join().unwrap();
        assert_eq!(bucket.load(Ordering::Acquire), 3, "the entry was lost");
    });
}

/// Takes IDs from a local handle while another thread retires the generator. The handle checks the limit only if
/// `looks` is set.
fn local_against_retire(looks: bool) {
    // The clock is at tick 11, one tick after the window's start, so that the handle reserves several positions as one
    // chunk.
    let layout = Layout::builder().time(8).sequence(5).build_const();
    let generator = Generator::builder(layout)
        .clock(ManualClock::new(11))
        .window(Window::new(10, 12).unwrap())
        .build_tenure()
        .unwrap();
    let generator = Arc::new(generator);
    let ended = Arc::new(AtomicU64::new(0));
    let user = {
        let (generator, ended) = (Arc::clone(&generator), Arc::clone(&ended));
        thread::spawn(move || {
            let mut chunk = Chunk::new(generator);
            let mut ids = Vec::new();
            for _ in 0..2 {
                let over = ended.load(Ordering::Acquire) == 1;
                if let Ok(id) = chunk.next_id(looks) {
                    assert!(!over, "an ID was issued after the generator was retired");
                    ids.push(id.to_u64());
                }
            }
            ids
        })
    };
    let bound = generator.retire().unwrap().map_or(0, |tick| (tick + 1) << 5);
    ended.store(1, Ordering::Release);
    assert!(
        user.join().unwrap().iter().all(|id| *id < bound),
        "an ID is at or above the reported bound"
    );
}

#[test]
fn local_handle_issues_no_id_after_its_generator_retires() {
    model(|| local_against_retire(true));
}

#[test]
#[should_panic(expected = "an ID was issued after the generator was retired")]
fn loom_detects_a_local_handle_that_ignores_the_limit() {
    model(|| local_against_retire(false));
}
