//! The interface between a campaign and its store.

use std::io;
use std::time::Duration;

use flakeid_protocol::Namespace;

use crate::fault::{BrokerFault, StoreFault};
use crate::lease_options::{self, LeaseBounds};
use crate::shared_memory::NODES;

/// A private store into which faults can be injected.
pub(crate) trait Deployment: Sync {
    /// Returns the URL through which a group of workers connects to the store.
    fn url(&self, group: usize) -> String;

    /// Returns the URL through which the campaign itself connects, without network faults.
    fn direct_url(&self) -> String;

    /// Takes the first copy of the data, after the namespace was created.
    ///
    /// # Errors
    /// If the copy could not be taken.
    fn prepare(&self) -> io::Result<()>;

    /// Returns the namespace's bound on running ahead, in milliseconds.
    fn max_ahead_ms(&self) -> u64;

    /// Returns the namespace's bounds on clocks.
    fn lease_bounds(&self) -> LeaseBounds;

    /// Returns the namespace that the workers lease from.
    fn namespace(&self) -> Namespace {
        lease_options::namespace(self.max_ahead_ms(), self.lease_bounds())
    }

    /// Returns the number of nodes that can be granted, starting at node 0.
    fn nodes(&self) -> usize {
        NODES
    }

    /// Returns the number of brokers that the workers lease from, or 0 if they lease from the store
    /// itself. Brokers choose the nodes that they grant.
    fn brokers(&self) -> usize {
        0
    }

    /// Whether all workers share one clock with the store.
    fn has_one_clock(&self) -> bool;

    /// Returns the faults that can be injected.
    fn store_faults(&self) -> &[StoreFault];

    /// Returns the fault that cannot be injected on this machine, with the reason.
    fn unsupported(&self) -> Option<&str> {
        None
    }

    /// Whether holders have to continue, or lease again, after a fault.
    fn begins_run(&self, store_fault: StoreFault) -> bool {
        store_fault.is_restart() || store_fault.is_failover()
    }

    /// Returns the mean time between two faults of the store.
    fn fault_interval(&self) -> Duration {
        Duration::from_secs(3)
    }

    /// Injects a fault and ends it after `duration`.
    ///
    /// # Errors
    /// If the fault could not be injected, and so the campaign fails.
    fn inject(&self, store_fault: StoreFault, duration: Duration, group: usize) -> io::Result<()>;

    /// Injects a fault into a broker and ends it after `duration`. Returns `false` if the broker is
    /// down, and so cannot fail.
    ///
    /// # Errors
    /// If the fault could not be injected, and so the campaign fails.
    fn inject_into_broker(
        &self,
        broker: usize,
        fault: BrokerFault,
        _duration: Duration,
    ) -> io::Result<bool> {
        let what = fault.name();
        Err(io::Error::other(format!("{what}: broker {broker} does not exist")))
    }

    /// Returns the processes that ended or failed without an injected fault as the cause.
    fn crashed(&self) -> Vec<String> {
        Vec::new()
    }

    /// Repairs the damage of a fault, after holders had time to continue.
    ///
    /// # Errors
    /// If the repair failed, and so the campaign fails.
    fn settle(&self) -> io::Result<()> {
        Ok(())
    }
}
