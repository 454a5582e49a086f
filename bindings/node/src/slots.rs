//! The generators of an environment, each in a slot with a number that JavaScript uses.

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

/// All generators of an environment, by the numbers of their slots.
pub(crate) struct Generators {
    slots: Slab<Arc<dyn NextId>>,
    /// The generator that was used last. Checking this generator first saves 5 ns, because the clock's code waits for
    /// all earlier loads, and a lookup is a chain of loads.
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

/// An environment's generators, and the array of two numbers that JavaScript shares with them: the
/// generated ID, and the slot of the generator that generates it.
pub(crate) struct Dispatcher {
    pub(crate) mailbox: *mut u64,
    pub(crate) generators: RefCell<Generators>,
    /// The array that owns the memory of `mailbox`: JavaScript never transfers the array's buffer, and this reference
    /// keeps the array from being collected.
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

    /// Whether the dispatcher uses this array.
    pub(crate) fn has(&self, mut array: BigUint64Array) -> bool {
        // SAFETY: no other code uses the array while it is borrowed here.
        unsafe { array.as_mut() }.as_mut_ptr() == self.mailbox
    }

    pub(crate) fn register(self: &Arc<Self>, generator: Arc<dyn NextId>) -> SlotHandle {
        let number = self.generators.borrow_mut().slots.insert(generator) as u32;
        External::new(Slot { dispatcher: Arc::clone(self), number })
    }
}

/// A slot, which is freed when JavaScript drops this handle.
pub(crate) type SlotHandle = External<Slot>;

/// The place of one generator among the generators of its environment.
pub(crate) struct Slot {
    dispatcher: Arc<Dispatcher>,
    number: u32,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let generator = self.dispatcher.generators.borrow_mut().remove(self.number);
        // The list must not be borrowed here, because dropping a ring may use the list.
        drop(generator);
    }
}

/// Returns the number of a slot. JavaScript writes this number to the second element of the array that `setup`
/// received.
#[napi(catch_unwind)]
pub(crate) fn slot_number(slot: &SlotHandle) -> u32 {
    slot.number
}
