//! Generation of IDs. JavaScript passes the current time to every call that issues IDs.

use flakeid_core::{Error, Id};
use wasm_bindgen::prelude::*;

use crate::clock;
use crate::failure::thrown;
use crate::number::field;
use crate::register::{Buffer, Outcome, register};

/// The core's `Generator`.
#[wasm_bindgen]
pub struct Generator {
    core: flakeid_core::Generator,
    outcome: Outcome,
}

impl Generator {
    pub(crate) fn new(core: flakeid_core::Generator) -> Self {
        Self { core, outcome: Outcome::default() }
    }

    /// Returns the next ID if the core can issue the ID at the time `now` without applying all rules.
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    fn fast_id(&self, now: f64) -> Option<Id> {
        self.core.next_id_at(clock::whole(now))
    }

    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    #[expect(clippy::unused_self, reason = "the signature is the same for WebAssembly")]
    const fn fast_id(&self, _now: f64) -> Option<Id> {
        None
    }

    /// Generates an ID with all rules, after the fast path could not issue an ID.
    #[cold]
    #[inline(never)]
    fn next_slowly(
        &self,
        now: f64,
        next_id: fn(&flakeid_core::Generator) -> Result<Id, Error>,
    ) -> bool {
        clock::set_time(now);
        self.outcome.register(next_id(&self.core))
    }
}

#[wasm_bindgen]
impl Generator {
    /// Writes the next ID to the register in the module's memory. Returns false if no ID could be
    /// issued.
    #[wasm_bindgen(js_name = nextId)]
    #[must_use]
    pub fn next_id(&self, now: f64) -> bool {
        match self.fast_id(now) {
            Some(id) => register(id),
            None => self.next_slowly(now, flakeid_core::Generator::next_id),
        }
    }

    /// Writes the next ID to the register in the module's memory without ever waiting. Returns
    /// false if no ID could be issued.
    #[wasm_bindgen(js_name = tryNextId)]
    #[must_use]
    pub fn try_next_id(&self, now: f64) -> bool {
        match self.fast_id(now) {
            Some(id) => register(id),
            None => self.next_slowly(now, flakeid_core::Generator::try_next_id),
        }
    }

    /// Fills the beginning of the buffer with up to `count` IDs. Returns the number of IDs, or −1
    /// on failure.
    #[must_use]
    pub fn fill(&self, buffer: &mut Buffer, count: usize, now: f64, waits: bool) -> i32 {
        clock::set_time(now);
        let ids = buffer.beginning(count);
        let count = if waits { self.core.fill(ids) } else { self.core.try_fill(ids) };
        self.outcome.count_or_failed(count)
    }

    /// Returns the JavaScript error of the last call, or undefined if the last call did not fail.
    #[wasm_bindgen(js_name = takeFailure)]
    #[must_use]
    pub fn take_failure(&self) -> JsValue {
        self.outcome.take_failure()
    }

    /// Counts a wait that JavaScript performed for this generator.
    #[wasm_bindgen(js_name = countWait)]
    pub fn count_wait(&self) {
        self.outcome.count_wait();
    }

    /// Extends the generator's window to the tick `fence`, exclusive.
    ///
    /// # Errors
    /// `FLAKEID_FIELD_OUT_OF_RANGE` if `fence` is not a valid tick, and the errors of the core's
    /// `extend`.
    pub fn extend(&self, fence: &str) -> Result<(), JsValue> {
        field("fence", fence, u64::MAX).and_then(|fence| self.core.extend(fence)).map_err(thrown)
    }

    /// Retires the generator. Returns the last tick in which the generator issued an ID, or
    /// undefined if it issued no ID.
    ///
    /// # Errors
    /// This function returns the errors of the core's `retire`.
    pub fn retire(&self) -> Result<Option<u64>, JsValue> {
        self.core.retire().map_err(thrown)
    }

    /// Returns the number of waits, the number of clock rollbacks, and the largest number of ticks
    /// by which an ID was ahead of the clock.
    #[must_use]
    pub fn stats(&self) -> Vec<u64> {
        let stats = self.core.stats();
        vec![stats.waits + self.outcome.waits(), stats.rollbacks, stats.largest_ahead]
    }

    /// The canonical descriptor of the generator's layout.
    #[must_use]
    pub fn layout(&self) -> String {
        self.core.layout().to_string()
    }

    /// The length of a tick, in milliseconds.
    #[wasm_bindgen(js_name = unitMs)]
    #[must_use]
    pub fn unit_ms(&self) -> f64 {
        self.core.layout().unit_ms() as f64
    }

    /// The node in the generator's IDs.
    #[must_use]
    pub fn node(&self) -> u64 {
        self.core.node().unwrap_or_default()
    }
}
