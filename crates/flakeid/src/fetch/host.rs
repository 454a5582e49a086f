//! Time and random numbers, which the host has.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// In microseconds.
static MOMENT: AtomicU64 = AtomicU64::new(0);
static RANDOM: OnceLock<fn() -> u128> = OnceLock::new();

/// Says how much time has passed since some instant, by a clock that never goes back. The host calls
/// it before everything else that it calls here.
///
/// ```
/// use std::time::Duration;
///
/// flakeid::fetch::set_host_moment(Duration::from_millis(1_500));
/// ```
pub fn set_host_moment(passed: Duration) {
    let micros = u64::try_from(passed.as_micros()).unwrap_or(u64::MAX);
    MOMENT.fetch_max(micros, Ordering::Relaxed);
}

/// Sets where random bits come from, which must be a generator for cryptography; the first one stays.
///
/// ```
/// # fn random() -> u128 { 7 }
/// flakeid::fetch::set_host_random(random);
/// ```
pub fn set_host_random(bits: fn() -> u128) {
    RANDOM.get_or_init(|| bits);
}

/// Whether there are random bits. Without them two holders could have the same token.
pub(super) fn is_random() -> bool {
    RANDOM.get().is_some()
}

/// Random bits; the same ones again and again unless [`is_random`].
pub(super) fn random() -> u128 {
    RANDOM.get().map_or(0, |bits| bits())
}

/// Returns how much time has passed since some instant.
pub(super) fn now() -> Duration {
    Duration::from_micros(MOMENT.load(Ordering::Relaxed))
}
