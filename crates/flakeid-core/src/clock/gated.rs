#[cfg(all(target_os = "linux", target_arch = "x86_64", not(any(loom, miri))))]
mod processor;

use core::time::Duration;

use super::{Clock, SystemClock};

/// The system's clock, read only a few times per millisecond. In between, the processor's cycle counter shows whether
/// the millisecond may have ended. This clock is cheaper than [`SystemClock`] and also exact to the millisecond. It is
/// the default.
///
/// A reading is never ahead of the system's clock, unless the clock was set back within the last millisecond. A
/// reading lags only in three cases: the clock was set forward within the last millisecond, the counters of two
/// processors differ by more than a microsecond, or the counter's rate has changed by more than an eighth, relative to
/// the clock, since it was last measured. The reading then lags by less than a millisecond of running time. Wrong
/// readings of this clock do not affect the guarantees of generators, because the slow path reads the exact clock.
/// Generators for the same node share their position even if one reads this clock and another reads [`SystemClock`].
///
/// The gate works on Linux on x86-64 if the processor's counter is invariant and the kernel uses it as the clock
/// source. [Everywhere else](Self::is_gated) this clock behaves like [`SystemClock`].
///
/// ```
/// use flakeid_core::{Clock, GatedClock, SystemClock};
///
/// let (gated, exact) = (GatedClock.unix_ms(), SystemClock.unix_ms());
/// println!("{} ms late; gated: {}", exact - gated, GatedClock.is_gated());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct GatedClock;

impl GatedClock {
    /// Whether this machine has a counter that the gate can use; otherwise this clock behaves like [`SystemClock`].
    /// The result is computed once per process.
    #[must_use]
    #[inline]
    pub fn is_gated(&self) -> bool {
        #[cfg(all(target_os = "linux", target_arch = "x86_64", not(any(loom, miri))))]
        return processor::is_fit();
        #[cfg(not(all(target_os = "linux", target_arch = "x86_64", not(any(loom, miri)))))]
        return false;
    }

    /// Returns the gate's time in milliseconds. Call this function only if the clock [is gated](Self::is_gated).
    #[cfg(all(target_os = "linux", target_arch = "x86_64", not(any(loom, miri))))]
    #[inline]
    pub(crate) fn now_ms() -> i64 {
        processor::now_ms()
    }

    #[cfg(not(all(target_os = "linux", target_arch = "x86_64", not(any(loom, miri)))))]
    #[inline]
    pub(crate) fn now_ms() -> i64 {
        SystemClock::now_ms()
    }
}

impl Clock for GatedClock {
    #[inline]
    fn unix_ms(&self) -> i64 {
        if self.is_gated() { Self::now_ms() } else { SystemClock::now_ms() }
    }

    fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        SystemClock.wait_until(unix_ms, at_most)
    }
}
