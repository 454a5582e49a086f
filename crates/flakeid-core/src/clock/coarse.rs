#![cfg_attr(unix, allow(unsafe_code))]

use core::time::Duration;

use super::{Clock, SystemClock};

/// The system's clock as of its last tick: a few milliseconds late (4 ms at 250 ticks a second, at
/// most 10 ms), and several times cheaper to read than the exact one.
///
/// A generator on it reads it for plain calls only and the exact clock whenever something is in the
/// way, so it keeps every rule; the times in its IDs are late by up to one tick of the kernel.
/// Generators of one node share their position whether their clock is this or [`SystemClock`].
///
/// `CLOCK_REALTIME_COARSE` of Linux; elsewhere the same as [`SystemClock`].
#[derive(Clone, Copy, Debug, Default)]
pub struct CoarseClock;

impl CoarseClock {
    /// Milliseconds, and a number that changes with every tick of the kernel.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[inline]
    pub(crate) fn now() -> (i64, u64) {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid, writable timespec, and the clock exists since Linux 2.6.32.
        unsafe { libc::clock_gettime(libc::CLOCK_REALTIME_COARSE, &raw mut time) };
        #[allow(clippy::useless_conversion, reason = "both are narrower on 32-bit systems")]
        let (seconds, nanoseconds) = (i64::from(time.tv_sec), i64::from(time.tv_nsec));
        let mark = seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds);
        (seconds * 1000 + nanoseconds / 1_000_000, mark.cast_unsigned())
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    #[inline]
    pub(crate) fn now() -> (i64, u64) {
        let now = SystemClock::now_ms();
        (now, now.cast_unsigned())
    }
}

impl Clock for CoarseClock {
    #[inline]
    fn unix_ms(&self) -> i64 {
        Self::now().0
    }

    fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        SystemClock.wait_until(unix_ms, at_most)
    }
}
