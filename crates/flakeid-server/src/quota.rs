//! A limit on the number of nodes that each client holds at the same time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use flakeid::broker::Broker;
use flakeid_protocol::Token;

use crate::rate::Sender;

/// The leases of a client in one namespace, by place: the node and the token, or `None` while the grant is being requested.
/// The key is not the token, because clients choose their tokens.
type Leases = HashMap<u64, Option<(u64, Token)>>;

/// The quotas of the clients of all brokers of a server.
#[derive(Debug, Default)]
pub(crate) struct Quotas {
    /// The largest number of leases of one client, or `None` for seven eighths of the namespace's nodes.
    pub(crate) most: Option<u64>,
    held: Mutex<HashMap<(String, Sender), Leases>>,
    places: AtomicU64,
}

/// A place in a client's quota, which becomes free again unless a node is granted.
pub(crate) struct Place<'a> {
    quotas: &'a Quotas,
    client: (String, Sender),
    number: u64,
}

impl Quotas {
    /// Reserves a place for a grant.
    ///
    /// # Errors
    /// The largest number of leases of one client, if the client holds that many.
    pub(crate) fn enter(&self, broker: &Broker, sender: Sender) -> Result<Place<'_>, u64> {
        let nodes = broker.layout().max_node().saturating_add(1);
        let most = self.most.unwrap_or_else(|| nodes - nodes / 8);
        let client = (broker.namespace().name.clone(), sender);
        let mut held = self.lock();
        let leases = held.entry(client.clone()).or_default();
        if leases.len() as u64 >= most {
            leases
                .retain(|_, lease| lease.is_none_or(|(node, token)| is_live(broker, node, token)));
        }
        if leases.len() as u64 >= most {
            return Err(most);
        }
        let number = self.places.fetch_add(1, Ordering::Relaxed);
        leases.insert(number, None);
        Ok(Place { quotas: self, client, number })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, Sender), Leases>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// Keeps the place until the lease of the node ends. A repeated request, whose first response was lost, gets the
    /// same lease, which counts once.
    pub(crate) fn keep(&self, node: u64, token: Token) {
        let lease = Some((node, token));
        if let Some(leases) = self.quotas.lock().get_mut(&self.client)
            && !leases.values().any(|held| *held == lease)
        {
            leases.insert(self.number, lease);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut held = self.quotas.lock();
        let Some(leases) = held.get_mut(&self.client) else { return };
        if leases.get(&self.number) == Some(&None) {
            leases.remove(&self.number);
        }
        if leases.is_empty() {
            held.remove(&self.client);
        }
    }
}

/// Whether the broker still counts the node as held by the grant with this token.
fn is_live(broker: &Broker, node: u64, token: Token) -> bool {
    let rows = broker.rows(node, 1).unwrap_or_default();
    rows.first().is_some_and(|row| {
        row.node == node
            && row.token.is_some_and(|held| held.is_same_grant(token))
            && row.expires > broker.unix_ms()
    })
}
