use core::time::Duration;

use super::{Clock, SystemClock};

/// The system's clock at its last kernel tick. This clock lags by a few milliseconds (4 ms at 250 ticks per second,
/// at most 10 ms), and is several times cheaper to read than the exact clock.
///
/// A generator reads this clock only on the fast path and the exact clock on the slow path, so the generator keeps
/// all its guarantees. The times in IDs that are generated with this clock lag by up to one kernel tick. Generators
/// for the same node share their position even if one reads this clock and another reads [`SystemClock`].
///
/// On Linux this is `CLOCK_REALTIME_COARSE`; on other systems this clock behaves like [`SystemClock`].
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
    /// The largest lag of this clock in milliseconds: one kernel tick at 100 ticks per second.
    pub(crate) const LAG_MS: i64 =
        if cfg!(any(target_os = "linux", target_os = "android")) { 10 } else { 0 };

    /// Returns the time in milliseconds, and a number that changes with every kernel tick.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[inline]
    pub(crate) fn now() -> (i64, u64) {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
        let (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec as u32);
        // The shift leaves room for the nanoseconds, which fit into 30 bits.
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
