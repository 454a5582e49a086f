//! A histogram over time with a fixed number of periods, which become longer as the covered range of time grows.

use alloc::vec;
use alloc::vec::Vec;

/// Counts of events by time.
#[derive(Clone, Debug)]
pub(super) struct History {
    counts: Vec<u64>,
    /// The number of periods between 1970 and the first period. Periods are counted from 1970, so that their
    /// beginnings do not depend on the first event.
    first: i64,
    period_ms: i64,
    /// The index and the beginning of the period that contains the most recently counted event. `add` checks this
    /// period first, because the next event is usually in the same period.
    last: (usize, i64),
}

impl History {
    /// The number of periods: a power of two, so that periods can be merged in pairs.
    const PERIODS: usize = 1 << 10;

    pub(super) fn new() -> Self {
        Self { counts: vec![0; Self::PERIODS], first: 0, period_ms: 0, last: (0, i64::MAX) }
    }

    /// Counts an event at the given time, in Unix milliseconds.
    #[inline]
    pub(super) fn add(&mut self, unix_ms: i64) {
        let (place, begin) = self.last;
        if begin <= unix_ms && unix_ms.abs_diff(begin) < self.period_ms.cast_unsigned() {
            self.counts[place] += 1;
        } else {
            self.add_elsewhere(unix_ms);
        }
    }

    #[inline(never)]
    fn add_elsewhere(&mut self, unix_ms: i64) {
        if self.period_ms == 0 {
            // The first event is counted in the middle period, because later calls may add earlier or later events.
            self.period_ms = 1000;
            self.first = unix_ms.div_euclid(1000) - (Self::PERIODS / 2) as i64;
        }
        loop {
            let period = unix_ms.div_euclid(self.period_ms);
            let place = period.wrapping_sub(self.first);
            match usize::try_from(place) {
                Ok(at) if at < self.counts.len() => {
                    self.counts[at] += 1;
                    self.last = (at, period.saturating_mul(self.period_ms));
                    return;
                }
                _ => self.double(place < 0),
            }
        }
    }

    /// Doubles the length of the periods, to make room before or after the existing periods.
    #[cold]
    fn double(&mut self, before: bool) {
        let most = Self::PERIODS as i64;
        let start = self.first.div_euclid(2);
        // If room is needed before the existing periods, the merged periods move to the second half of the list.
        // Otherwise, the merged periods move to the first half.
        let shift = if before { most / 2 - 1 } else { 0 };
        let first = start - shift;
        let mut joined = vec![0; Self::PERIODS];
        for (place, count) in self.counts.iter().enumerate() {
            let period = (self.first + place as i64).div_euclid(2);
            if let Some(sum) =
                usize::try_from(period - first).ok().and_then(|at| joined.get_mut(at))
            {
                *sum += count;
            }
        }
        (self.counts, self.first, self.period_ms) =
            (joined, first, self.period_ms.saturating_mul(2));
    }

    /// The length of a period in milliseconds; 0 if no event was counted.
    pub(super) const fn period_ms(&self) -> i64 {
        self.period_ms
    }

    /// Returns the periods from the first to the last non-empty period. Each item contains the beginning of a period,
    /// in Unix milliseconds, and the number of events in the period.
    pub(super) fn periods(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        let begin = self.counts.iter().position(|count| *count > 0).unwrap_or(0);
        let end = self.counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        (begin..end).map(|place| {
            ((self.first + place as i64).saturating_mul(self.period_ms), self.counts[place])
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn history_counts_every_event_in_its_period(
            times in proptest::collection::vec(-1_000_000_000_000_i64..4_000_000_000_000, 1..200),
            near in proptest::collection::vec(0_i64..5_000_000, 0..200),
        ) {
            let mut history = History::new();
            let all: Vec<i64> = near.into_iter().chain(times).collect();
            for time in &all {
                history.add(*time);
            }
            let periods: Vec<_> = history.periods().collect();
            let sum: u64 = periods.iter().map(|(_, count)| count).sum();
            prop_assert_eq!(sum, all.len() as u64);
            for (begin, count) in periods {
                let within = all.iter().filter(|time| (begin..begin + history.period_ms()).contains(time));
                prop_assert_eq!(within.count() as u64, count);
            }
        }
    }

    #[test]
    fn history_without_events_has_no_periods() {
        assert_eq!(History::new().periods().count(), 0);
    }
}
