//! The options of the leases in a campaign. They are short, so that every fault outlasts some
//! lease.

use std::ops::Range;
use std::time::Duration;

use flakeid_protocol::{Bounds, Namespace};

use crate::ids::LAYOUT;

pub(crate) const NAMESPACE: &str = "campaign";
/// The longest wait of a worker's call.
pub(crate) const MAX_WAIT: Duration = Duration::from_millis(250);
/// The longest window of workers with short leases, and of stores with a single server.
pub(crate) const SHORT_WINDOW_MS: u64 = 700;

/// The limits of clocks and leases, and of the time in which holders may continue their leases
/// after a restart of their store.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_field_names, reason = "the fields share a unit")]
pub(crate) struct LeaseBounds {
    pub(crate) max_skew_ms: u64,
    /// The longest window, which workers with long leases use.
    pub(crate) max_window_ms: u64,
    /// The time, counted from its last renewal, in which a holder may continue its lease.
    pub(crate) continuation_ms: u64,
    /// The TTL of workers with long leases. Where windows are far ahead of the clock, the time
    /// between two renewals is at most half of it.
    pub(crate) long_ttl_ms: u64,
}

impl LeaseBounds {
    /// For a store whose clock has milliseconds. A server is down for up to two seconds.
    pub(crate) const EXACT: Self = Self {
        max_skew_ms: 50,
        max_window_ms: SHORT_WINDOW_MS,
        continuation_ms: 3_000,
        long_ttl_ms: 3_200,
    };
    /// For a store whose clock has whole seconds, and so an error of up to half a second.
    pub(crate) const SECONDS: Self = Self { max_skew_ms: 550, long_ttl_ms: 4_400, ..Self::EXACT };
    /// For brokers. Their blocks have windows of seconds, so that the windows of several members
    /// follow one another in each.
    pub(crate) const BROKER: Self =
        Self { max_window_ms: 3_000, long_ttl_ms: 3_400, ..Self::EXACT };
    /// For a cluster, which needs seconds to elect or promote another server. Windows outlast that
    /// time, so that a lost lease is still in use then.
    pub(crate) const CLUSTER: Self =
        Self { max_window_ms: 5_000, continuation_ms: 8_000, long_ttl_ms: 8_400, ..Self::EXACT };
    /// For a cluster whose clock has whole seconds.
    pub(crate) const CLUSTER_SECONDS: Self =
        Self { max_skew_ms: 550, long_ttl_ms: 9_400, ..Self::CLUSTER };

    /// Returns the time in which a restarted store grants nothing.
    pub(crate) const fn quiet_ms(self) -> u64 {
        self.continuation_ms + 4 * self.max_skew_ms
    }
}

/// The lease options of a worker.
pub(crate) struct WorkerLease {
    pub(crate) window: Duration,
    pub(crate) ttl: Duration,
    /// The range of the time, in milliseconds, for which the worker issues IDs before it releases
    /// the node.
    pub(crate) lifetime_ms: Range<u64>,
    /// The number of failed calls in a row after which the worker drops the generator.
    pub(crate) max_failures: u32,
}

/// Whether the worker can continue its lease after a restart of the store: it keeps its leases for
/// seconds, and the schedule injects fewer faults into its process.
pub(crate) const fn has_long_lease(slot: usize) -> bool {
    slot.is_multiple_of(3)
}

/// Whether the clock of a group stays correct around a restart of the store. Most workers with long
/// leases are in such groups, because a holder with a wrong clock does not continue its lease.
pub(crate) const fn has_reliable_clock(group: usize) -> bool {
    matches!(group, 0 | 3)
}

/// Returns the lease options of a worker, whose windows differ. The TTL of a short lease is shorter
/// than its window, so that live holders lose their nodes, too.
pub(crate) fn worker_lease(slot: usize, long: (Duration, Duration)) -> WorkerLease {
    if has_long_lease(slot) {
        let (window, ttl) = long;
        return WorkerLease { window, ttl, lifetime_ms: 3_000..10_000, max_failures: 40 };
    }
    let window = Duration::from_millis(SHORT_WINDOW_MS - 200 * (slot as u64 % 3));
    WorkerLease { window, ttl: window / 2, lifetime_ms: 300..2_500, max_failures: 4 }
}

/// Returns the namespace of a campaign. If the clients share the store's clock, `max_ahead_ms` must
/// exceed every clock error, because a step forward would otherwise stop all workers until real
/// time has caught up.
pub(crate) fn namespace(max_ahead_ms: u64, leases: LeaseBounds) -> Namespace {
    let LeaseBounds { max_skew_ms, max_window_ms, .. } = leases;
    let bounds = Bounds { max_window_ms, max_ahead_ms, max_skew_ms, quiet_ms: leases.quiet_ms() };
    Namespace { bounds, ..Namespace::new(NAMESPACE, LAYOUT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lease_bounds_let_holders_continue_leases_for_the_intended_time() {
        for leases in [
            LeaseBounds::EXACT,
            LeaseBounds::SECONDS,
            LeaseBounds::BROKER,
            LeaseBounds::CLUSTER,
            LeaseBounds::CLUSTER_SECONDS,
        ] {
            let Namespace { bounds, layout, .. } = namespace(3_000, leases);
            assert_eq!(bounds.check(&layout), Ok(()), "{leases:?}");
            assert_eq!(bounds.continuation_ms(), leases.continuation_ms);
            let alive_ms = leases.continuation_ms + 2 * leases.max_skew_ms;
            assert!(leases.long_ttl_ms > alive_ms, "{leases:?}");
        }
    }
}
