//! The system clock for targets that cannot read a clock. The host sets the time and performs the waits.

use core::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use core::time::Duration;

use super::{Clock, SystemClock};
use crate::calendar::whole_ms;

/// The time that the host set last. The initial value is before every epoch, so that no ID is issued until the host
/// sets a time.
static UNIX_MS: AtomicI64 = AtomicI64::new(i64::MIN);

/// The intended end, in Unix milliseconds, of the last wait that the clock could not perform.
static WAIT_UNTIL_MS: AtomicI64 = AtomicI64::new(0);
/// The maximum duration, in milliseconds, of the last wait that the clock could not perform; 0 if there was no wait.
static WAIT_AT_MOST_MS: AtomicU64 = AtomicU64::new(0);

/// Sets the time of [`SystemClock`], in milliseconds since 1970.
///
/// WebAssembly without an operating system cannot read a clock, so the host passes in its time before each call that
/// builds a generator or generates IDs. Until the host has set a time, generating an ID fails with
/// [`BeforeEpoch`](crate::ErrorKind::BeforeEpoch). This function exists only on `wasm32-unknown-unknown`.
#[inline]
pub fn set_host_time(unix_ms: i64) {
    UNIX_MS.store(unix_ms, Ordering::Relaxed);
    WAIT_AT_MOST_MS.store(0, Ordering::Relaxed);
}

/// Returns the last wait that [`SystemClock`] could not perform since the host last set the time: the instant at
/// which the wait would have ended, in Unix milliseconds, and the maximum duration of the wait. Returns `None` if no
/// call had to wait, if the policies did not allow waiting, or if the wait has already been returned. The host may
/// perform the wait, set the new time and repeat the call. This function exists only on `wasm32-unknown-unknown`.
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
