//! The time and the waits of the system clock, which are JavaScript's here.

use std::time::Duration;

use wasm_bindgen::prelude::*;

/// Sets the core's time to what `Date.now()` returned, in Unix milliseconds.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) fn set_time(unix_ms: f64) {
    // A cast of a float saturates, but makes 1970 of what is no number.
    flakeid_core::set_host_time(if unix_ms.is_nan() { i64::MIN } else { unix_ms as i64 });
}

/// How long the call that has just failed would have waited before its next attempt.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn take_wait() -> Option<(i64, Duration)> {
    flakeid_core::take_host_wait()
}

/// Elsewhere, where this crate is only checked, the core has a clock of its own.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) fn set_time(_unix_ms: f64) {}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn take_wait() -> Option<(i64, Duration)> {
    None
}

/// Until when, and how many milliseconds at most, the call that has just failed would have waited;
/// nothing if its policies do not wait.
#[wasm_bindgen(js_name = takeWait)]
#[must_use]
pub fn take_host_wait() -> Option<Vec<f64>> {
    take_wait().map(|(until, at_most)| vec![until as f64, at_most.as_millis() as f64])
}
