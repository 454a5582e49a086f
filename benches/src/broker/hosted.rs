//! A broker with its server in this process, and the addresses that its members need.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use flakeid::broker::{Broker, BrokerOptions};
use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_protocol::MemoryStore;
use flakeid_protocol::store::{Fault, Store};
use flakeid_server::{ServeOptions, Service};
use flakeid_stores::Location;

use crate::serving::{self, OurServer};

/// 2^20 nodes: enough for a million processes.
pub(super) const LAYOUT: &str = "t41.n20.s2@1767225600000/1ms";
/// Maximum number of connections of a server: more than any row opens.
const MOST_CONNECTIONS: usize = 100_000;
/// Maximum number of leases per second: more than any row acquires.
const MOST_LEASES: u64 = 1_000_000;

pub(super) fn layout() -> Result<Layout, Box<dyn Error>> {
    Ok(LAYOUT.parse()?)
}

/// Returns the options of a broker for a namespace of blocks.
pub(super) fn options(namespace: &str, block_bits: u32) -> Result<BrokerOptions, Box<dyn Error>> {
    let address = "http://127.0.0.1:1";
    let mut options = BrokerOptions::new(namespace, layout()?, address);
    options.block_bits = Some(block_bits);
    Ok(options)
}

/// Returns a broker on a store in the memory of this process.
pub(super) fn in_memory(options: BrokerOptions) -> Result<Broker, Box<dyn Error>> {
    let store = MemoryStore::new();
    let open = move || Ok::<_, Fault>(Box::new(store.clone()) as Box<dyn Store>);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    Ok(Broker::start_on("memory", open, options, clock)?)
}

/// A broker and its server.
pub(super) struct Hosted {
    pub(super) address: SocketAddr,
    /// Declared first, so that the blocks are released while the store still exists.
    _server: OurServer,
}

impl Hosted {
    /// Starts a broker on the store at a location, or on a store in memory if there is no location.
    pub(super) fn start(
        location: Option<&Location>,
        options: BrokerOptions,
    ) -> Result<Self, Box<dyn Error>> {
        let listener = serving::listener()?;
        let address = serving::address_of(&listener)?;
        let mut options = options;
        options.address = format!("http://{address}");
        let broker = match location {
            Some(location) => Broker::start(location, options)?,
            None => in_memory(options)?,
        };
        // All clients have the same address, so the limits for each address must not apply.
        let service = Service::new(BTreeMap::new()).brokers([broker]).lease_rate_limit(MOST_LEASES);
        let options = ServeOptions {
            max_connections: MOST_CONNECTIONS,
            max_connections_per_client: Some(MOST_CONNECTIONS),
            // The server does not wait for clients that are still connected at the end of a row.
            shutdown_timeout: Duration::from_millis(100),
            ..ServeOptions::default()
        };
        Ok(Self { address, _server: OurServer::start(service, &listener, options)? })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}
