//! The grants that a broker hands over to the store's history.

use super::Blocks;
use crate::{Handover, Row};

impl Blocks {
    /// Creates an empty set of blocks, like [`new`](Self::new), for a store that keeps a history.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        self.is_recorded = true;
        self
    }

    /// Returns the grants for the store's history in the next renewal of a block at the time `now` of the broker's clock: at
    /// most `most` grants, and never more than 256. The result stays the same until
    /// [`confirm_history`](Self::confirm_history), because a renewal without a response is sent again.
    pub fn hand_over(&mut self, block: u64, now: i64, most: usize) -> Handover {
        // Holders' clocks may be behind the broker's.
        let max_skew_ms = i64::try_from(self.namespace.bounds.max_skew_ms).unwrap_or(i64::MAX);
        let until = self.namespace.layout.tick_at(now.saturating_sub(max_skew_ms)).unwrap_or(0);
        self.held.get_mut(&block).map(|block| block.hand_over(until, most)).unwrap_or_default()
    }

    /// Returns the grants for the store's history in the release of a block: at most `most` grants, and never more than 1,024
    /// besides the grants that were sent before.
    pub fn hand_over_last(&mut self, block: u64, most: usize) -> Handover {
        self.held.get_mut(&block).map(|block| block.hand_over_last(most)).unwrap_or_default()
    }

    /// Notes that the store has the grants of a block that were handed over, and all its grants up to a tick.
    pub fn confirm_history(&mut self, block: u64, history_until: u64) {
        if let Some(block) = self.held.get_mut(&block) {
            block.confirm_history(history_until);
        }
    }

    /// The number of grants that the store's history will never have, because too many were waiting or their block was lost.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the row of a node, if the broker holds its block and has granted the node.
    #[must_use]
    pub fn row(&self, node: u64) -> Option<&Row> {
        self.held.get(&(node >> self.block_bits))?.row(node)
    }
}
