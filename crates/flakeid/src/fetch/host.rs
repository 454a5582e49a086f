//! The clock, the source of random bits and the name that a host program provides.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The latest time that the host has set, in microseconds since a fixed point.
static MOMENT: AtomicU64 = AtomicU64::new(0);
static RANDOM: OnceLock<fn() -> u128> = OnceLock::new();
static OWNER: OnceLock<(String, u32)> = OnceLock::new();

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

/// Sets the host name and the process ID that leases report to the broker, for human readers. Control characters are
/// removed, and the name is shortened to 128 characters. Later calls have no effect. Without a call, the name is empty
/// and the ID is 0.
///
/// ```
/// flakeid::fetch::set_host_owner("web-1", 4711);
/// ```
pub fn set_host_owner(name: &str, pid: u32) {
    OWNER.get_or_init(|| (name.chars().filter(|c| !c.is_control()).take(128).collect(), pid));
}

/// Returns the host name and the process ID.
pub(super) fn owner() -> (String, u32) {
    OWNER.get().cloned().unwrap_or_default()
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
