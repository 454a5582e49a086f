use core::time::Duration;

use super::{Clock, SystemClock};

/// The system's clock at its last kernel tick. It is a few milliseconds late (4 ms at 250 ticks per second, at most
/// 10 ms), and several times cheaper to read than the exact clock.
///
/// A generator reads this clock only on the fast path and the exact clock on the slow path, so it keeps every rule. The
/// times in its IDs are late by up to one kernel tick. Generators of one node share their position, whether their clock
/// is this one or [`SystemClock`].
///
/// On Linux this is `CLOCK_REALTIME_COARSE`; on other systems it is the same as [`SystemClock`].
///
/// ```
/// use flakeid_core::{Generator, Layout, CoarseClock};
///
/// let generator = Generator::builder(Layout::TWITTER).node(7).clock(CoarseClock).build()?;
/// generator.next_id()?;
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CoarseClock;

impl CoarseClock {
    /// The largest number of milliseconds by which this clock is late: one tick at 100 ticks a second.
    pub(crate) const LAG_MS: i64 =
        if cfg!(any(target_os = "linux", target_os = "android")) { 10 } else { 0 };

    /// Returns the time in milliseconds, and a number that changes with every kernel tick.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[inline]
    pub(crate) fn now() -> (i64, u64) {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
        let (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec as u32);
        // The shift leaves room for the nanoseconds, which have 30 bits.
        let mark = seconds.cast_unsigned() << 30 | u64::from(nanoseconds);
        (seconds * 1000 + i64::from(nanoseconds / 1_000_000), mark)
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
