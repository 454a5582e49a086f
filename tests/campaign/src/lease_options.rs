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

/// Windows differ between workers. The TTL is shorter, so that live holders lose their nodes too.
pub(crate) fn window_and_ttl(slot: usize) -> (Duration, Duration) {
    let window = Duration::from_millis(MAX_WINDOW_MS - 200 * (slot as u64 % 3));
    (window, window / 2)
}

/// Where the clients' clock is also the store's, `max_ahead_ms` must exceed every clock error, or
/// one step forward would stop all workers until real time has caught up.
pub(crate) fn namespace(max_ahead_ms: u64) -> Namespace {
    let bounds = Bounds { max_window_ms: MAX_WINDOW_MS, max_ahead_ms, max_skew_ms: MAX_SKEW_MS };
    Namespace { bounds, ..Namespace::new(NAMESPACE, LAYOUT) }
}
