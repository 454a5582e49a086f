use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{Call, Queue, Supply, shares};
use crate::generator::obstacle::Obstacle;
use crate::generator::shape::Run;
use crate::{Clock, Error, ErrorKind, Generator, Id, Layout, SystemClock};

const PATIENT: Duration = Duration::from_secs(60);

fn divided(wanted: &[u64], count: u64) -> Vec<u64> {
    let calls: Vec<Call> = wanted.iter().map(|&wanted| Call { ticket: 0, wanted }).collect();
    shares(&calls, count)
}

#[test]
fn queue_shares_all_ids_of_a_tick_fairly() {
    assert_eq!(divided(&[1, 1, 1], 3), [1, 1, 1]);
    assert_eq!(divided(&[4_096, 1], 4_096), [4_095, 1]);
    assert_eq!(divided(&[4_096, 4_096], 4_096), [2_048, 2_048]);
    assert_eq!(divided(&[4_096, 10, 4_096, 1], 101), [45, 10, 45, 1]);
    assert_eq!(divided(&[2, 2, 2], 4), [2, 1, 1]);
    assert_eq!(divided(&[7], 7), [7]);
}

/// A supply in which each tick has eight positions. The next tick begins when a call sleeps while the number of waiting
/// calls is in the range `crowd`.
struct Ticks<'a> {
    queue: &'a Queue,
    crowd: RangeInclusive<u64>,
    next: AtomicU64,
    end: AtomicU64,
    sleeps: AtomicU64,
}

impl<'a> Ticks<'a> {
    fn used_up(queue: &'a Queue, crowd: RangeInclusive<u64>) -> Self {
        let [next, end, sleeps] = [8, 8, 0].map(AtomicU64::new);
        Self { queue, crowd, next, end, sleeps }
    }

    fn begin_next(&self) {
        let end = self.end.fetch_add(8, Ordering::SeqCst);
        self.next.store(end, Ordering::SeqCst);
    }
}

impl Supply for Ticks<'_> {
    fn attempt(&self, wanted: u64) -> Result<Run, Obstacle> {
        let left = self.end.load(Ordering::SeqCst).saturating_sub(self.next.load(Ordering::SeqCst));
        let count = wanted.min(left);
        if count == 0 {
            let error = Error::sequence_exhausted(Duration::from_millis(1));
            return Err(Obstacle { error, until: Some(0) });
        }
        let first = self.next.fetch_add(count, Ordering::SeqCst);
        Ok(Run { first, count, clock_sequence: 0 })
    }

    fn sleep(&self, _until: i64, at_most: Duration, _exact: bool) {
        self.sleeps.fetch_add(1, Ordering::SeqCst);
        let start = Instant::now();
        while !self.crowd.contains(&self.queue.length.load(Ordering::SeqCst)) {
            if start.elapsed() > at_most {
                return;
            }
            thread::yield_now();
        }
        self.begin_next();
    }
}

#[test]
fn call_for_all_ids_of_a_tick_leaves_one_for_each_waiting_call() {
    let queue = Queue::new();
    let ticks = Ticks::used_up(&queue, 3..=3);
    let take = |wanted| queue.take(&ticks, wanted, PATIENT).unwrap();
    let mut runs = thread::scope(|scope| {
        let calls = [8, 1, 1].map(|wanted| scope.spawn(move || (wanted, take(wanted))));
        calls.map(|call| call.join().unwrap())
    });
    assert_eq!(runs.map(|(wanted, run)| (wanted, run.count)), [(8, 6), (1, 1), (1, 1)]);
    runs.sort_by_key(|(_, run)| run.first);
    let ends = runs.map(|(_, run)| (run.first, run.end()));
    assert_eq!((ends[0].0, ends[2].1), (8, 16), "one tick serves all calls");
    assert!(ends[0].1 == ends[1].0 && ends[1].1 == ends[2].0, "the ranges are adjacent: {ends:?}");
    assert_eq!(ticks.sleeps.load(Ordering::SeqCst), 1, "one call slept for all");
    assert!(!queue.is_waiting());
}

