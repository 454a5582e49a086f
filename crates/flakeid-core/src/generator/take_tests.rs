use std::thread;
use std::time::Duration;

use crate::{
    Clock, Error, ErrorKind, Generator, Id, Layout, Overflow, Rollback, SystemClock, Window,
};

const DAY: u64 = 86_400_000;

/// Returns a layout with eight IDs per tick, so that every machine uses up the IDs of a tick before the next tick
/// begins.
fn layout() -> Layout {
    "t41.n10.s3@1577836800000/1ms".parse().unwrap()
}

/// Builds a generator that issues IDs from later ticks when the current tick is full. The generator's window begins
/// `after` ticks after the current tick, and is `ticks` ticks long.
fn borrowing(after: u64, ticks: u64, max_ahead: Duration, rollback: Rollback) -> Generator {
    let start = layout().tick_at(SystemClock.unix_ms()).unwrap() + after;
    Generator::builder(layout())
        .node(1)
        .window(Window::new(start, start + ticks).unwrap())
        .overflow(Overflow::Borrow)
        .rollback(rollback)
        .max_ahead(max_ahead)
        .max_wait(Duration::ZERO)
        .build()
        .unwrap()
}

fn until_refused(generator: &Generator, most: usize) -> (Vec<Id>, Option<Error>) {
    let mut ids = Vec::new();
    while ids.len() < most {
        match generator.next_id() {
            Ok(id) => ids.push(id),
            Err(error) => return (ids, Some(error)),
        }
    }
    (ids, None)
}

#[test]
fn generator_that_borrows_ticks_issues_every_id_up_to_the_fence() {
    for rollback in [Rollback::Continue, Rollback::Error] {
        // The window is so far in the future that all IDs are generated before the clock reaches the window.
        let generator = borrowing(600_000, 1_000, Duration::from_millis(DAY), rollback);
        let (ids, error) = until_refused(&generator, usize::MAX);
        assert_eq!(error.unwrap().kind(), ErrorKind::LeaseExpired);
        assert!(ids.is_sorted_by(|one, next| one < next), "the IDs strictly increase");
        assert_eq!(ids.len(), 8_000, "every ID of every tick was issued");
        let last = layout().unpack(ids[7_999]).unwrap().tick;
        assert_eq!(generator.retire().unwrap(), Some(last));
        assert!(generator.stats().largest_ahead > 500_000, "{:?}", generator.stats());
        assert_eq!(generator.next_id().unwrap_err().kind(), ErrorKind::Closed);
    }
}

#[test]
fn generator_borrows_ticks_only_up_to_max_ahead() {
    let generator = borrowing(0, DAY, Duration::from_millis(50), Rollback::Continue);
    let (_, error) = until_refused(&generator, usize::MAX);
    assert_eq!(error.unwrap().kind(), ErrorKind::SequenceExhausted);
    assert_eq!(generator.stats().largest_ahead, 50);
}

#[test]
fn threads_get_distinct_ids_from_a_generator_that_borrows_ticks() {
    let generator = borrowing(600_000, DAY, Duration::from_millis(DAY), Rollback::Continue);
    let mut ids: Vec<Id> = thread::scope(|scope| {
        let single = || until_refused(&generator, 300_000).0;
        let several = || generator.next_ids(300_000).unwrap();
        let [one, two] = [scope.spawn(single), scope.spawn(several)];
        [one.join().unwrap(), two.join().unwrap()].concat()
    });
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 600_000);
}
