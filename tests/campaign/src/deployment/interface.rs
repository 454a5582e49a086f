//! What a campaign needs of every store.

use std::io;
use std::time::Duration;

use flakeid_protocol::Namespace;

use crate::fault::{BrokerFault, StoreFault};
use crate::lease_options::{self, LeaseBounds};
use crate::shared_memory::NODES;

/// A private store that can be made to fail.
pub(crate) trait Deployment: Sync {
    /// The URL by which a group of workers reaches the store.
    fn url(&self, group: usize) -> String;

    /// The URL by which the campaign itself reaches the store, past every fault of the network.
    fn direct_url(&self) -> String;

    /// Takes the first copy of the data, after the namespace was created.
    ///
    /// # Errors
    /// When no copy could be taken.
    fn prepare(&self) -> io::Result<()>;

    /// The namespace's bound on running ahead, in milliseconds.
    fn max_ahead_ms(&self) -> u64;

    /// The namespace's bounds on clocks.
    fn lease_bounds(&self) -> LeaseBounds;

    /// The namespace that the workers lease from.
    fn namespace(&self) -> Namespace {
        lease_options::namespace(self.max_ahead_ms(), self.lease_bounds())
    }

    /// How many nodes can be granted: those from 0 on.
    fn nodes(&self) -> usize {
        NODES
    }

    /// How many brokers the workers lease from; none if they lease from the store itself. Brokers choose
    /// the nodes that they grant.
    fn brokers(&self) -> usize {
        0
    }

    /// Whether all workers share one clock with the store.
    fn has_one_clock(&self) -> bool;

    /// The faults that can be injected.
    fn store_faults(&self) -> &[StoreFault];

    /// The fault that cannot be injected on this machine, and why.
    fn unsupported(&self) -> Option<&str> {
        None
    }

    /// Whether holders have to go on, or lease anew, after a fault.
    fn begins_run(&self, store_fault: StoreFault) -> bool {
        store_fault.is_restart() || store_fault.is_failover()
    }

    /// The mean time between two faults of the store.
    fn fault_interval(&self) -> Duration {
        Duration::from_secs(3)
    }

    /// Injects a fault and ends it after `duration`.
    ///
    /// # Errors
    /// When that did not work: then the campaign fails.
    fn inject(&self, store_fault: StoreFault, duration: Duration, group: usize) -> io::Result<()>;

    /// Injects a fault into one of the brokers and ends it after `duration`. Returns whether that was
    /// possible: a broker that is down cannot fail.
    ///
    /// # Errors
    /// When that did not work: then the campaign fails.
    fn inject_into_broker(
        &self,
        broker: usize,
        fault: BrokerFault,
        _duration: Duration,
    ) -> io::Result<bool> {
        let what = fault.name();
        Err(io::Error::other(format!("{what}: there is no broker {broker}")))
    }

    /// What ended or failed although no fault explains it.
    fn crashed(&self) -> Vec<String> {
        Vec::new()
    }

    /// Repairs what a fault has left behind, when holders have had the time to go on.
    ///
    /// # Errors
    /// When that did not work: then the campaign fails.
    fn settle(&self) -> io::Result<()> {
        Ok(())
    }
}
