//! What a campaign needs of every store.

use std::io;
use std::time::Duration;

use crate::fault::StoreFault;
use crate::lease_options::LeaseBounds;

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

    /// Repairs what a fault has left behind, when holders have had the time to go on.
    ///
    /// # Errors
    /// When that did not work: then the campaign fails.
    fn settle(&self) -> io::Result<()> {
        Ok(())
    }
}
