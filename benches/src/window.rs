//! A period of wall time in which one or more threads issue IDs as fast as they can.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::clock;
use crate::histogram::Histogram;

/// Calls between two checks of the stop flag.
const CHUNK: u32 = 64;

/// Totals of all threads in a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) ids: u64,
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    /// The smallest share of the window for which a thread had a processor.
    pub(crate) least_share: f64,
}

impl Window {
    pub(crate) fn ids_per_second(&self) -> f64 {
        self.ids as f64 / self.wall.as_secs_f64()
    }

    pub(crate) fn cpu_per_second(&self) -> f64 {
        self.cpu.as_secs_f64() / self.wall.as_secs_f64()
    }

    /// Returns the CPU seconds per million IDs.
    pub(crate) fn cpu_per_million(&self) -> f64 {
        self.cpu.as_secs_f64() / (self.ids as f64 / 1e6)
    }
}

/// Runs `threads` workers in parallel. `worker` is called in each thread and returns the call to repeat, which returns
/// the number of IDs that it issued.
pub(crate) fn run<W: FnMut() -> u64>(
    threads: usize,
    length: Duration,
    worker: impl Fn() -> W + Sync,
) -> Window {
    let parts = side_by_side(threads, length, |stop, start| {
        let mut call = worker();
        start.wait();
        let (began, cpu_before) = (Instant::now(), clock::thread_cpu());
        let mut ids = 0;
        while !stop.load(Ordering::Relaxed) {
            for _ in 0..CHUNK {
                let issued = call();
                ids += issued;
                // A call that fills an array takes at least as long as a chunk of single calls.
                if issued != 1 {
                    break;
                }
            }
        }
        let (wall, cpu) = (began.elapsed(), clock::thread_cpu().saturating_sub(cpu_before));
        let least_share = cpu.as_secs_f64() / wall.as_secs_f64();
        Window { ids, wall, cpu, least_share }
    });
    let mut sum = Window { ids: 0, wall: Duration::ZERO, cpu: Duration::ZERO, least_share: 1.0 };
    for part in parts {
        sum.ids += part.ids;
        sum.wall = sum.wall.max(part.wall);
        sum.cpu += part.cpu;
        sum.least_share = sum.least_share.min(part.least_share);
    }
    sum
}

/// Measures single calls of one thread while `others` threads make the same calls. The measurement needs a separate
/// window, because timing a call costs as much as the call.
pub(crate) fn timed<W: FnMut() -> u64>(
    others: usize,
    length: Duration,
    worker: impl Fn() -> W + Sync,
) -> Histogram {
    timed_beside(others, length, &worker, &worker)
}

/// Measures single calls like [`timed`], but the other threads make calls of another kind.
pub(crate) fn timed_beside<W: FnMut() -> u64, O: FnMut() -> u64>(
    others: usize,
    length: Duration,
    worker: impl Fn() -> W + Sync,
    other: impl Fn() -> O + Sync,
) -> Histogram {
    let places = AtomicUsize::new(0);
    let parts = side_by_side(others + 1, length, |stop, start| {
        let timing = places.fetch_add(1, Ordering::Relaxed) == 0;
        let mut histogram = Histogram::new();
        if !timing {
            let mut call = other();
            start.wait();
            while !stop.load(Ordering::Relaxed) {
                call();
            }
            return histogram;
        }
        let mut call = worker();
        start.wait();
        // The first call of a generator can wait for its first tick, which is not the steady state.
        call();
        let mut before = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            call();
            let after = Instant::now();
            histogram.record(after - before);
            before = after;
        }
        histogram
    });
    let mut all = Histogram::new();
    for part in &parts {
        all.merge(part);
    }
    all
}

fn side_by_side<R: Send>(
    threads: usize,
    length: Duration,
    body: impl Fn(&AtomicBool, &Barrier) -> R + Sync,
) -> Vec<R> {
    let stop = AtomicBool::new(false);
    let start = Barrier::new(threads + 1);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| body(&stop, &start))).collect();
        start.wait();
        thread::sleep(length);
        stop.store(true, Ordering::Relaxed);
        workers.into_iter().map(|worker| worker.join().expect("a worker panicked")).collect()
    })
}
