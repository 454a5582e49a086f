//! Where the time comes from: what a generator asks of a clock, and the clocks there are.

#[cfg(feature = "std")]
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
#[cfg(feature = "std")]
mod gated;
#[cfg(all(test, loom))]
mod loom_models;
mod manual;
#[cfg(feature = "std")]
mod named;
mod sleep;
mod source;
#[cfg(feature = "std")]
#[cfg_attr(all(target_family = "wasm", target_os = "unknown"), path = "host.rs")]
mod system;

pub use manual::ManualClock;
#[cfg(feature = "std")]
pub use {coarse::CoarseClock, gated::GatedClock, named::NamedClock, system::*};

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
        sleep::wait(unix_ms.saturating_sub(self.unix_ms()), at_most)
    }
}
