//! The default wait of a clock: the thread sleeps, where the target has threads.

use core::time::Duration;

/// Clocks get stepped while threads sleep; none oversleeps such a step by more than this.
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// Sleeps for `duration`, or a part of it if it is long, and returns the time it took on the
/// monotonic clock.
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
pub(super) fn sleep(duration: Duration) -> Duration {
    let start = std::time::Instant::now();
    std::thread::sleep(duration.min(LONGEST_SLEEP));
    start.elapsed()
}

#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere there is no way to wait")]
pub(super) fn wait(ms: i64, at_most: Duration) -> Option<Duration> {
    Some(sleep(Duration::from_millis(ms.max(0).cast_unsigned()).min(at_most)))
}

#[cfg(any(not(feature = "std"), all(target_family = "wasm", target_os = "unknown")))]
pub(super) fn wait(_ms: i64, _at_most: Duration) -> Option<Duration> {
    None
}
