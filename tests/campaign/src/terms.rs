//! How leases are kept in a campaign: everything so short that every fault outlasts something.

use std::time::Duration;

use flakeid_lease::protocol::{Bounds, Namespace};

use crate::shape::LAYOUT;

pub(crate) const NAMESPACE: &str = "campaign";
/// How long a worker's call may wait.
pub(crate) const MAX_WAIT: Duration = Duration::from_millis(250);
/// The longest window.
pub(crate) const MAX_WINDOW_MS: u64 = 700;
/// How far clocks are taken to be right.
pub(crate) const MAX_SKEW_MS: u64 = 400;

/// Windows differ between workers; the TTL is shorter, so that live holders lose nodes too.
pub(crate) fn window_and_ttl(slot: usize) -> (Duration, Duration) {
    let window = Duration::from_millis(MAX_WINDOW_MS - 200 * (slot as u64 % 3));
    (window, window / 2)
}

/// `max_ahead_ms` must be more than any clock error where the clients' clock is the store's, or
/// one step forward would stop everything until the time has come.
pub(crate) fn namespace(max_ahead_ms: u64) -> Namespace {
    let bounds = Bounds { max_window_ms: MAX_WINDOW_MS, max_ahead_ms, max_skew_ms: MAX_SKEW_MS };
    Namespace { bounds, ..Namespace::new(NAMESPACE, LAYOUT) }
}
