//! A manual clock for tests, and a system clock whose time JavaScript sets. JavaScript also
//! performs the waits that the core requires.

use std::time::Duration;

use wasm_bindgen::prelude::*;

/// The core's `ManualClock`.
#[cfg(not(feature = "lease"))]
#[wasm_bindgen]
pub struct ManualClock(pub(crate) flakeid_core::ManualClock);

#[cfg(not(feature = "lease"))]
#[wasm_bindgen]
impl ManualClock {
    /// Builds a clock that is set to the time `unix_ms`, in Unix milliseconds.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(unix_ms: i64) -> Self {
        Self(flakeid_core::ManualClock::new(unix_ms))
    }

    /// Returns another handle to the same clock.
    #[must_use]
    pub fn share(&self) -> Self {
        Self(self.0.clone())
    }

    /// The time of the clock, in Unix milliseconds.
    #[must_use]
    pub fn now(&self) -> i64 {
        flakeid_core::Clock::unix_ms(&self.0)
    }

    /// Sets the time of the clock to `unix_ms`, which may be earlier than the current time.
    pub fn set(&self, unix_ms: i64) {
        self.0.set(unix_ms);
    }

    /// Moves the clock forward.
    pub fn advance(&self, ms: u64) {
        self.0.advance(Duration::from_millis(ms));
    }
}

/// Sets the core's time to `unix_ms`, a result of `Date.now()` in Unix milliseconds.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) fn set_time(unix_ms: f64) {
    flakeid_core::set_host_time(whole(unix_ms));
}

/// Converts a time to an integer. A cast from a float saturates, but would convert NaN to 0, the start of 1970.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) const fn whole(unix_ms: f64) -> i64 {
    if unix_ms.is_nan() { i64::MIN } else { unix_ms as i64 }
}

/// Returns the wait that the core could not perform in the last call. The pair contains the end of
/// the wait in Unix milliseconds, and the maximum duration of the wait.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn take_wait() -> Option<(i64, Duration)> {
    flakeid_core::take_host_wait()
}

/// Does nothing on targets other than WebAssembly. There, the core has its own clock, and this
/// crate is only compiled as a check and never runs.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) fn set_time(_unix_ms: f64) {}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn take_wait() -> Option<(i64, Duration)> {
    None
}

/// Returns the wait that the core could not perform in the last call. The array contains the end of
/// the wait in Unix milliseconds, and the maximum duration in milliseconds. Returns undefined if
/// the call did not have to wait, or if the generator's policies do not allow the call to wait.
#[wasm_bindgen(js_name = takeWait)]
#[must_use]
pub fn take_host_wait() -> Option<Vec<f64>> {
    take_wait().map(|(until, at_most)| vec![until as f64, at_most.as_millis() as f64])
}
