//! The broker's answers about earlier holders of a node.

use super::handle::Broker;
use flakeid_protocol::broker::sub_grant_of;
use flakeid_protocol::operations::{self, PastHolder};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Client, State, SubGrant};

impl Broker {
    /// Returns the holder of a node at a tick from the store's history, or from the broker's memory for its latest
    /// grants, which the history does not contain yet. Connects to the store and waits for it.
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

    /// Returns the broker's grant of a node whose window contains a tick, and the fence of that window.
    fn own_client(&self, node: u64, tick: u64) -> Result<Option<(SubGrant, u64)>, Fault> {
        let state = self.state()?;
        let row = state.blocks.row(node).filter(|row| (row.start..row.fence).contains(&tick));
        Ok(row.map(|row| (sub_grant_of(row), row.fence)))
    }
}
