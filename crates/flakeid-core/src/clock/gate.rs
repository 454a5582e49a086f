//! The gate of [`GatedClock`](super::GatedClock): it reuses a millisecond of the system's clock until a counter shows that
//! the millisecond may have ended.

use crate::sync::{AtomicI64, AtomicU64, Ordering};

/// The clocks and the counter that a gate reads.
pub(super) trait Instruments {
    /// Reads a counter that has a constant rate and the same value on every processor.
    fn counter(&self) -> u64;
    /// Reads the system's clock: the milliseconds since 1970, and the nanoseconds since the current millisecond began.
    fn wall(&self) -> (i64, u64);
    /// Reads the nanoseconds of a clock that cannot be set and that continues while the machine sleeps.
    fn steady(&self) -> u64;
    /// Returns a number of this process that is not 0 and differs in a forked child.
    fn process(&self) -> u64;
}

/// The data that readers load, on a cache line that is written a few times per millisecond.
#[repr(align(128))]
struct Open {
    /// The reading of the clock while the counter is at most `span` before `until`.
    ms: AtomicI64,
    until: AtomicU64,
    span: AtomicU64,
}

/// The data of the thread that refreshes the gate.
#[repr(align(128))]
struct Refresh {
    /// The process of the refreshing thread, or 0 if there is none. It is the process and not a flag, so that a child
    /// that was forked during a refresh, in which that thread does not exist, can take over.
    holder: AtomicU64,
    /// The counter and the steady clock at the last measurement of the rate; 0 before the first one.
    counter: AtomicU64,
    steady: AtomicU64,
    /// The last measurement, and the lower of the last two, in counts per millisecond; 0 if unknown.
    measured: AtomicU64,
    rate: AtomicU64,
}

pub(super) struct Gate {
    open: Open,
    refresh: Refresh,
}

const MS: u64 = 1_000_000;

impl Gate {
    /// The shortest time over which the rate is measured, in nanoseconds.
    const INTERVAL: u64 = 10 * MS;
    /// The nanoseconds by which the gate closes early, because the counters of two processors may differ by this amount
    /// and a processor may read its counter out of order.
    const MARGIN: u64 = 1_000;
    /// The plausible rates of a processor's counter, in counts per millisecond; any other measurement is discarded.
    const RATES: core::ops::RangeInclusive<u64> = 50_000..=50_000_000;

    #[cfg(not(loom))]
    pub(super) const fn new() -> Self {
        Self {
            open: Open { ms: AtomicI64::new(0), until: AtomicU64::new(0), span: AtomicU64::new(0) },
            refresh: Refresh {
                holder: AtomicU64::new(0),
                counter: AtomicU64::new(0),
                steady: AtomicU64::new(0),
                measured: AtomicU64::new(0),
                rate: AtomicU64::new(0),
            },
        }
    }

    /// Creates a gate with a known rate in counts per millisecond, for the models.
    #[cfg(loom)]
    pub(super) fn at_rate(rate: u64) -> Self {
        Self {
            open: Open { ms: AtomicI64::new(0), until: AtomicU64::new(0), span: AtomicU64::new(0) },
            refresh: Refresh {
                holder: AtomicU64::new(0),
                counter: AtomicU64::new(0),
                steady: AtomicU64::new(1),
                measured: AtomicU64::new(rate),
                rate: AtomicU64::new(rate),
            },
        }
    }

    /// Returns the time of the system's clock in milliseconds since 1970.
    #[inline]
    pub(super) fn read(&self, instruments: &impl Instruments) -> i64 {
        let now = instruments.counter();
        // Acquire, so that `ms` is at least as new as `until`.
        let until = self.open.until.load(Ordering::Acquire);
        // The difference must be in `1..=span`, so that a counter that was set back does not revive an old millisecond.
        if until.wrapping_sub(now).wrapping_sub(1) < self.open.span.load(Ordering::Relaxed) {
            return self.open.ms.load(Ordering::Relaxed);
        }
        self.refresh(instruments)
    }

    #[cold]
    #[inline(never)]
    fn refresh(&self, instruments: &impl Instruments) -> i64 {
        if !self.enter(instruments.process()) {
            return instruments.wall().0;
        }
        // The reads come after `enter`, so that they are not older than the values published before. The counter is read
        // first, so that the real end of the millisecond is later than the published one.
        let before = instruments.counter();
        let (ms, past) = instruments.wall();
        let rate = self.measure(instruments);
        let left = MS.saturating_sub(past).saturating_sub(Self::MARGIN);
        // `until` is stored last, so that a reader that loads the new end also loads the new millisecond. A reader that
        // loads the new millisecond with the old end is still not ahead of the clock.
        self.open.ms.store(ms, Ordering::Relaxed);
        self.open.span.store(rate, Ordering::Relaxed);
        self.open.until.store(before.wrapping_add(left * rate / MS), Ordering::Release);
        self.leave();
        ms
    }

    /// Whether this thread may refresh the gate. Other threads do not wait, because the refreshing thread may not be
    /// running.
    fn enter(&self, process: u64) -> bool {
        let holder = self.refresh.holder.load(Ordering::Relaxed);
        // Acquire, so that the stores of the previous refresh are visible.
        holder != process
            && self
                .refresh
                .holder
                .compare_exchange(holder, process, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// Simulates a thread of `process` that is refreshing and never finishes, for the tests.
    #[cfg(all(test, not(loom)))]
    pub(super) fn hold(&self, process: u64) {
        self.refresh.holder.store(process, Ordering::Relaxed);
    }

    fn leave(&self) {
        self.refresh.holder.store(0, Ordering::Release);
    }

    /// Returns the counts per millisecond minus an eighth, or 0 while the rate is unknown.
    ///
    /// The result is the lower of two measurements, so that a jump of the counter during one of them has no effect. Each
    /// measurement errs on the low side, however long the thread was suspended: it counts only what certainly lies
    /// between the two readings of the steady clock.
    fn measure(&self, instruments: &impl Instruments) -> u64 {
        let before = instruments.counter();
        let steady = instruments.steady();
        let after = instruments.counter();
        let last = self.refresh.steady.load(Ordering::Relaxed);
        let elapsed = steady.wrapping_sub(last);
        if last != 0 && elapsed < Self::INTERVAL {
            return self.refresh.rate.load(Ordering::Relaxed);
        }
        let counted = before.wrapping_sub(self.refresh.counter.load(Ordering::Relaxed));
        let measured = u128::from(counted) * u128::from(MS) / u128::from(elapsed.max(1));
        let measured = u64::try_from(measured)
            .ok()
            .filter(|measured| last != 0 && Self::RATES.contains(measured))
            .unwrap_or(0);
        let rate = measured.min(self.refresh.measured.load(Ordering::Relaxed)) / 8 * 7;
        self.refresh.counter.store(after, Ordering::Relaxed);
        self.refresh.steady.store(steady, Ordering::Relaxed);
        self.refresh.measured.store(measured, Ordering::Relaxed);
        self.refresh.rate.store(rate, Ordering::Relaxed);
        rate
    }
}
