//! Two brokers in front of one `PostgreSQL`.

mod supervisor;

use std::io;
use std::time::Duration;

use flakeid_protocol::Namespace;
use flakeid_protocol::operations::{self, Repair};
use flakeid_test_servers::KINDS;

use super::interface::Deployment;
use super::server::ServerDeployment;
use crate::fault::{BrokerFault, StoreFault};
use crate::lease_options::{self, LeaseBounds, NAMESPACE};
use crate::stores;
use supervisor::SupervisedBroker;

const BROKERS: usize = 2;
/// The size of a block is four nodes, so that a broker needs several blocks and releases some of
/// them.
const BLOCK_BITS: u32 = 2;
/// The number of blocks that are not quarantined. A killed broker leases new blocks while its old
/// ones have not expired, so the store sometimes has no free block.
const BLOCKS: u64 = 10;

/// The factor by which a broker is disconnected from the database longer than a process would be.
/// Disconnected for 0.8 to 6 s, it may lose its blocks while its clients renew.
const CUT_OFF_TIMES: u32 = 4;

/// Brokers, each with a proxy to its clients and another proxy to the database.
pub(crate) struct BrokerDeployment {
    /// The brokers, which must be dropped before the store.
    brokers: Vec<SupervisedBroker>,
    store: ServerDeployment,
}

impl BrokerDeployment {
    pub(crate) fn new() -> io::Result<Self> {
        let store = ServerDeployment::new(&KINDS[0])?;
        // Each broker reaches the database through the proxy of one group of workers.
        let broker = |number| SupervisedBroker::new(number, &store.url(number));
        let brokers = (0..BROKERS).map(broker).collect::<io::Result<_>>()?;
        Ok(Self { brokers, store })
    }

    fn quarantine_surplus(&self) -> io::Result<()> {
        let mut store = stores::connect(&self.direct_url())?;
        for block in BLOCKS..=self.namespace().max_row() {
            operations::repair(&mut *store, NAMESPACE, block, Repair::Quarantine)
                .map_err(io::Error::other)?;
        }
        Ok(())
    }
}

impl Deployment for BrokerDeployment {
    /// Returns a URL with all brokers.
    fn url(&self, _group: usize) -> String {
        let addresses: Vec<_> = self.brokers.iter().map(SupervisedBroker::host).collect();
        format!("http://{}", addresses.join(","))
    }

    fn direct_url(&self) -> String {
        self.store.direct_url()
    }

    fn prepare(&self) -> io::Result<()> {
        self.quarantine_surplus()?;
        self.store.prepare()?;
        self.brokers.iter().try_for_each(SupervisedBroker::start)
    }

    fn max_ahead_ms(&self) -> u64 {
        self.store.max_ahead_ms()
    }

    fn lease_bounds(&self) -> LeaseBounds {
        LeaseBounds::BROKER
    }

    fn namespace(&self) -> Namespace {
        let bounds = lease_options::namespace(self.max_ahead_ms(), self.lease_bounds());
        Namespace { block_bits: BLOCK_BITS, ..bounds }
    }

    fn nodes(&self) -> usize {
        (BLOCKS << BLOCK_BITS) as usize
    }

    fn brokers(&self) -> usize {
        self.brokers.len()
    }

    fn has_one_clock(&self) -> bool {
        false
    }

    /// The network faults affect the connection between a broker and the database.
    fn store_faults(&self) -> &[StoreFault] {
        &[
            StoreFault::Killed,
            StoreFault::Cut,
            StoreFault::Restored,
            StoreFault::Paused,
            StoreFault::KilledWithBroker,
            StoreFault::Silenced,
            StoreFault::Delayed,
            StoreFault::Locked,
        ]
    }

    fn inject(&self, store_fault: StoreFault, duration: Duration, group: usize) -> io::Result<()> {
        let group = group % self.brokers.len();
        let (store_fault, duration) = match store_fault {
            StoreFault::Cut | StoreFault::Silenced => (store_fault, duration * CUT_OFF_TIMES),
            StoreFault::KilledWithBroker => {
                // A broker that is down already starts later.
                self.brokers[group].inject(BrokerFault::Killed, duration)?;
                (StoreFault::Killed, duration)
            }
            _ => (store_fault, duration),
        };
        self.store.inject(store_fault, duration, group)
    }

    fn inject_into_broker(
        &self,
        broker: usize,
        fault: BrokerFault,
        duration: Duration,
    ) -> io::Result<bool> {
        match fault {
            BrokerFault::WithoutStore => {
                self.store.inject(StoreFault::Cut, duration, broker)?;
                Ok(true)
            }
            fault => self.brokers[broker].inject(fault, duration),
        }
    }

    fn crashed(&self) -> Vec<String> {
        self.brokers.iter().flat_map(SupervisedBroker::crashed).collect()
    }
}
