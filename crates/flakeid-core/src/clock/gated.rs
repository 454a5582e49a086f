#[cfg(all(target_os = "linux", target_arch = "x86_64", not(any(loom, miri))))]
mod processor;

use core::time::Duration;

use super::{Clock, SystemClock};

/// The system's clock, read a few times a millisecond; in between the processor's cycle counter is
/// asked whether the millisecond can have ended. Cheaper than [`SystemClock`], and exact to the
/// millisecond as well. The default.
///
/// A reading is never ahead of the system's clock, unless that was set back within the last
/// millisecond; it is late only if the clock was set forward within the last millisecond, if the
/// counters of two processors differ by more than a microsecond, or if the counter's rate has
/// changed by more than an eighth, against the clock, since it was last measured, and then by less
/// than a millisecond of running time. Generators on it keep every rule whatever it reads, and read
/// the exact clock whenever something is in the way. Generators of one node share their position
/// whether their clock is this or [`SystemClock`].
///
/// The gate is for Linux on x86-64 where the processor's counter is invariant and the kernel keeps
/// time by it. [Elsewhere](Self::is_gated) this is the same as [`SystemClock`].
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
    /// Whether this machine has a counter that the gate may use; otherwise this clock is
    /// [`SystemClock`]. Found out once per process.
    #[must_use]
    #[inline]
    pub fn is_gated(&self) -> bool {
        #[cfg(all(target_os = "linux", target_arch = "x86_64", not(any(loom, miri))))]
        return processor::is_fit();
        #[cfg(not(all(target_os = "linux", target_arch = "x86_64", not(any(loom, miri)))))]
        return false;
    }

    /// Only where it [is gated](Self::is_gated).
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
