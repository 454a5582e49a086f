//! Loom models of borrowing, which explore the interleavings of calls that continue in later ticks because the clock's
//! tick is full. The models also run on versions that contain one deliberate bug each, which loom must find.

use alloc::sync::Arc;

use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use super::loom_models::{layout, model};
use super::loom_twin::Subject;
use super::{Generator, Overflow, Rollback, Window};
use crate::ManualClock;

/// Takes the first of the two IDs of the clock's tick. Two threads then take the second ID of this tick, and IDs of
/// later ticks. Checks that neither thread treats a later tick as a rollback of the clock.
#[test]
fn loom_finds_no_false_rollback_after_a_borrowed_tick() {
    model(|| {
        let generator = Generator::builder(layout())
            .clock(ManualClock::new(11))
            .window(Window::new(11, 14).unwrap())
            .overflow(Overflow::Borrow)
            .rollback(Rollback::Error)
            .build_tenure()
            .unwrap();
        let mut ids = generator.issue(1);
        let generator = Arc::new(generator);
        let other = {
            let generator = Arc::clone(&generator);
            thread::spawn(move || [generator.issue(1), generator.issue(2)].concat())
        };
        let mine = [generator.issue(2), generator.issue(1)].concat();
        let others = other.join().unwrap();
        assert!(mine.is_sorted() && others.is_sorted(), "out of order: {mine:?}, {others:?}");
        ids.extend(mine.into_iter().chain(others));
        assert_eq!(
            generator.stats().rollbacks,
            0,
            "a borrowed tick was treated as a rollback: {ids:?}"
        );
        // One call takes IDs of only one tick, so a call for two IDs may have returned only one ID. This loop takes the
        // remaining IDs.
        while let [id] = generator.issue(1)[..] {
            ids.push(id);
        }
        ids.sort_unstable();
        assert_eq!(ids, [22, 23, 24, 25, 26, 27], "an ID was lost, or issued twice");
    });
}

/// Models a call that publishes a position deliberately ahead of the clock. The call must first write the note that
/// permits the position. Otherwise, a thread that loads the position but not the note would detect a rollback.
fn note_against_swap(note_first: bool, read: Ordering) {
    let state = Arc::new((AtomicU64::new(22), AtomicU64::new(22)));
    let borrower = {
        let state = Arc::clone(&state);
        thread::spawn(move || {
            if note_first {
                state.1.fetch_max(26, Ordering::AcqRel);
            }
            state.0.store(25, Ordering::Release);
            state.1.fetch_max(26, Ordering::AcqRel);
        })
    };
    let word = state.0.load(read);
    assert!(word <= state.1.load(Ordering::Acquire), "a borrowed tick was treated as a rollback");
    borrower.join().unwrap();
}

#[test]
fn loom_accepts_a_borrowed_tick_recorded_before_the_swap() {
    model(|| note_against_swap(true, Ordering::Acquire));
}

#[test]
#[should_panic(expected = "treated as a rollback")]
fn loom_detects_a_borrowed_tick_recorded_after_the_swap() {
    model(|| note_against_swap(false, Ordering::Acquire));
}

#[test]
#[should_panic(expected = "treated as a rollback")]
fn loom_detects_a_relaxed_load_of_a_borrowed_position() {
    model(|| note_against_swap(true, Ordering::Relaxed));
}
