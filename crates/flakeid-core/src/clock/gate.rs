//! The gate of [`GatedClock`](super::GatedClock): it reuses a reading of the system clock until a counter shows that
//! the current millisecond may have ended.

use crate::sync::{AtomicI64, AtomicU64, Ordering};

/// The clocks and the counter that a gate reads.
pub(super) trait Instruments {
    /// Reads a counter that has a constant rate and the same value on every processor.
    fn counter(&self) -> u64;
    /// Reads the system clock: the milliseconds since 1970, and the nanoseconds since the current millisecond began.
    fn wall(&self) -> (i64, u64);
    /// Reads a clock that cannot be set and that keeps running while the machine sleeps. The reading is in nanoseconds.
    fn steady(&self) -> u64;
    /// Returns a nonzero number that identifies this process and differs in a forked child.
    fn process(&self) -> u64;
}

/// The data that readers load. The data has its own cache line, which is written only a few times per millisecond.
#[repr(align(128))]
struct Open {
    /// The time that readers return, in milliseconds, while the counter is 1 to `span` counts below `until`.
    ms: AtomicI64,
    until: AtomicU64,
    span: AtomicU64,
}

/// The data for refreshing the gate.
#[repr(align(128))]
struct Refresh {
    /// The ID of the process whose thread is refreshing the gate, or 0 if no thread is refreshing it. A flag would
    /// not suffice: a child that was forked during a refresh does not contain the refreshing thread, and must be able
    /// to refresh the gate itself.
    holder: AtomicU64,
    /// The values of the counter and the steady clock at the last rate measurement; 0 before the first measurement.
    counter: AtomicU64,
    steady: AtomicU64,
    /// The last measured rate of the counter, in counts per millisecond; 0 if unknown.
    measured: AtomicU64,
    /// The rate that the gate uses: the lower of the last two measured rates, minus an eighth, in counts per
    /// millisecond; 0 if unknown.
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
    /// The number of nanoseconds by which the gate closes early. This margin is needed because the counters of two
    /// processors may differ by this amount, and because a processor may read its counter out of order.
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

    /// Creates a gate with a known counter rate, in counts per millisecond, for the loom models.
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

    /// Returns the system time in milliseconds since 1970.
    #[inline]
    pub(super) fn read(&self, instruments: &impl Instruments) -> i64 {
        let now = instruments.counter();
        // The load has acquire ordering, so that the value of `ms` that is loaded later is at least as new as
        // `until`.
        let until = self.open.until.load(Ordering::Acquire);
        // The difference `until - now` must be in `1..=span`. Otherwise, the gate could return an old millisecond
        // after the counter was set back.
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
        // The instruments are read after `enter`, so that the readings are at least as recent as the previously
        // published values. The counter is read first, so that the real end of the millisecond is later than the
        // published end.
        let before = instruments.counter();
        let (ms, past) = instruments.wall();
        let rate = self.measure(instruments);
        let left = MS.saturating_sub(past).saturating_sub(Self::MARGIN);
        // `until` is stored last, so that a reader that loads the new `until` also loads the new `ms`. A reader that
        // loads the new `ms` with the old `until` is still not ahead of the clock.
        self.open.ms.store(ms, Ordering::Relaxed);
        self.open.span.store(rate, Ordering::Relaxed);
        self.open.until.store(before.wrapping_add(left * rate / MS), Ordering::Release);
        self.leave();
        ms
    }

    /// Tries to claim the refresh of the gate for this thread, and returns whether the thread may refresh the gate.
    /// The other threads do not wait for the refreshing thread, because that thread may be suspended.
    fn enter(&self, process: u64) -> bool {
        let holder = self.refresh.holder.load(Ordering::Relaxed);
        // The exchange has acquire ordering, so that the stores of the previous refresh are visible.
        holder != process
            && self
                .refresh
                .holder
                .compare_exchange(holder, process, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// Simulates, for the tests, a thread of `process` that never finishes a refresh.
    #[cfg(all(test, not(loom)))]
    pub(super) fn hold(&self, process: u64) {
        self.refresh.holder.store(process, Ordering::Relaxed);
    }

    fn leave(&self) {
        self.refresh.holder.store(0, Ordering::Release);
    }

    /// Returns the rate of the counter in counts per millisecond, reduced by an eighth, or 0 while the rate is
    /// unknown.
    ///
    /// The result is the lower of two measurements, so that a counter jump during one measurement has no effect. A
    /// measurement is never too high, even if the thread was suspended, because it includes only counts that
    /// certainly lie between the two readings of the steady clock.
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
