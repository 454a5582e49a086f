//! The default implementation of a clock's wait: the thread sleeps, if the target supports sleeping.

use core::time::Duration;

/// The longest single sleep. This constant limits how long a thread takes to react to a clock change during the
/// sleep.
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// Sleeps for `duration`, but no longer than [`LONGEST_SLEEP`], and returns the time that elapsed on the monotonic
/// clock.
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
pub(super) fn sleep(duration: Duration) -> Duration {
    let start = std::time::Instant::now();
    std::thread::sleep(duration.min(LONGEST_SLEEP));
    start.elapsed()
}

#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
#[expect(clippy::unnecessary_wraps, reason = "targets that cannot sleep return `None`")]
pub(super) fn wait(ms: i64, at_most: Duration) -> Option<Duration> {
    Some(sleep(Duration::from_millis(ms.max(0).cast_unsigned()).min(at_most)))
}

#[cfg(any(not(feature = "std"), all(target_family = "wasm", target_os = "unknown")))]
pub(super) fn wait(_ms: i64, _at_most: Duration) -> Option<Duration> {
    None
}
