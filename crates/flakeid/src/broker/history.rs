//! Methods of a broker that find the holder of a node at a given tick.

use super::handle::Broker;
use flakeid_protocol::broker::sub_grant_of;
use flakeid_protocol::operations::{self, PastHolder};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Client, State, SubGrant};

impl Broker {
    /// Returns the process that held a node at a tick, according to the store's history. If the history does not
    /// contain the grant yet, uses the broker's memory. Connects to the store and waits for the response.
    ///
    /// # Errors
    /// [`Fault::Rejected`] in a forked child; another [`Fault`] if the store fails.
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

    /// Whether a node's current grant from this broker starts at the tick `start` and has not ended.
    ///
    /// # Errors
    /// [`Fault::Rejected`] in a forked child.
    #[doc(hidden)]
    pub fn is_held(&self, node: u64, start: u64) -> Result<bool, Fault> {
        let now = self.unix_ms();
        let state = self.state()?;
        let row = state.blocks.row(node);
        Ok(row
            .is_some_and(|row| row.start == start && row.state == State::Held && row.expires > now))
    }

    /// Returns the broker's latest grant of a node, and the fence at which the grant's window ends. Returns `None` if
    /// the window does not contain `tick`.
    fn own_client(&self, node: u64, tick: u64) -> Result<Option<(SubGrant, u64)>, Fault> {
        let state = self.state()?;
        let row = state.blocks.row(node).filter(|row| (row.start..row.fence).contains(&tick));
        Ok(row.map(|row| (sub_grant_of(row), row.fence)))
    }
}
