#![cfg_attr(unix, allow(unsafe_code))]

use core::time::Duration;

use super::sleep::sleep;
use super::{Clock, SystemClock};

/// The duration, in nanoseconds, below which a sleep is not split into two parts. A sleep lasts about 60 µs longer than
/// requested, and the second part of such a short sleep would be shorter than this delay.
const IN_ONE_PART: u64 = 100_000;

/// Reads the system clock, and returns `(seconds, nanoseconds)` since the Unix epoch.
#[cfg(unix)]
#[inline]
pub(super) fn read() -> (i64, u32) {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, writable timespec. The call cannot fail, because every system that libc supports has
    // this clock and the pointer is valid.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut time) };
    #[allow(clippy::useless_conversion, reason = "both are narrower on 32-bit systems")]
    (i64::from(time.tv_sec), time.tv_nsec as u32)
}

#[cfg(not(unix))]
pub(super) fn read() -> (i64, u32) {
    match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
        Ok(since) => (since.as_secs() as i64, since.subsec_nanos()),
        Err(before) => {
            let ns = -(before.duration().as_nanos() as i128);
            (ns.div_euclid(1_000_000_000) as i64, ns.rem_euclid(1_000_000_000) as u32)
        }
    }
}

/// Reads the clock that counts from the host's boot, and returns `(seconds, nanoseconds)`.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn since_boot() -> (i64, u32) {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    (time.tv_sec, time.tv_nsec as u32)
}

/// Reads the monotonic clock, which counts from the host's boot on most systems, and returns `(seconds, nanoseconds)`.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn since_boot() -> (i64, u32) {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, writable timespec. The call cannot fail, because every system that libc supports has
    // this clock and the pointer is valid.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    #[allow(clippy::useless_conversion, reason = "both are narrower on 32-bit systems")]
    (i64::from(time.tv_sec), time.tv_nsec as u32)
}

impl SystemClock {
    #[inline]
    pub(crate) fn now_ms() -> i64 {
        let (seconds, nanoseconds) = read();
        seconds * 1000 + i64::from(nanoseconds / 1_000_000)
    }

    /// Returns the duration of the first sleep of a wait: the whole duration of a short wait, or three quarters of a
    /// longer wait. An idle processor sometimes wakes half a millisecond late, and a second sleep compensates for this
    /// delay.
    pub(super) fn first_part(unix_ms: i64, at_most: Duration) -> Duration {
        let left = Self::left(unix_ms);
        let part = if left < IN_ONE_PART { left } else { left - left / 4 };
        Duration::from_nanos(part).min(at_most)
    }

    /// Returns the number of nanoseconds until the given millisecond begins.
    fn left(unix_ms: i64) -> u64 {
        let (seconds, nanoseconds) = read();
        let now = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        (i128::from(unix_ms) * 1_000_000 - now).clamp(0, i128::from(u64::MAX)) as u64
    }
}

impl Clock for SystemClock {
    #[inline]
    fn unix_ms(&self) -> i64 {
        Self::now_ms()
    }

    /// Sleeps until the requested millisecond begins, rather than for a whole number of milliseconds, so that little of
    /// the next tick is lost.
    fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        Some(sleep(Duration::from_nanos(Self::left(unix_ms)).min(at_most)))
    }

    #[cfg(unix)]
    fn since_boot_ms(&self) -> Option<i64> {
        let (seconds, nanoseconds) = since_boot();
        Some(seconds * 1_000 + i64::from(nanoseconds / 1_000_000))
    }
}
