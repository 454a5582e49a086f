//! The [`Clock`] trait, through which generators read the time, and its implementations.

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
#[cfg(all(feature = "std", target_family = "wasm", target_os = "unknown"))]
pub use system::{set_host_time, take_host_wait};
#[cfg(feature = "std")]
pub use {coarse::CoarseClock, gated::GatedClock, named::NamedClock};

pub(crate) use source::ClockSource;

use core::time::Duration;

/// A source of Unix time for generators.
///
/// Readings may repeat and may go backwards; the generator handles both cases. A generator with a custom clock does not
/// share its position with other generators for the same node.
///
/// ```
/// use flakeid_core::{Clock, Generator, Layout, SystemClock};
///
/// /// The system's clock with a correction in milliseconds.
/// struct Corrected(i64);
///
/// impl Clock for Corrected {
///     fn unix_ms(&self) -> i64 {
///         SystemClock.unix_ms() + self.0
///     }
/// }
///
/// let generator = Generator::builder(Layout::TWITTER).node(7).clock(Corrected(-250)).build()?;
/// # Ok::<(), flakeid_core::Error>(())
/// ```
pub trait Clock: Send + Sync + 'static {
    /// Returns the number of milliseconds since 1970-01-01T00:00:00Z, not counting leap seconds. The number is
    /// negative before that instant.
    fn unix_ms(&self) -> i64;

    /// Waits until the clock reads `unix_ms`, but no longer than `at_most`, and returns the duration of the wait. The
    /// call may return early. Returns `None` if this clock cannot wait; the generator's call then fails instead of
    /// waiting. An implementation must not spin for more than a fraction of a millisecond.
    ///
    /// The default implementation puts the thread to sleep. Without the `std` feature, or on a target that cannot
    /// sleep (`wasm32-unknown-unknown`), the default implementation returns `None`.
    fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        sleep::wait(unix_ms.saturating_sub(self.unix_ms()), at_most)
    }

    /// Returns the milliseconds since the host's boot, including the time for which the host was suspended. A store on
    /// this host compares both clocks to detect that the host's clock was set. Returns `None` if this clock is not the
    /// host's clock.
    #[doc(hidden)]
    fn since_boot_ms(&self) -> Option<i64> {
        None
    }
}

/// The operating system's clock, exact to the millisecond.
///
/// The target `wasm32-unknown-unknown` has no clock. On that target, `SystemClock` returns the time that the host last
/// set with `set_host_time`. `SystemClock` cannot wait there, but `take_host_wait` returns the wait that a call would
/// have performed.
///
/// ```
/// use flakeid_core::{Generator, Layout, SystemClock};
///
/// let generator = Generator::builder(Layout::TWITTER).node(7).clock(SystemClock).build()?;
/// generator.next_id()?;
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;
