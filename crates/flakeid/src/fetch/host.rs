//! The clock and the source of random bits that a host program provides.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The latest time that the host has set, in microseconds since a fixed point.
static MOMENT: AtomicU64 = AtomicU64::new(0);
static RANDOM: OnceLock<fn() -> u128> = OnceLock::new();

/// Sets the time that has passed since a fixed point, on a clock that never goes backwards. The host calls this
/// function before each of its other calls.
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

/// Sets the source of random bits, which must be cryptographically secure. Later calls have no effect.
///
/// ```
/// # fn random() -> u128 { 7 }
/// flakeid::fetch::set_host_random(random);
/// ```
pub fn set_host_random(bits: fn() -> u128) {
    RANDOM.get_or_init(|| bits);
}

/// Whether the host has set a source of random bits. Without such a source, two lease holders could use the same token.
pub(super) fn is_random() -> bool {
    RANDOM.get().is_some()
}

/// Returns bits from the host's source of random bits, or 0 if the host has not set a source.
pub(super) fn random() -> u128 {
    RANDOM.get().map_or(0, |bits| bits())
}

/// Returns the latest time that the host has set, measured from a fixed point.
pub(super) fn now() -> Duration {
    Duration::from_micros(MOMENT.load(Ordering::Relaxed))
}
