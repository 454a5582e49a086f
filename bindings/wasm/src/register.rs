//! Transfers IDs and errors to JavaScript through memory, which costs less than returning IDs and errors from calls.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use flakeid_core::{Error, Id};
use wasm_bindgen::prelude::*;

use crate::failure::thrown;

/// The ID from the last call that generated a single ID. JavaScript reads the ID from this variable, which costs less
/// than returning the ID from the call.
static REGISTER: AtomicU64 = AtomicU64::new(0);

/// Writes an ID to the register. Always returns true, the result of a call that generated an ID.
pub(crate) fn register(id: Id) -> bool {
    REGISTER.store(id.to_u64(), Ordering::Relaxed);
    true
}

/// The error of a generator's last call, if the call failed, and the number of the generator's waits.
#[derive(Default)]
pub(crate) struct Outcome {
    failed: Cell<Option<Error>>,
    waits: Cell<u64>,
}

impl Outcome {
    /// Keeps the error instead of throwing it, because a call that may throw an error costs more than generating an ID.
    #[cold]
    fn keep(&self, error: Error) {
        self.failed.set(Some(error));
    }

    pub(crate) fn register(&self, id: Result<Id, Error>) -> bool {
        match id {
            Ok(id) => register(id),
            Err(error) => {
                self.keep(error);
                false
            }
        }
    }

    pub(crate) fn count_or_failed(&self, count: Result<usize, Error>) -> i32 {
        match count {
            Ok(count) => i32::try_from(count).unwrap_or(i32::MAX),
            Err(error) => {
                self.keep(error);
                -1
            }
        }
    }

    pub(crate) fn take_failure(&self) -> JsValue {
        // The error is removed from `failed` before it is converted, because the conversion runs JavaScript code that
        // may call this function again.
        let failed = self.failed.take();
        failed.map_or(JsValue::UNDEFINED, thrown)
    }

    pub(crate) fn count_wait(&self) {
        self.waits.set(self.waits.get() + 1);
    }

    pub(crate) fn waits(&self) -> u64 {
        self.waits.get()
    }
}

/// Memory from which JavaScript copies many IDs in a single operation.
///
/// The IDs begin at the start of a cache line, because some processors copy ten times more slowly from addresses that
/// are not multiples of 16.
#[wasm_bindgen]
pub struct Buffer {
    memory: Box<[u64]>,
    skip: usize,
    length: usize,
}

#[wasm_bindgen]
impl Buffer {
    /// Allocates a buffer for the given number of IDs.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(length: usize) -> Self {
        const LINE: usize = 64;
        let memory = vec![0_u64; length + LINE / size_of::<u64>()].into_boxed_slice();
        let past = memory.as_ptr().addr() % LINE;
        Self { memory, skip: (LINE - past) % LINE / size_of::<u64>(), length }
    }

    /// The offset of the buffer in the module's memory, in bytes.
    #[must_use]
    pub fn address(&self) -> usize {
        self.memory[self.skip..].as_ptr().addr()
    }

    pub(crate) fn beginning(&mut self, count: usize) -> &mut [Id] {
        let end = self.skip + count.min(self.length);
        Id::from_u64_slice_mut(&mut self.memory[self.skip..end])
    }
}

/// Returns the byte offset in the module's memory at which the register for single IDs begins.
#[wasm_bindgen(js_name = registerAddress)]
#[must_use]
pub fn register_address() -> usize {
    REGISTER.as_ptr().addr()
}

/// Returns the module's memory. When the memory grows, JavaScript arrays that view the memory become empty and must be
/// created again.
#[wasm_bindgen(js_name = linearMemory)]
#[must_use]
pub fn linear_memory() -> JsValue {
    wasm_bindgen::memory()
}
