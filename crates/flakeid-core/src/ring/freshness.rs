use core::time::Duration;

use crate::clock::ClockSource;
use crate::sync::{AtomicU64, Ordering};
use crate::{CoarseClock, Generator};

/// Whether an ID's tick is close enough to the clock to be handed out.
pub(super) struct Freshness {
    time_shift: u8,
    unit: i64,
    epoch: i64,
    max_age: i64,
    max_ahead: i64,
    /// Age is judged by the coarse clock: a few nanoseconds instead of a few dozen.
    coarse: bool,
    /// The exact reading made last: by how many milliseconds it was ahead of the coarse one, below
    /// the lower half of the coarse one's mark. It holds as long as that clock has not moved, and
    /// IDs of the present milliseconds need no exact reading each.
    confirmed: AtomicU64,
}

/// Two readings between which the clock stands.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    earliest: i64,
    latest: i64,
    /// The coarse clock's, if it is that one's.
    mark: Option<u32>,
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
            coarse: generator.clock.is_system() && max_age >= 4 * CoarseClock::LAG_MS,
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
        let ahead = self.born(id).saturating_sub(now.earliest);
        if ahead > self.max_ahead && !self.is_confirmed(ahead - self.max_ahead, now) {
            return self.judge_early(id, now, clock);
        }
        Verdict::Fresh
    }

    /// Whether the exact clock was seen so far ahead of this coarse reading.
    #[inline]
    fn is_confirmed(&self, ahead: i64, coarse: Reading) -> bool {
        // Relaxed: one word, complete in itself.
        let confirmed = self.confirmed.load(Ordering::Relaxed);
        coarse.mark == Some((confirmed >> 32) as u32) && ahead <= i64::from(confirmed as u32)
    }

    /// An ID of the present millisecond is ahead of the coarse clock, but not of the exact one.
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
