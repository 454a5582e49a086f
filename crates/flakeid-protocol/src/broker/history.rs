//! The grants that a broker hands over to the store's history.

use super::Blocks;
use crate::{Handover, Row};

impl Blocks {
    /// Returns the blocks with the history enabled, so that grants are kept until they are handed over to the store.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        self.is_recorded = true;
        self
    }

    /// Returns the grants that the broker hands over to the store's history when it next renews the block: at most
    /// `most` grants and never more than 256. `now` is the time on the broker's clock. The result stays the same until
    /// [`confirm_history`](Self::confirm_history) is called, because a renewal without a response is sent again.
    pub fn hand_over(&mut self, block: u64, now: i64, most: usize) -> Handover {
        // The history can be complete only up to this tick, because later ticks may still be granted to holders whose
        // clocks are behind the broker's clock.
        let max_skew_ms = i64::try_from(self.namespace.bounds.max_skew_ms).unwrap_or(i64::MAX);
        let until = self.namespace.layout.tick_at(now.saturating_sub(max_skew_ms)).unwrap_or(0);
        self.held.get_mut(&block).map(|block| block.hand_over(until, most)).unwrap_or_default()
    }

    /// Returns the grants that the broker hands over to the store's history when it releases the block: all grants that
    /// were sent but not confirmed, and at most `most` new grants. The number of new grants never exceeds 1,024.
    pub fn hand_over_last(&mut self, block: u64, most: usize) -> Handover {
        self.held.get_mut(&block).map(|block| block.hand_over_last(most)).unwrap_or_default()
    }

    /// Records that the store has written the grants that were handed over for a block. The store's history of the
    /// block is then complete up to the tick `history_until`.
    pub fn confirm_history(&mut self, block: u64, history_until: u64) {
        if let Some(block) = self.held.get_mut(&block) {
            block.confirm_history(history_until);
        }
    }

    /// The number of grants that were dropped before the store's history contained them, because their block was lost.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the row of a node, or `None` if the broker does not hold the node's block or has not granted the node.
    #[must_use]
    pub fn row(&self, node: u64) -> Option<&Row> {
        self.held.get(&(node >> self.block_bits))?.row(node)
    }
}
