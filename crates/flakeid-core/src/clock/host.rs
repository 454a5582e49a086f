//! The system clock of a target that has none: its host says what time it is, and does the waiting.

use core::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use core::time::Duration;

use super::{Clock, SystemClock};
use crate::calendar::whole_ms;

/// Before every epoch until the host has spoken, so that no ID comes out of no time at all.
static UNIX_MS: AtomicI64 = AtomicI64::new(i64::MIN);

/// The wait that was refused last: until when, and at most how long; 0 is no wait.
static WAIT_UNTIL_MS: AtomicI64 = AtomicI64::new(0);
static WAIT_AT_MOST_MS: AtomicU64 = AtomicU64::new(0);

/// Tells [`SystemClock`] what time it is, in milliseconds since 1970.
///
/// WebAssembly without an operating system cannot ask: the host's clock is passed in, before each
/// call that builds a generator or makes IDs. Until the first time, making an ID is
/// [`BeforeEpoch`](crate::ErrorKind::BeforeEpoch). Only on `wasm32-unknown-unknown`.
#[inline]
pub fn set_host_time(unix_ms: i64) {
    UNIX_MS.store(unix_ms, Ordering::Relaxed);
    WAIT_AT_MOST_MS.store(0, Ordering::Relaxed);
}

/// Until when (Unix milliseconds) and how long at most a call on [`SystemClock`] would have slept,
/// had it been able to, since the host told the time; `None` if none had to, or was let by its
/// policies, or if this was asked before. The host may wait that long, tell the time and call
/// again. Only on `wasm32-unknown-unknown`.
#[must_use]
pub fn take_host_wait() -> Option<(i64, Duration)> {
    match WAIT_AT_MOST_MS.swap(0, Ordering::Relaxed) {
        0 => None,
        ms => Some((WAIT_UNTIL_MS.load(Ordering::Relaxed), Duration::from_millis(ms))),
    }
}

impl SystemClock {
    #[inline]
    pub(crate) fn now_ms() -> i64 {
        UNIX_MS.load(Ordering::Relaxed)
    }

    pub(super) const fn first_part(_unix_ms: i64, at_most: Duration) -> Duration {
        at_most
    }
}

impl Clock for SystemClock {
    #[inline]
    fn unix_ms(&self) -> i64 {
        Self::now_ms()
    }

    fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        WAIT_UNTIL_MS.store(unix_ms, Ordering::Relaxed);
        WAIT_AT_MOST_MS.store(whole_ms(at_most), Ordering::Relaxed);
        None
    }
}
