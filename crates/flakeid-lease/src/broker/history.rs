//! The broker's part in the store's history: what it hands over, and what it answers about who had a
//! node.

use super::blocks::Blocks;
use super::handle::Broker;
use super::unrecorded::sub_grant_of;
use crate::protocol::{Client, Handover, Row, State, SubGrant};
use crate::store::Fault;
use crate::store::operations::{self, PastHolder};

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

    fn row(&self, node: u64) -> Option<&Row> {
        self.held.get(&(node >> self.block_bits))?.row(node)
    }
}

impl Broker {
    /// Who had a node at a tick: by the store's history, and where its own latest grants are not there
    /// yet, by what it remembers. Connects to the store and waits for it.
    ///
    /// # Errors
    /// [`Fault::Rejected`] in a forked child; the store's fault.
    pub fn whois(&self, node: u64, tick: u64) -> Result<Option<PastHolder>, Fault> {
        let own = self.own_client(node, tick)?;
        let mut store = self.open_store()?;
        let found = operations::whois(&mut *store, &self.namespace().name, node, tick)?;
        Ok(found.map(|found| match (own, &found.client) {
            (Some((own, fence)), Some(Client::Unrecorded)) => {
                let sub_grant = SubGrant { block_grant: found.record.grant, ..own };
                PastHolder { client: Some(Client::Known { sub_grant, fence }), ..found }
            }
            _ => found,
        }))
    }

    /// Whether a node is still held under this broker's grant that starts at a tick.
    ///
    /// # Errors
    /// [`Fault::Rejected`] in a forked child.
    pub fn is_held(&self, node: u64, start: u64) -> Result<bool, Fault> {
        let now = self.unix_ms();
        let state = self.state()?;
        let row = state.blocks.row(node);
        Ok(row
            .is_some_and(|row| row.start == start && row.state == State::Held && row.expires > now))
    }

    /// To whom it has granted a node in a window that a tick is in, and the fence of that window.
    fn own_client(&self, node: u64, tick: u64) -> Result<Option<(SubGrant, u64)>, Fault> {
        let state = self.state()?;
        let row = state.blocks.row(node).filter(|row| (row.start..row.fence).contains(&tick));
        Ok(row.map(|row| (sub_grant_of(row), row.fence)))
    }
}
