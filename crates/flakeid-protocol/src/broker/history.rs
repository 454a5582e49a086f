//! The broker's part in the store's history: what it hands over.

use super::Blocks;
use crate::{Handover, Row};

impl Blocks {
    /// As [`new`](Self::new), for a store that keeps a history.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        self.is_recorded = true;
        self
    }

    /// What goes into the store's history with the next renewal of a block, which is made by the broker's
    /// clock `now`: `most` grants at most, and never more than 256. Until [`confirm_history`](Self::confirm_history) it is the same, because a renewal
    /// without an answer is sent again.
    pub fn hand_over(&mut self, block: u64, now: i64, most: usize) -> Handover {
        // Holders' clocks may be behind the broker's.
        let max_skew_ms = i64::try_from(self.namespace.bounds.max_skew_ms).unwrap_or(i64::MAX);
        let until = self.namespace.layout.tick_at(now.saturating_sub(max_skew_ms)).unwrap_or(0);
        self.held.get_mut(&block).map(|block| block.hand_over(until, most)).unwrap_or_default()
    }

    /// What goes into the store's history when a block is given back: `most` grants at most, and never
    /// more than 1,024 besides those that were sent before.
    pub fn hand_over_last(&mut self, block: u64, most: usize) -> Handover {
        self.held.get_mut(&block).map(|block| block.hand_over_last(most)).unwrap_or_default()
    }

    /// The store has what was handed over of a block, and has all its grants up to a tick.
    pub fn confirm_history(&mut self, block: u64, history_until: u64) {
        if let Some(block) = self.held.get_mut(&block) {
            block.confirm_history(history_until);
        }
    }

    /// How many grants are missing in the store's history for ever: too many were waiting, or their block
    /// was lost.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The row of a node, if its block is held and it was granted.
    #[must_use]
    pub fn row(&self, node: u64) -> Option<&Row> {
        self.held.get(&(node >> self.block_bits))?.row(node)
    }
}
