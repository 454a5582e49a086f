//! Loom models of the gated clock's gate, which explore the interleavings of a few reads. The same models also run on
//! copies of the gate, each with one deliberate bug that loom must find.

use alloc::sync::Arc;

use loom::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use loom::thread;

use super::gate::{Gate, Instruments};

const MS: u64 = 1_000_000;

/// A simulated nanosecond counter, which the threads advance. All times of the model come from this counter. Accesses
/// to the counter are relaxed, so that they do not order the gate's own stores.
struct Time(AtomicU64);

impl Time {
    fn now(&self) -> u64 {
        // `fetch_add` is a read-modify-write operation, which always returns the latest value. A plain load may return
        // an older value.
        self.0.fetch_add(0, Ordering::Relaxed)
    }

    fn ms(&self) -> i64 {
        (self.now() / MS).cast_signed()
    }
}

impl Instruments for Time {
    fn counter(&self) -> u64 {
        self.now()
    }

    fn wall(&self) -> (i64, u64) {
        let now = self.now();
        ((now / MS).cast_signed(), now % MS)
    }

    fn steady(&self) -> u64 {
        1
    }

    fn process(&self) -> u64 {
        1
    }
}

trait Subject: Send + Sync + 'static {
    fn read(&self, time: &Time) -> i64;
}

impl Subject for Gate {
    fn read(&self, time: &Time) -> i64 {
        Gate::read(self, time)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    /// Publishes the millisecond's end first, and the millisecond's value second.
    EndFirst,
    /// Publishes the millisecond's end with relaxed ordering. A reader may then load the new end together with the
    /// value of an earlier millisecond.
    RelaxedEnd,
    /// Lets several threads publish a new millisecond at the same time.
    Together,
    /// Reads the clock before locking the gate.
    ReadOutside,
}

/// A copy of the gate with one deliberate bug.
struct Twin {
    ms: AtomicI64,
    until: AtomicU64,
    holder: AtomicU64,
    flaw: Flaw,
}

impl Twin {
    fn new(flaw: Flaw) -> Self {
        let (ms, until, holder) = (AtomicI64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Self { ms, until, holder, flaw }
    }

    fn enter(&self) -> bool {
        self.holder.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn publish(&self, (ms, until): (i64, u64)) {
        let release =
            if self.flaw == Flaw::RelaxedEnd { Ordering::Relaxed } else { Ordering::Release };
        if self.flaw == Flaw::EndFirst {
            self.until.store(until, Ordering::Release);
            self.ms.store(ms, Ordering::Release);
        } else {
            self.ms.store(ms, Ordering::Relaxed);
            self.until.store(until, release);
        }
    }
}

impl Subject for Twin {
    fn read(&self, time: &Time) -> i64 {
        let now = time.counter();
        let until = self.until.load(Ordering::Acquire);
        if now < until && until - now <= MS {
            return self.ms.load(Ordering::Relaxed);
        }
        let look = || {
            let now = time.now();
            ((now / MS).cast_signed(), now - now % MS + MS)
        };
        let outside = (self.flaw == Flaw::ReadOutside).then(look);
        if self.flaw != Flaw::Together && !self.enter() {
            return time.ms();
        }
        let found = outside.unwrap_or_else(look);
        self.publish(found);
        self.holder.store(0, Ordering::Release);
        found.0
    }
}

/// Runs three threads around the end of a millisecond. Each thread advances the time and then reads the gate. Each read
/// must return the clock's value at some moment during the read.
fn readers(subject: impl Subject) {
    let shared = Arc::new((subject, Time(AtomicU64::new(MS / 5))));
    let read = || {
        let shared = Arc::clone(&shared);
        move || {
            let (subject, time) = &*shared;
            let earliest = (time.0.fetch_add(MS / 2, Ordering::Relaxed) + MS / 2) / MS;
            let ms = subject.read(time);
            let moments = earliest.cast_signed()..=time.ms();
            assert!(moments.contains(&ms), "wrong: {ms}, not {moments:?}");
        }
    };
    let others = [(); 2].map(|()| thread::spawn(read()));
    read()();
    for other in others {
        other.join().unwrap();
    }
}

fn model(check: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    // The bound is two preemptions. With three preemptions, the model would run for more than four minutes.
    builder.preemption_bound = Some(2);
    builder.check(check);
}

#[test]
fn gated_clock_returns_a_value_that_was_current_during_the_call() {
    model(|| readers(Gate::at_rate(MS)));
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_a_gate_that_publishes_the_end_time_before_the_millisecond() {
    model(|| readers(Twin::new(Flaw::EndFirst)));
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_a_gate_that_publishes_the_end_time_with_relaxed_ordering() {
    model(|| readers(Twin::new(Flaw::RelaxedEnd)));
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_a_gate_that_two_threads_refresh_simultaneously() {
    model(|| readers(Twin::new(Flaw::Together)));
}

#[test]
#[should_panic(expected = "wrong")]
fn loom_detects_a_gate_that_reads_the_clock_before_locking() {
    model(|| readers(Twin::new(Flaw::ReadOutside)));
}
