//! The generators of a JavaScript environment. Each generator is in a slot, and JavaScript identifies the slot by its
//! number.

#![allow(unsafe_code)]

use std::cell::RefCell;
use std::sync::Arc;

use flakeid_core::{Error, Id};
use napi::bindgen_prelude::{BigUint64Array, External};
use napi_derive::napi;
use slab::Slab;

/// A source of single IDs: a generator, a local handle or a ring.
pub(crate) trait NextId {
    fn next_id(&self) -> std::result::Result<Id, Error>;
    fn try_next_id(&self) -> std::result::Result<Id, Error>;
}

/// All generators of a JavaScript environment, indexed by slot number.
pub(crate) struct Generators {
    slots: Slab<Arc<dyn NextId>>,
    /// The generator that was used last. Checking this generator first saves 5 ns per call, because a lookup delays
    /// the reading of the clock. A lookup is a chain of loads, and the processor reads the clock only after all
    /// earlier loads are complete.
    last: Option<(u32, *const dyn NextId)>,
}

impl Generators {
    #[inline]
    pub(crate) fn get(&mut self, number: u32) -> Option<&dyn NextId> {
        let generator = match self.last {
            Some((last, generator)) if last == number => generator,
            _ => self.look_up(number)?,
        };
        // SAFETY: the slot keeps the generator alive, and `remove` also clears `last`.
        Some(unsafe { &*generator })
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, number: u32) -> Option<*const dyn NextId> {
        let generator = Arc::as_ptr(self.slots.get(number as usize)?);
        self.last = Some((number, generator));
        Some(generator)
    }

    fn remove(&mut self, number: u32) -> Option<Arc<dyn NextId>> {
        self.last = None;
        self.slots.try_remove(number as usize)
    }
}

/// The generators of a JavaScript environment, and the array of two numbers that the add-on shares with JavaScript:
/// the generated ID, and the slot number of the generator to call.
pub(crate) struct Dispatcher {
    pub(crate) mailbox: *mut u64,
    pub(crate) generators: RefCell<Generators>,
    /// The array that owns the memory of `mailbox`. This reference prevents the array from being garbage-collected, and
    /// JavaScript never transfers the array's buffer.
    _array: BigUint64Array,
}

impl Dispatcher {
    pub(crate) fn new(mut array: BigUint64Array) -> Option<Arc<Self>> {
        // SAFETY: no other code uses the array while it is borrowed here.
        let numbers = unsafe { array.as_mut() };
        let mailbox = if numbers.len() < 2 { return None } else { numbers.as_mut_ptr() };
        #[expect(
            clippy::arc_with_non_send_sync,
            reason = "functions are bound to sources of all kinds in the same way"
        )]
        Some(Arc::new(Self {
            mailbox,
            generators: RefCell::new(Generators { slots: Slab::new(), last: None }),
            _array: array,
        }))
    }

    /// Whether the dispatcher uses the given array.
    pub(crate) fn has(&self, mut array: BigUint64Array) -> bool {
        // SAFETY: no other code uses the array while it is borrowed here.
        unsafe { array.as_mut() }.as_mut_ptr() == self.mailbox
    }

    pub(crate) fn register(self: &Arc<Self>, generator: Arc<dyn NextId>) -> SlotHandle {
        let number = self.generators.borrow_mut().slots.insert(generator) as u32;
        External::new(Slot { dispatcher: Arc::clone(self), number })
    }
}

/// A handle to a slot. The slot is freed when JavaScript drops the handle.
pub(crate) type SlotHandle = External<Slot>;

/// A slot that contains one generator of a JavaScript environment.
pub(crate) struct Slot {
    dispatcher: Arc<Dispatcher>,
    number: u32,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let generator = self.dispatcher.generators.borrow_mut().remove(self.number);
        // The list of generators must not be borrowed here, because dropping a ring may use the list.
        drop(generator);
    }
}

/// Returns the number of a slot. JavaScript writes this number to the second element of the array that `setup`
/// received.
#[napi(catch_unwind)]
pub(crate) fn slot_number(slot: &SlotHandle) -> u32 {
    slot.number
}
