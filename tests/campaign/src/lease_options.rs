//! The options of the leases in a campaign: so short that every fault outlasts one of them.

use std::ops::Range;
use std::time::Duration;

use flakeid_protocol::{Bounds, Namespace};

use crate::ids::LAYOUT;

pub(crate) const NAMESPACE: &str = "campaign";
/// The longest wait of a worker's call.
pub(crate) const MAX_WAIT: Duration = Duration::from_millis(250);
/// The longest window of a single server, and of workers that are not patient.
pub(crate) const SHORT_WINDOW_MS: u64 = 700;

/// How far clocks may differ, how long leases are, and for how long holders may go on after a restart of
/// their store.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_field_names, reason = "the unit")]
pub(crate) struct LeaseBounds {
    pub(crate) max_skew_ms: u64,
    /// The longest window, which patient workers have.
    pub(crate) max_window_ms: u64,
    /// Counted from a holder's last renewal.
    pub(crate) continuation_ms: u64,
    /// The TTL of patient workers. Half of it is the longest time between two renewals, where windows are
    /// far ahead of the clock.
    pub(crate) patient_ttl_ms: u64,
}

impl LeaseBounds {
    /// For a store whose clock shows milliseconds: a server is down for up to two seconds.
    pub(crate) const EXACT: Self = Self {
        max_skew_ms: 50,
        max_window_ms: SHORT_WINDOW_MS,
        continuation_ms: 3_000,
        patient_ttl_ms: 3_200,
    };
    /// For a store whose clock shows whole seconds, and so is wrong by up to half of one.
    pub(crate) const SECONDS: Self =
        Self { max_skew_ms: 550, patient_ttl_ms: 4_400, ..Self::EXACT };
    /// For brokers, whose blocks have windows of seconds, so that those of several members follow one
    /// another in each.
    pub(crate) const BROKER: Self =
        Self { max_window_ms: 3_000, patient_ttl_ms: 3_400, ..Self::EXACT };
    /// For a cluster, which takes seconds to elect or promote another server. Windows outlast that, so
    /// that what was lost is still in use then.
    pub(crate) const CLUSTER: Self =
        Self { max_window_ms: 5_000, continuation_ms: 8_000, patient_ttl_ms: 8_400, ..Self::EXACT };
    /// For a cluster whose clock shows whole seconds.
    pub(crate) const CLUSTER_SECONDS: Self =
        Self { max_skew_ms: 550, patient_ttl_ms: 9_400, ..Self::CLUSTER };

    /// For how long a restarted store grants nothing.
    pub(crate) const fn quiet_ms(self) -> u64 {
        self.continuation_ms + 4 * self.max_skew_ms
    }
}

/// How a worker leases.
pub(crate) struct WorkerLease {
    pub(crate) window: Duration,
    pub(crate) ttl: Duration,
    /// For how long it issues IDs before it gives the node back, in milliseconds.
    pub(crate) lifetime_ms: Range<u64>,
    /// After so many failed calls in a row it gives up the generator.
    pub(crate) max_failures: u32,
}

/// Whether the worker's leases are such that it can go on after a restart of the store: it keeps them
/// for seconds, and fewer faults of processes happen to it.
pub(crate) const fn is_patient(slot: usize) -> bool {
    slot.is_multiple_of(3)
}

/// Whether the clock of a group stays right around a restart of the store: that of all patient workers
/// but one, because a holder with a wrong clock does not go on.
pub(crate) const fn has_reliable_clock(group: usize) -> bool {
    matches!(group, 0 | 3)
}

/// Windows differ between workers. The TTL of those that are not patient is shorter than their window,
/// so that live holders lose their nodes too.
pub(crate) fn worker_lease(slot: usize, patient: (Duration, Duration)) -> WorkerLease {
    if is_patient(slot) {
        let (window, ttl) = patient;
        return WorkerLease { window, ttl, lifetime_ms: 3_000..10_000, max_failures: 40 };
    }
    let window = Duration::from_millis(SHORT_WINDOW_MS - 200 * (slot as u64 % 3));
    WorkerLease { window, ttl: window / 2, lifetime_ms: 300..2_500, max_failures: 4 }
}

/// Where the clients' clock is also the store's, `max_ahead_ms` must exceed every clock error, or
/// one step forward would stop all workers until real time has caught up.
pub(crate) fn namespace(max_ahead_ms: u64, leases: LeaseBounds) -> Namespace {
    let LeaseBounds { max_skew_ms, max_window_ms, .. } = leases;
    let bounds = Bounds { max_window_ms, max_ahead_ms, max_skew_ms, quiet_ms: leases.quiet_ms() };
    Namespace { bounds, ..Namespace::new(NAMESPACE, LAYOUT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_give_the_intended_continuation_time() {
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
            assert!(leases.patient_ttl_ms > alive_ms, "{leases:?}");
        }
    }
}
