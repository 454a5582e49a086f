//! A clock for tests.

use std::time::Duration;

use wasm_bindgen::prelude::*;

/// The core's `ManualClock`.
#[wasm_bindgen]
pub struct ManualClock(pub(crate) flakeid_core::ManualClock);

#[wasm_bindgen]
impl ManualClock {
    /// A clock that reads `unix_ms`.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(unix_ms: i64) -> Self {
        Self(flakeid_core::ManualClock::new(unix_ms))
    }

    /// Another handle to the same clock.
    #[must_use]
    pub fn share(&self) -> Self {
        Self(self.0.clone())
    }

    /// What the clock reads, in Unix milliseconds.
    #[must_use]
    pub fn now(&self) -> i64 {
        flakeid_core::Clock::unix_ms(&self.0)
    }

    /// Sets the clock to `unix_ms`, forward or back.
    pub fn set(&self, unix_ms: i64) {
        self.0.set(unix_ms);
    }

    /// Moves the clock forward.
    pub fn advance(&self, ms: u64) {
        self.0.advance(Duration::from_millis(ms));
    }
}
