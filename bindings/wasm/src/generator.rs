//! Making IDs. Every call is told what time it is.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};

use flakeid_core::{Error, Id};
use wasm_bindgen::prelude::*;

use crate::clock;
use crate::failure::thrown;
use crate::number::field;

/// Holds the last single ID. JavaScript reads it here, which costs less than returning it.
static REGISTER: AtomicU64 = AtomicU64::new(0);

/// The core's `Generator`.
#[wasm_bindgen]
pub struct Generator {
    core: flakeid_core::Generator,
    failed: RefCell<Option<Error>>,
    waits: Cell<u64>,
}

impl Generator {
    pub(crate) fn new(core: flakeid_core::Generator) -> Self {
        Self { core, failed: RefCell::new(None), waits: Cell::new(0) }
    }

    /// The error is kept, not thrown: a call that may throw costs more than making the ID.
    #[cold]
    fn keep(&self, error: Error) {
        *self.failed.borrow_mut() = Some(error);
    }

    fn register(&self, id: Result<Id, Error>) -> bool {
        match id {
            Ok(id) => REGISTER.store(id.to_u64(), Ordering::Relaxed),
            Err(error) => {
                self.keep(error);
                return false;
            }
        }
        true
    }

    fn count_or_failed(&self, count: Result<usize, Error>) -> i32 {
        match count {
            Ok(count) => i32::try_from(count).unwrap_or(i32::MAX),
            Err(error) => {
                self.keep(error);
                -1
            }
        }
    }
}

#[wasm_bindgen]
impl Generator {
    /// Puts the next ID into the register. Returns false if there is none.
    #[wasm_bindgen(js_name = nextId)]
    #[must_use]
    pub fn next_id(&self, now: f64) -> bool {
        clock::set_time(now);
        self.register(self.core.next_id())
    }

    /// As `nextId`, but without waiting.
    #[wasm_bindgen(js_name = tryNextId)]
    #[must_use]
    pub fn try_next_id(&self, now: f64) -> bool {
        clock::set_time(now);
        self.register(self.core.try_next_id())
    }

    /// Fills the buffer from its beginning. Returns how many IDs it wrote, or −1 on failure.
    #[must_use]
    pub fn fill(&self, buffer: &mut Buffer, count: usize, now: f64, waits: bool) -> i32 {
        clock::set_time(now);
        let ids = buffer.beginning(count);
        let count = if waits { self.core.fill(ids) } else { self.core.try_fill(ids) };
        self.count_or_failed(count)
    }

    /// The error of the last call, as JavaScript's; undefined if that call did not fail.
    #[wasm_bindgen(js_name = takeFailure)]
    #[must_use]
    pub fn take_failure(&self) -> JsValue {
        // Making the error runs JavaScript, which may call this again.
        let failed = self.failed.take();
        failed.map_or(JsValue::UNDEFINED, thrown)
    }

    /// Counts a wait that JavaScript did for this generator.
    #[wasm_bindgen(js_name = countWait)]
    pub fn count_wait(&self) {
        self.waits.set(self.waits.get() + 1);
    }

    /// Raises the end of the window to the tick `fence`, exclusive.
    ///
    /// # Errors
    /// As the core's `extend`.
    pub fn extend(&self, fence: &str) -> Result<(), JsValue> {
        field("fence", fence, u64::MAX).and_then(|fence| self.core.extend(fence)).map_err(thrown)
    }

    /// Ends the generator. Returns the last tick in which it issued an ID, if there is one.
    ///
    /// # Errors
    /// As the core's `retire`.
    pub fn retire(&self) -> Result<Option<u64>, JsValue> {
        self.core.retire().map_err(thrown)
    }

    /// In this order: waits, rollbacks, largest distance ahead of the clock in ticks.
    #[must_use]
    pub fn stats(&self) -> Vec<u64> {
        let stats = self.core.stats();
        vec![stats.waits + self.waits.get(), stats.rollbacks, stats.largest_ahead]
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
        self.core.node()
    }
}

/// Memory for a run of IDs, from which JavaScript copies them.
#[wasm_bindgen]
pub struct Buffer(Box<[u64]>);

#[wasm_bindgen]
impl Buffer {
    /// A buffer with room for this many IDs.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(length: usize) -> Self {
        Self(vec![0; length].into_boxed_slice())
    }

    /// Where the buffer begins in the module's memory, in bytes.
    #[must_use]
    pub fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }

    fn beginning(&mut self, count: usize) -> &mut [Id] {
        let end = count.min(self.0.len());
        Id::from_u64_slice_mut(&mut self.0[..end])
    }
}

/// Where the register of single IDs is, in bytes from the beginning of the memory.
#[wasm_bindgen(js_name = registerAddress)]
#[must_use]
pub fn register_address() -> usize {
    REGISTER.as_ptr().addr()
}

/// The module's memory. When it grows, arrays over it become empty and must be made again.
#[wasm_bindgen(js_name = linearMemory)]
#[must_use]
pub fn linear_memory() -> JsValue {
    wasm_bindgen::memory()
}
