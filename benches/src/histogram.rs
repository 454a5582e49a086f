//! A histogram of durations whose buckets are at most a 64th as wide as their values.

use std::time::Duration;

pub(crate) struct Histogram {
    counts: Vec<u64>,
    longest: Duration,
}

impl Histogram {
    /// Nanoseconds below which every value has its own bucket.
    const EXACT: u64 = 64;
    const BITS: u32 = Self::EXACT.ilog2();

    pub(crate) fn new() -> Self {
        Self { counts: vec![0; Self::bucket(u64::MAX) + 1], longest: Duration::ZERO }
    }

    #[inline]
    pub(crate) fn record(&mut self, took: Duration) {
        self.counts[Self::bucket(took.as_nanos() as u64)] += 1;
        self.longest = self.longest.max(took);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (count, others) in self.counts.iter_mut().zip(&other.counts) {
            *count += others;
        }
        self.longest = self.longest.max(other.longest);
    }

    /// Returns the number of calls.
    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(crate) const fn longest(&self) -> Duration {
        self.longest
    }

    /// Returns the duration that this share of the calls did not exceed.
    pub(crate) fn percentile(&self, share: f64) -> Option<Duration> {
        self.percentile_from(Duration::ZERO, share)
    }

    /// Returns the duration that this share of the calls of about `least` or longer did not exceed, or `None` if there
    /// were no such calls.
    pub(crate) fn percentile_from(&self, least: Duration, share: f64) -> Option<Duration> {
        let first = Self::bucket(least.as_nanos() as u64);
        let total: u64 = self.counts[first..].iter().sum();
        let wanted = total as f64 * share;
        let mut seen = 0;
        let bucket = self.counts[first..].iter().position(|&count| {
            seen += count;
            count > 0 && seen as f64 >= wanted
        })?;
        Some(Duration::from_nanos(Self::highest(first + bucket)).min(self.longest))
    }

    #[inline]
    const fn bucket(nanoseconds: u64) -> usize {
        if nanoseconds < Self::EXACT {
            return nanoseconds as usize;
        }
        let shift = nanoseconds.ilog2() - Self::BITS;
        let within = (nanoseconds >> shift) & (Self::EXACT - 1);
        (((shift as u64 + 1) << Self::BITS) | within) as usize
    }

    /// Returns the largest number in a bucket.
    const fn highest(bucket: usize) -> u64 {
        let bucket = bucket as u64;
        if bucket < Self::EXACT {
            return bucket;
        }
        let shift = (bucket >> Self::BITS) - 1;
        let first = (Self::EXACT | (bucket & (Self::EXACT - 1))) << shift;
        first + ((1 << shift) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanoseconds(from: u64, to: u64) -> Histogram {
        let mut histogram = Histogram::new();
        for nanoseconds in from..=to {
            histogram.record(Duration::from_nanos(nanoseconds));
        }
        histogram
    }

    #[test]
    fn bucket_rounds_numbers_up_by_at_most_a_64th() {
        for number in (0..100_000).chain([u64::MAX - 1, u64::MAX]) {
            let bucket = Histogram::bucket(number);
            let highest = Histogram::highest(bucket);
            assert!(highest >= number && highest - number <= number / 64, "{number}: {highest}");
            assert_eq!(Histogram::bucket(highest), bucket);
            assert!(bucket == 0 || Histogram::highest(bucket - 1) < number);
        }
    }

    #[test]
    fn histogram_percentiles_match_exact_values_within_a_64th() {
        let histogram = nanoseconds(1, 10_000);
        for (share, exact) in [(0.5, 5_000), (0.99, 9_900), (0.999, 9_990), (1.0, 10_000)] {
            let found = histogram.percentile(share).expect("not empty").as_nanos();
            assert!(found >= exact && found - exact <= exact / 64, "{share}: {found}");
        }
        assert_eq!(histogram.longest(), Duration::from_micros(10));
    }

    #[test]
    fn percentile_of_calls_above_a_threshold_ignores_shorter_calls() {
        let mut histogram = nanoseconds(1, 1_000);
        histogram.merge(&nanoseconds(50_000, 50_000));
        let waited = |share| histogram.percentile_from(Duration::from_micros(40), share);
        assert_eq!(waited(0.5), Some(Duration::from_micros(50)));
        assert_eq!(Histogram::new().percentile(0.5), None);
    }
}
