use core::time::Duration;

use crate::clock::ClockSource;
use crate::{CoarseClock, Generator};

/// By how much the coarse clock is late at most: one tick at 100 ticks a second.
const COARSE_LAG_MS: i64 =
    if cfg!(any(target_os = "linux", target_os = "android")) { 10 } else { 0 };

/// Whether an ID's tick is close enough to the clock to be handed out.
pub(super) struct Freshness {
    time_shift: u8,
    unit: i64,
    epoch: i64,
    max_age: i64,
    max_ahead: i64,
    /// Age is judged by the coarse clock: a few nanoseconds instead of a few dozen.
    coarse: bool,
}

/// Two readings between which the clock stands.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    earliest: i64,
    latest: i64,
}

pub(super) enum Verdict {
    Fresh,
    Stale,
    /// The clock has gone back since the ID was made, by this much more than it may be ahead.
    Early(Duration),
}

impl Freshness {
    pub(super) fn new(generator: &Generator, max_age: Duration) -> Self {
        let layout = generator.layout();
        let unit = layout.unit_ms().cast_signed();
        let max_age = i64::try_from(max_age.as_millis()).unwrap_or(i64::MAX);
        Self {
            time_shift: layout.spans().0.shift,
            unit,
            epoch: layout.epoch(),
            max_age,
            max_ahead: generator.most_ticks_ahead().cast_signed().saturating_mul(unit),
            coarse: generator.clock.is_system() && max_age >= 4 * COARSE_LAG_MS,
        }
    }

    #[inline]
    pub(super) fn read(&self, clock: &ClockSource) -> Reading {
        if self.coarse {
            let earliest = CoarseClock::now().0;
            Reading { earliest, latest: earliest + COARSE_LAG_MS }
        } else {
            Self::read_exactly(clock)
        }
    }

    fn read_exactly(clock: &ClockSource) -> Reading {
        let now = clock.exact_unix_ms();
        Reading { earliest: now, latest: now }
    }

    /// When the ID's tick began. Time is the most significant field of every layout, so what is
    /// below it is all there is to cut off; the layout's range keeps this within an `i64`.
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
        if self.born(id).saturating_sub(now.earliest) > self.max_ahead {
            return self.judge_early(id, clock);
        }
        Verdict::Fresh
    }

    /// An ID of the present millisecond is ahead of the coarse clock, but not of the exact one.
    #[cold]
    fn judge_early(&self, id: u64, clock: &ClockSource) -> Verdict {
        let now = Self::read_exactly(clock);
        let beyond = self.born(id).saturating_sub(now.earliest).saturating_sub(self.max_ahead);
        if beyond > 0 {
            Verdict::Early(Duration::from_millis(beyond.cast_unsigned()))
        } else {
            Verdict::Fresh
        }
    }
}
