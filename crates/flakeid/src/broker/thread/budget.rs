//! The rate limit for grants that a broker writes to the store's history.

use std::time::Instant;

/// The largest number of grants that a broker writes per second, for all its blocks together. Without this limit, the
/// simultaneous start of a whole fleet would add hundreds of grants to each renewal. These grants would delay the
/// renewals on which the fleet depends.
const MOST_PER_SECOND: f64 = 1_000.0;

/// The number of grants that the broker may write at this time.
#[derive(Debug)]
pub(super) struct Budget {
    left: f64,
    counted: Instant,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { left: MOST_PER_SECOND, counted: Instant::now() }
    }

    /// Returns the number of grants that the broker may write at this time.
    pub(super) fn left(&mut self, now: Instant) -> usize {
        let seconds = now.saturating_duration_since(self.counted).as_secs_f64();
        self.counted = now;
        self.left = (self.left + seconds * MOST_PER_SECOND).min(MOST_PER_SECOND);
        self.left.max(0.0) as usize
    }

    pub(super) fn spend(&mut self, grants: usize) {
        self.left -= grants as f64;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn grant_budget_refills_with_time_up_to_its_maximum() {
        let mut budget = Budget::new();
        let begun = budget.counted;
        assert_eq!(budget.left(begun), 1_000);
        budget.spend(256);
        assert_eq!(budget.left(begun), 744);
        budget.spend(1_000);
        assert_eq!(budget.left(begun + Duration::from_millis(100)), 0, "repeated grants count");
        assert_eq!(budget.left(begun + Duration::from_millis(600)), 344);
        assert_eq!(budget.left(begun + Duration::from_secs(3_600)), 1_000);
    }
}
