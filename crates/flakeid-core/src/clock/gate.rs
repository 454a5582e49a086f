//! The millisecond of the system's clock, believed until a counter says that it can have ended.

use crate::sync::{AtomicI64, AtomicU64, Ordering};

/// What a gate reads.
pub(super) trait Instruments {
    /// A counter at a constant rate, the same on every processor.
    fn counter(&self) -> u64;
    /// The system's clock: milliseconds since 1970, and the nanoseconds of the present one.
    fn wall(&self) -> (i64, u64);
    /// Nanoseconds on a clock that nobody sets, and that goes on while the machine sleeps.
    fn steady(&self) -> u64;
    /// This process, not 0: a forked child has another one.
    fn process(&self) -> u64;
}

/// What readers look at, on a line that is written a few times a millisecond.
#[repr(align(128))]
struct Open {
    /// While the counter is at most `span` before `until`, the clock reads `ms`.
    ms: AtomicI64,
    until: AtomicU64,
    span: AtomicU64,
}

/// What the thread that refreshes looks at.
#[repr(align(128))]
struct Refresh {
    /// The process of that thread; 0 if there is none. Names the process so that a child that was
    /// forked meanwhile, where that thread does not exist, is not kept out for ever.
    holder: AtomicU64,
    /// Counter and steady clock when the rate was measured last; 0 before the first time.
    counter: AtomicU64,
    steady: AtomicU64,
    /// The last measurement, and the lower of the last two: counts per millisecond, 0 if unknown.
    measured: AtomicU64,
    rate: AtomicU64,
}

pub(super) struct Gate {
    open: Open,
    refresh: Refresh,
}

const MS: u64 = 1_000_000;

impl Gate {
    /// The rate is measured over at least this many nanoseconds.
    const INTERVAL: u64 = 10 * MS;
    /// The gate closes this many nanoseconds early: by so much counters of two processors may
    /// differ, and a processor may read its counter before its turn.
    const MARGIN: u64 = 1_000;
    /// Counts per millisecond of any processor; whatever else is measured is none.
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

    /// A gate whose counter is known to count so many a millisecond, for the models.
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

    /// The system's clock in milliseconds since 1970.
    #[inline]
    pub(super) fn read(&self, instruments: &impl Instruments) -> i64 {
        let now = instruments.counter();
        // Acquire: `ms` is at least as new as this.
        let until = self.open.until.load(Ordering::Acquire);
        // `1..=span`, so that a counter that was set back does not revive an old millisecond.
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
        // Inside, so that it is not older than what was published before; and the counter first,
        // so that the millisecond ends later than it is said to.
        let before = instruments.counter();
        let (ms, past) = instruments.wall();
        let rate = self.measure(instruments);
        let left = MS.saturating_sub(past).saturating_sub(Self::MARGIN);
        // In this order: who sees the new end sees the new millisecond. Who sees the new
        // millisecond with the old end is early, but not ahead of the clock.
        self.open.ms.store(ms, Ordering::Relaxed);
        self.open.span.store(rate, Ordering::Relaxed);
        self.open.until.store(before.wrapping_add(left * rate / MS), Ordering::Release);
        self.leave();
        ms
    }

    /// Whether this thread may refresh. Nobody waits for that: it would be for a thread that may
    /// not be running.
    fn enter(&self, process: u64) -> bool {
        let holder = self.refresh.holder.load(Ordering::Relaxed);
        // Acquire: what the last one did comes before this.
        holder != process
            && self
                .refresh
                .holder
                .compare_exchange(holder, process, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// As if a thread of `process` were refreshing and never got on with it, for the tests.
    #[cfg(all(test, not(loom)))]
    pub(super) fn hold(&self, process: u64) {
        self.refresh.holder.store(process, Ordering::Relaxed);
    }

    fn leave(&self) {
        self.refresh.holder.store(0, Ordering::Release);
    }

    /// Counts per millisecond, an eighth too few; 0 while that is not known.
    ///
    /// The lower of two measurements, so that a counter that jumped in one is outvoted by the
    /// other. Each is too low rather than too high, however long the thread was kept from running
    /// in between: counted is what certainly lies between the two looks at the steady clock.
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
