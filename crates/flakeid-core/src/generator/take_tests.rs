use std::thread;
use std::time::Duration;

use crate::{
    Clock, Error, ErrorKind, Generator, Id, Layout, Overflow, Rollback, SystemClock, Window,
};

const DAY: u64 = 86_400_000;

/// A generator of Twitter's layout that borrows, on the window of this tick and so many more.
fn borrowing(ticks: u64, max_ahead: Duration, rollback: Rollback) -> Generator {
    let now = Layout::TWITTER.tick_at(SystemClock.unix_ms()).unwrap();
    Generator::builder(Layout::TWITTER)
        .node(1)
        .window(Window::new(now, now + ticks).unwrap())
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
fn borrowed_ids_rise_up_to_the_fence() {
    for rollback in [Rollback::Continue, Rollback::Error] {
        let generator = borrowing(100, Duration::from_millis(DAY), rollback);
        let (ids, error) = until_refused(&generator, usize::MAX);
        assert_eq!(error.unwrap().kind(), ErrorKind::LeaseExpired);
        assert!(ids.is_sorted_by(|one, next| one < next), "they strictly increase");
        let tick = |id: Id| Layout::TWITTER.unpack(id).unwrap().tick;
        let (first, last) = (tick(ids[0]), tick(ids[ids.len() - 1]));
        assert_eq!(generator.retire().unwrap(), Some(last));
        assert!(last - first <= 100);
        assert!(ids.len() as u64 >= (last - first).saturating_sub(1) * 4_096, "no tick has gaps");
        assert!(generator.stats().largest_ahead > 0, "{:?}", generator.stats());
        assert_eq!(generator.next_id().unwrap_err().kind(), ErrorKind::Closed);
    }
}

#[test]
fn nobody_borrows_more_than_allowed() {
    let generator = borrowing(DAY, Duration::from_millis(50), Rollback::Continue);
    let mut ids = Vec::new();
    // The clock moves on meanwhile; so much later it has not.
    let error = loop {
        let (more, error) = until_refused(&generator, 1_000_000);
        ids.extend(more);
        if let Some(error) = error {
            break error;
        }
        assert!(ids.len() < 100_000_000, "never refused");
    };
    assert_eq!(error.kind(), ErrorKind::SequenceExhausted);
    assert_eq!(generator.stats().largest_ahead, 50);
}

#[test]
fn threads_that_borrow_get_different_ids() {
    let generator = borrowing(DAY, Duration::from_millis(DAY), Rollback::Continue);
    let mut ids: Vec<Id> = thread::scope(|scope| {
        let single = || until_refused(&generator, 300_000).0;
        let several = || generator.next_ids(300_000).unwrap();
        let [one, two] = [scope.spawn(single), scope.spawn(several)];
        [one.join().unwrap(), two.join().unwrap()].concat()
    });
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 600_000);
    assert!(generator.stats().largest_ahead > 20, "{:?}", generator.stats());
}
