//! The options of the leases in a campaign: so short that every fault outlasts one of them.

use std::time::Duration;

use flakeid_lease::protocol::{Bounds, Namespace};

use crate::id_bits::LAYOUT;

pub(crate) const NAMESPACE: &str = "campaign";
/// The longest wait of a worker's call.
pub(crate) const MAX_WAIT: Duration = Duration::from_millis(250);
/// The longest window.
pub(crate) const MAX_WINDOW_MS: u64 = 700;
/// The assumed maximum error of clocks.
pub(crate) const MAX_SKEW_MS: u64 = 400;

/// For how long a restored store grants nothing. Until 1.4 s after a renewal its holder may go on.
pub(crate) const QUIET_MS: u64 = 3_000;

/// Windows differ between workers. Those with the longest can go on after a restoration; the TTL of
/// the others is shorter than their window, so that live holders lose their nodes too.
pub(crate) fn window_and_ttl(slot: usize) -> (Duration, Duration) {
    let window = Duration::from_millis(MAX_WINDOW_MS - 200 * (slot as u64 % 3));
    let ttl = if slot.is_multiple_of(3) { Duration::from_secs(5) } else { window / 2 };
    (window, ttl)
}

/// Where the clients' clock is also the store's, `max_ahead_ms` must exceed every clock error, or
/// one step forward would stop all workers until real time has caught up.
pub(crate) fn namespace(max_ahead_ms: u64) -> Namespace {
    let bounds = Bounds {
        max_window_ms: MAX_WINDOW_MS,
        max_ahead_ms,
        max_skew_ms: MAX_SKEW_MS,
        quiet_ms: QUIET_MS,
    };
    Namespace { bounds, ..Namespace::new(NAMESPACE, LAYOUT) }
}
