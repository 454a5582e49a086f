//! Where the time comes from: what a generator asks of a clock, and the clocks there are.

#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
mod coarse;
#[cfg(any(
    all(test, loom),
    all(not(any(loom, miri)), feature = "std", target_os = "linux", target_arch = "x86_64")
))]
mod gate;
#[cfg(all(
    test,
    not(any(loom, miri)),
    feature = "std",
    target_os = "linux",
    target_arch = "x86_64"
))]
mod gate_tests;
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
mod gated;
#[cfg(all(feature = "std", target_family = "wasm", target_os = "unknown"))]
mod host;
#[cfg(all(test, loom))]
mod loom_models;
mod manual;
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
mod named;
mod source;
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
mod system;

#[cfg(all(feature = "std", target_family = "wasm", target_os = "unknown"))]
pub use host::{SystemClock, set_host_time, take_host_wait};
pub use manual::ManualClock;
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
pub use {coarse::CoarseClock, gated::GatedClock, named::NamedClock, system::SystemClock};

pub(crate) use source::ClockSource;

use core::time::Duration;

/// A source of Unix time for generators.
///
/// Readings may repeat and may go back; the generator copes with both. A generator on a clock of
/// your own does not share its position with other generators of the same node.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted. Negative before.
    fn unix_ms(&self) -> i64;

    /// Waits until the clock reads `unix_ms`, but no longer than `at_most`, and returns how long
    /// it waited; it may return early. `None` if this clock cannot wait, which turns the wait into
    /// an error for the caller. It must not spin for more than a fraction of a millisecond.
    ///
    /// By default the thread sleeps; without the `std` feature, or on a target that cannot sleep
    /// (`wasm32-unknown-unknown`), `None`.
    fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        default_wait(unix_ms.saturating_sub(self.unix_ms()), at_most)
    }
}

/// Clocks get stepped while threads sleep; none oversleeps such a step by more than this.
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere there is no way to wait")]
fn default_wait(ms: i64, at_most: Duration) -> Option<Duration> {
    Some(sleep(Duration::from_millis(ms.max(0).cast_unsigned()).min(at_most)))
}

#[cfg(any(not(feature = "std"), all(target_family = "wasm", target_os = "unknown")))]
fn default_wait(_ms: i64, _at_most: Duration) -> Option<Duration> {
    None
}

/// Sleeps for `duration`, or a part of it if it is long, and returns the time it took on the
/// monotonic clock.
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
fn sleep(duration: Duration) -> Duration {
    let start = std::time::Instant::now();
    std::thread::sleep(duration.min(LONGEST_SLEEP));
    start.elapsed()
}
