//! How many grants a broker hands over to the store's history.

use std::time::Instant;

/// For all blocks of a broker together. A fleet that starts at once must not keep the renewals of its blocks
/// waiting, on which it depends: the store would have to write hundreds of rows in each.
const MOST_PER_SECOND: f64 = 1_000.0;

/// What may be handed over by now.
#[derive(Debug)]
pub(super) struct Budget {
    left: f64,
    counted: Instant,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { left: MOST_PER_SECOND, counted: Instant::now() }
    }

    /// How many grants there may be now.
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
    fn it_is_filled_with_time_and_no_more() {
        let mut budget = Budget::new();
        let begun = budget.counted;
        assert_eq!(budget.left(begun), 1_000);
        budget.spend(256);
        assert_eq!(budget.left(begun), 744);
        budget.spend(1_000);
        assert_eq!(
            budget.left(begun + Duration::from_millis(100)),
            0,
            "what was sent again counts"
        );
        assert_eq!(budget.left(begun + Duration::from_millis(600)), 344);
        assert_eq!(budget.left(begun + Duration::from_secs(3_600)), 1_000);
    }
}
