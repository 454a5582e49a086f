//! A limit on the number of nodes that each client holds at the same time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flakeid::broker::Broker;
use flakeid_protocol::Token;

use crate::rate::Sender;

/// The time after which leases that have ended are looked up again while a client is at its limit. Each search visits
/// all nodes of the broker.
const SEARCH_INTERVAL: Duration = Duration::from_secs(2);
/// The time after which leases that have ended are looked up without a client at its limit, to free memory.
const CLEANING_INTERVAL: Duration = Duration::from_secs(60);

/// The quotas of the clients of all brokers of a server.
#[derive(Debug, Default)]
pub(crate) struct Quotas {
    /// The largest number of leases of one client, or `None` for seven eighths of the namespace's nodes.
    pub(crate) most: Option<u64>,
    held: Mutex<HashMap<String, Held>>,
}

/// The leases in one namespace.
#[derive(Debug)]
struct Held {
    by_client: HashMap<Sender, Leases>,
    searched: Instant,
}

/// The leases of a client.
#[derive(Debug, Default)]
struct Leases {
    /// The number of grants that are being requested.
    requested: u64,
    /// The token of each node. It does not identify the lease, because clients choose their tokens.
    nodes: HashMap<u64, Token>,
}

/// A place in a client's quota, which becomes free again unless a node is granted.
pub(crate) struct Place<'a> {
    quotas: &'a Quotas,
    namespace: String,
    sender: Sender,
}

impl Quotas {
    /// Reserves a place for a grant with this token. A client at its limit may repeat a request whose response was lost,
    /// because it gets the same lease.
    ///
    /// # Errors
    /// The largest number of leases of one client, if the client holds that many.
    pub(crate) fn enter(
        &self,
        broker: &Broker,
        sender: Sender,
        token: Token,
    ) -> Result<Place<'_>, u64> {
        let nodes = broker.layout().max_node().saturating_add(1);
        let most = self.most.unwrap_or_else(|| nodes - nodes / 8);
        let namespace = &broker.namespace().name;
        let mut all = self.lock();
        let held = all
            .entry(namespace.clone())
            .or_insert_with(|| Held { by_client: HashMap::new(), searched: Instant::now() });
        let is_full = |held: &Held| {
            held.by_client.get(&sender).is_some_and(|leases| {
                leases.requested + leases.nodes.len() as u64 >= most
                    && !leases.nodes.values().any(|of| of.is_same_grant(token))
            })
        };
        let interval = if is_full(held) { SEARCH_INTERVAL } else { CLEANING_INTERVAL };
        if held.searched.elapsed() >= interval {
            held.forget_ended(broker);
        }
        if is_full(held) {
            return Err(most);
        }
        held.by_client.entry(sender).or_default().requested += 1;
        Ok(Place { quotas: self, namespace: namespace.clone(), sender })
    }

    /// Forgets a lease that its client has released.
    pub(crate) fn release(&self, broker: &Broker, sender: Sender, node: u64) {
        if let Some(held) = self.lock().get_mut(&broker.namespace().name)
            && let Some(leases) = held.by_client.get_mut(&sender)
        {
            leases.nodes.remove(&node);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn forget_ended(&mut self, broker: &Broker) {
        self.searched = Instant::now();
        let now = broker.unix_ms();
        // A broker in a forked child has no leases.
        let rows = broker.rows(0, usize::MAX).unwrap_or_default();
        let rows = rows.iter().filter(|row| row.expires > now);
        let live: HashMap<u64, Token> =
            rows.filter_map(|row| Some((row.node, row.token?))).collect();
        for leases in self.by_client.values_mut() {
            leases.nodes.retain(|node, token| {
                live.get(node).is_some_and(|held| held.is_same_grant(*token))
            });
        }
        self.by_client.retain(|_, leases| leases.requested > 0 || !leases.nodes.is_empty());
    }
}

impl Place<'_> {
    /// Counts the lease of the node until it ends.
    pub(crate) fn keep(&self, node: u64, token: Token) {
        self.change(|leases| {
            leases.nodes.insert(node, token);
        });
    }

    fn change(&self, change: impl FnOnce(&mut Leases)) {
        let mut all = self.quotas.lock();
        let leases =
            all.get_mut(&self.namespace).and_then(|held| held.by_client.get_mut(&self.sender));
        if let Some(leases) = leases {
            change(leases);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.change(|leases| leases.requested = leases.requested.saturating_sub(1));
    }
}
