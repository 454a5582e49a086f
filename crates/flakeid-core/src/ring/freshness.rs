use core::time::Duration;

use crate::CoarseClock;
use crate::clock::ClockSource;
use crate::generator::Tenure;
use crate::sync::{AtomicU64, Ordering};

/// The rule that decides whether the tick of an ID is close enough to the clock for the ID to be issued.
pub(super) struct Freshness {
    time_shift: u8,
    unit: i64,
    epoch: i64,
    max_age: i64,
    max_ahead: i64,
    /// Whether the age of an ID is measured with the coarse clock. Reading the coarse clock takes a few nanoseconds,
    /// and reading the exact clock takes a few dozen nanoseconds.
    coarse: bool,
    /// The last reading of the exact clock, packed into one integer. The upper 32 bits are the lower 32 bits of the
    /// coarse clock's mark, which changes with each tick of the coarse clock. The lower 32 bits are the number of
    /// milliseconds by which the exact clock was ahead of the coarse clock. The reading is valid until the coarse clock
    /// changes, so that one exact reading suffices for many IDs.
    confirmed: AtomicU64,
}

/// A clock reading: a lower bound and an upper bound on the current time.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    earliest: i64,
    latest: i64,
    /// The lower half of the coarse clock's mark, if the reading is from the coarse clock.
    mark: Option<u32>,
}

pub(super) enum Verdict {
    Fresh,
    Stale,
    /// The ID is too far ahead of the clock, because the clock went backwards after the ID was generated. The duration
    /// is the time by which the ID exceeds the limit.
    Early(Duration),
}

impl Freshness {
    pub(super) fn new(tenure: &Tenure, max_age: Duration) -> Self {
        let layout = tenure.layout();
        let unit = layout.unit_ms().cast_signed();
        let max_age = i64::try_from(max_age.as_millis()).unwrap_or(i64::MAX);
        Self {
            time_shift: layout.spans().0.shift,
            unit,
            epoch: layout.epoch(),
            max_age,
            max_ahead: tenure.most_ticks_ahead().cast_signed().saturating_mul(unit),
            coarse: tenure.clock.is_system() && max_age >= 4 * CoarseClock::LAG_MS,
            confirmed: AtomicU64::new(0),
        }
    }

    #[inline]
    pub(super) fn read(&self, clock: &ClockSource) -> Reading {
        if self.coarse {
            let (earliest, mark) = CoarseClock::now();
            Reading { earliest, latest: earliest + CoarseClock::LAG_MS, mark: Some(mark as u32) }
        } else {
            Self::read_exactly(clock)
        }
    }

    fn read_exactly(clock: &ClockSource) -> Reading {
        let now = clock.exact_unix_ms();
        Reading { earliest: now, latest: now, mark: None }
    }

    /// Returns the beginning of the ID's tick, in Unix milliseconds. A shift extracts the tick, because time is the
    /// most significant field of every layout. The result fits into an `i64`, because the horizon of every layout fits
    /// into an `i64`.
    #[inline]
    fn born(&self, id: u64) -> i64 {
        self.epoch + (id >> self.time_shift).cast_signed() * self.unit
    }

    #[inline]
    pub(super) fn is_stale(&self, id: u64, now: Reading) -> bool {
        now.latest.saturating_sub(self.born(id)) > self.max_age
    }

    #[inline]
    pub(super) fn judge(&self, id: u64, now: Reading, clock: &ClockSource) -> Verdict {
        if self.is_stale(id, now) {
            return Verdict::Stale;
        }
        let ahead = self.born(id).saturating_sub(now.earliest);
        if ahead > self.max_ahead && !self.is_confirmed(ahead - self.max_ahead, now) {
            return self.judge_early(id, now, clock);
        }
        Verdict::Fresh
    }

    /// Whether the last exact reading confirmed that the exact clock was at least `ahead` milliseconds ahead of the
    /// coarse reading.
    #[inline]
    fn is_confirmed(&self, ahead: i64, coarse: Reading) -> bool {
        // A relaxed load suffices, because the integer does not refer to any other memory.
        let confirmed = self.confirmed.load(Ordering::Relaxed);
        coarse.mark == Some((confirmed >> 32) as u32) && ahead <= i64::from(confirmed as u32)
    }

    /// Checks an ID against the exact clock if the ID is too far ahead of the coarse clock. Even an ID of the current
    /// millisecond can be ahead of the coarse clock.
    #[cold]
    fn judge_early(&self, id: u64, coarse: Reading, clock: &ClockSource) -> Verdict {
        let now = Self::read_exactly(clock).earliest;
        let beyond = self.born(id).saturating_sub(now).saturating_sub(self.max_ahead);
        if beyond > 0 {
            return Verdict::Early(Duration::from_millis(beyond.cast_unsigned()));
        }
        let lead = u32::try_from(now.saturating_sub(coarse.earliest)).unwrap_or(0);
        if let Some(mark) = coarse.mark {
            let confirmed = u64::from(mark) << 32 | u64::from(lead);
            self.confirmed.store(confirmed, Ordering::Relaxed);
        }
        Verdict::Fresh
    }
}