#[test]
fn calls_beyond_the_capacity_of_a_tick_get_distinct_positions() {
    let queue = Queue::new();
    let ticks = Ticks::used_up(&queue, 0..=30);
    let mut firsts: Vec<u64> = thread::scope(|scope| {
        let one = || queue.take(&ticks, 1, PATIENT).unwrap().first;
        let calls: Vec<_> = (0..30).map(|_| scope.spawn(one)).collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts.len(), 30);
}

#[test]
fn call_leaves_the_queue_after_its_max_wait() {
    let queue = Queue::new();
    let ticks = Ticks::used_up(&queue, 3..=3);
    let start = Instant::now();
    let error = queue.take(&ticks, 1, Duration::from_millis(20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SequenceExhausted);
    assert!(start.elapsed() >= Duration::from_millis(20));
    assert!(!queue.is_waiting());
    // A call that leaves the queue while another call is the leader gets no position of the next tick.
    let runs = thread::scope(|scope| {
        let take = |wanted, max_wait| queue.take(&ticks, wanted, max_wait);
        let leader = scope.spawn(move || take(8, PATIENT));
        while !queue.is_waiting() {
            thread::yield_now();
        }
        let hasty = take(1, Duration::from_millis(1));
        assert_eq!(hasty.unwrap_err().kind(), ErrorKind::SequenceExhausted);
        let another = scope.spawn(move || take(1, PATIENT));
        let last = take(1, PATIENT).unwrap();
        [leader.join().unwrap().unwrap(), another.join().unwrap().unwrap(), last]
    });
    assert_eq!(runs.map(|run| run.count), [6, 1, 1]);
    assert!(!queue.is_waiting());
}

#[test]
fn nonblocking_call_serves_waiting_calls_in_arrival_order() {
    let queue = Queue::new();
    let ticks = Ticks::used_up(&queue, 0..=0);
    let runs = thread::scope(|scope| {
        let calls = [2, 1].map(|wanted| {
            let (queue, ticks) = (&queue, &ticks);
            let call = scope.spawn(move || queue.take(ticks, wanted, PATIENT).unwrap());
            while queue.length.load(Ordering::SeqCst) < 3 - wanted {
                thread::yield_now();
            }
            call
        });
        queue.serve(&ticks);
        assert!(queue.is_waiting(), "no position is available yet");
        ticks.begin_next();
        // `serve` does not wait for the lock, which the second call may still hold, so the test calls `serve`
        // repeatedly.
        while queue.is_waiting() {
            queue.serve(&ticks);
        }
        let [first, second] = calls.map(|call| call.join().unwrap());
        [first, second]
    });
    let runs = runs.map(|run| (run.first, run.count));
    assert_eq!(runs, [(8, 2), (10, 1)], "the calls are served in the order of arrival");
}

/// Checks that a waiting call soon gets an ID although other threads repeat nonblocking calls in a loop. Without the
/// queue, the other threads would use up many ticks before the waiting call woke up.
#[test]
fn repeated_try_next_id_does_not_starve_waiting_calls() {
    let layout: Layout = "t41.n10.s1@1577836800000/1ms".parse().unwrap();
    let generator = Generator::new(layout, 901).unwrap();
    generator.next_id().unwrap();
    let ended = AtomicBool::new(false);
    let ticks = thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::SeqCst) {
                let _full = generator.try_next_id();
            }
        });
        scope.spawn(|| {
            while !ended.load(Ordering::SeqCst) {
                let _full = generator.try_fill(&mut [Id::default(); 8]);
            }
        });
        // The test counts the ticks between the beginning of the call and the tick of the ID. The time at which the
        // thread wakes up is not counted, because this time depends on the scheduler.
        let call = || {
            let begin = layout.tick_at(SystemClock.unix_ms()).unwrap();
            let id = generator.next_id_within(PATIENT)?;
            Ok(layout.unpack(id)?.tick - begin)
        };
        let ticks: Result<Vec<u64>, Error> = (0..200).map(|_| call()).collect();
        ended.store(true, Ordering::SeqCst);
        ticks.unwrap()
    });
    // Each call usually takes one or two ticks. A call takes longer if its thread does not run immediately. Without the
    // queue, a call would take thousands of ticks.
    assert!(ticks.iter().sum::<u64>() < 1_000, "{ticks:?}");
}

#[test]
fn every_waiting_call_fails_when_the_window_expires() {
    let generator = Generator::builder(Layout::TWITTER)
        .node(1)
        .window(crate::Window::new(0, 2).unwrap())
        .build()
        .unwrap();
    let kinds = thread::scope(|scope| {
        let call = || generator.next_id().unwrap_err().kind();
        [scope.spawn(call), scope.spawn(call)].map(|call| call.join().unwrap())
    });
    assert_eq!(kinds, [ErrorKind::LeaseExpired; 2]);
}

/// Requests single IDs in three threads while another thread fills an array. The generator uses the system clock.
/// Checks that no ID is repeated, and that every call for a single ID succeeds.
#[test]
fn concurrent_callers_get_distinct_ids_at_the_maximum_rate() {
    let layout: Layout = "t41.n10.s3@1577836800000/1ms".parse().unwrap();
    let generator = Generator::new(layout, 900).unwrap();
    let mut ids: Vec<Id> = thread::scope(|scope| {
        let filler = scope.spawn(|| {
            let mut ids = vec![Id::default(); 400];
            assert_eq!(generator.fill(&mut ids).unwrap(), ids.len());
            ids
        });
        let single = || (0..50).map(|_| generator.next_id().unwrap()).collect::<Vec<Id>>();
        let singles = [scope.spawn(single), scope.spawn(single), scope.spawn(single)];
        let mut ids = filler.join().unwrap();
        assert!(ids.is_sorted(), "the IDs of one call increase");
        for single in singles {
            let of_one = single.join().unwrap();
            assert!(of_one.is_sorted(), "the IDs of one thread increase");
            ids.extend(of_one);
        }
        ids
    });
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 550);
    assert!(generator.stats().waits >= 60, "{:?}", generator.stats());
}
