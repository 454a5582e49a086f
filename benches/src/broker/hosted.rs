//! A broker with its server in this process, and what members of it are told.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{Clock, Layout, SystemClock};
use flakeid::broker::{Broker, BrokerOptions};
use flakeid_protocol::MemoryStore;
use flakeid_protocol::store::{Fault, Store};
use flakeid_stores::Location;
use flakeid_server::{ServeOptions, Service};

use crate::serving::{self, OurServer};

/// 2^20 nodes: enough for a million processes.
pub(super) const LAYOUT: &str = "t41.n20.s2@1767225600000/1ms";
/// The most connections that a server here has: more than any row asks for.
const MOST_CONNECTIONS: usize = 100_000;

pub(super) fn layout() -> Result<Layout, Box<dyn Error>> {
    Ok(LAYOUT.parse()?)
}

/// The options of a broker for a namespace of blocks.
pub(super) fn options(namespace: &str, block_bits: u32) -> Result<BrokerOptions, Box<dyn Error>> {
    let address = "http://127.0.0.1:1";
    let options = BrokerOptions::new(namespace, layout()?, address);
    Ok(BrokerOptions { block_bits: Some(block_bits), ..options })
}

/// A broker on a store in the memory of this process.
pub(super) fn in_memory(options: BrokerOptions) -> Result<Broker, Box<dyn Error>> {
    let store = MemoryStore::new();
    let open = move || Ok::<_, Fault>(Box::new(store.clone()) as Box<dyn Store>);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    Ok(Broker::start_on("memory", open, options, clock)?)
}

/// A broker and its server.
pub(super) struct Hosted {
    pub(super) address: SocketAddr,
    /// First, so that the blocks are given back while the store is there.
    _server: OurServer,
}

impl Hosted {
    /// On the store at a location; on one in memory without it.
    pub(super) fn start(
        location: Option<&Location>,
        options: BrokerOptions,
    ) -> Result<Self, Box<dyn Error>> {
        let listener = serving::listener()?;
        let address = serving::address_of(&listener)?;
        let options = BrokerOptions { address: format!("http://{address}"), ..options };
        let broker = match location {
            Some(location) => Broker::start(location, options)?,
            None => in_memory(options)?,
        };
        let service = Service::new(BTreeMap::new()).brokers([broker]);
        let options = ServeOptions {
            max_connections: MOST_CONNECTIONS,
            // Clients that are still there at the end of a row are not waited for.
            shutdown_timeout: Duration::from_millis(100),
            ..ServeOptions::default()
        };
        Ok(Self { address, _server: OurServer::start(service, &listener, options)? })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}
