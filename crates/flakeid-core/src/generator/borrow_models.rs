//! Loom models of borrowing: every interleaving of calls that continue in later ticks because the clock's tick is full,
//! and twins with a flaw, which loom must refute.

use alloc::sync::Arc;

use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use super::loom_models::{layout, model};
use super::loom_twin::Subject;
use super::{Generator, Overflow, Rollback, Window};
use crate::ManualClock;

/// The clock's tick is nearly full, and two threads continue in later ticks. Neither may treat these ticks as a
/// rollback, which would be an error here.
#[test]
fn loom_borrowed_tick_is_not_treated_as_a_rollback() {
    model(|| {
        let generator = Generator::builder(layout())
            .clock(ManualClock::new(11))
            .window(Window::new(11, 14).unwrap())
            .overflow(Overflow::Borrow)
            .rollback(Rollback::Error)
            .build()
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
        // A range ends with its tick, so a call that wanted two IDs may have got one; this takes the rest.
        while let [id] = generator.issue(1)[..] {
            ids.push(id);
        }
        ids.sort_unstable();
        assert_eq!(ids, [22, 23, 24, 25, 26, 27], "an ID was lost, or issued twice");
    });
}

/// A position that is ahead of the clock on purpose must be noted before the word reaches it, because a thread that loads
/// the word would otherwise treat it as a rollback.
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
    assert!(word <= state.1.load(Ordering::Acquire), "a borrowed tick is taken for a rollback");
    borrower.join().unwrap();
}

#[test]
fn loom_note_before_the_swap_hides_no_borrowed_tick() {
    model(|| note_against_swap(true, Ordering::Acquire));
}

#[test]
#[should_panic(expected = "taken for a rollback")]
fn loom_note_after_the_swap_is_refuted() {
    model(|| note_against_swap(false, Ordering::Acquire));
}

#[test]
#[should_panic(expected = "taken for a rollback")]
fn loom_relaxed_load_of_borrowed_ticks_is_refuted() {
    model(|| note_against_swap(true, Ordering::Relaxed));
}
