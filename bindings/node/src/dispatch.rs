//! How JavaScript gets single IDs.
//!
//! An environment has one function for the next ID of all its generators: JavaScript writes the
//! number of the generator's slot into an array, calls the function, and reads the ID from that
//! array. If each generator had a function of its own, the second generator of a program would make
//! every call take half as long again: the engine then sees several callees at one call site, and
//! compiles it for any callee.

#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use flakeid_core::{Error, Id};
use napi::bindgen_prelude::{BigUint64Array, External, Function};
use napi::{Env, Result, sys};
use napi_derive::napi;
use slab::Slab;

use crate::environment::Environment;
use crate::function::{self, bound, caught, fail};

/// What single IDs come from: a generator, a local handle or a ring.
pub(crate) trait NextId {
    fn next_id(&self) -> std::result::Result<Id, Error>;
    fn try_next_id(&self) -> std::result::Result<Id, Error>;
}

/// All of an environment's, by the numbers of their slots.
struct Generators {
    slots: Slab<Arc<dyn NextId>>,
    /// The one that was used last. To look there first saves 5 ns, because the clock's code waits
    /// for all loads before it, and a lookup is a chain of loads.
    last: Option<(u32, *const dyn NextId)>,
}

impl Generators {
    #[inline]
    fn get(&mut self, number: u32) -> Option<&dyn NextId> {
        let generator = match self.last {
            Some((last, generator)) if last == number => generator,
            _ => self.look_up(number)?,
        };
        // SAFETY: it is in its slot, and so alive: `remove` also forgets the last one.
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

/// An environment's generators, and the array of two numbers through which JavaScript asks them:
/// the ID that was made, and the slot of the generator that is to make it.
pub(crate) struct Dispatcher {
    mailbox: *mut u64,
    generators: RefCell<Generators>,
    /// Keeps the memory of `mailbox` where it is: JavaScript never lets go of the array's buffer,
    /// and this reference keeps the collector from it.
    _array: BigUint64Array,
}

impl Dispatcher {
    pub(crate) fn new(mut array: BigUint64Array) -> Option<Arc<Self>> {
        // SAFETY: nothing else looks at the array while it is borrowed here.
        let numbers = unsafe { array.as_mut() };
        let mailbox = if numbers.len() < 2 { return None } else { numbers.as_mut_ptr() };
        #[expect(clippy::arc_with_non_send_sync, reason = "functions are bound to all kinds alike")]
        Some(Arc::new(Self {
            mailbox,
            generators: RefCell::new(Generators { slots: Slab::new(), last: None }),
            _array: array,
        }))
    }

    pub(crate) fn register(self: &Arc<Self>, generator: Arc<dyn NextId>) -> SlotHandle {
        let number = self.generators.borrow_mut().slots.insert(generator) as u32;
        External::new(Slot { dispatcher: Arc::clone(self), number })
    }

    /// Makes an ID and puts it into the array, or throws.
    #[inline]
    fn dispatch(
        &self,
        env: sys::napi_env,
        make: impl FnOnce(&dyn NextId) -> std::result::Result<Id, Error>,
    ) {
        caught(env, || {
            // SAFETY: the array has two numbers, the second one's memory holds one of 32 bits, and
            // the array is used in this environment's thread only.
            let number = unsafe { self.mailbox.add(1).cast::<u32>().read() };
            let mut generators = self.generators.borrow_mut();
            let Some(generator) = generators.get(number) else { return function::defect(env) };
            match make(generator) {
                // SAFETY: as above, and the first number.
                Ok(id) => unsafe { self.mailbox.write(id.to_u64()) },
                Err(error) => {
                    // What is called now may collect garbage, and with it other slots.
                    drop(generators);
                    fail(env, &error);
                }
            }
        });
    }
}

/// A slot, which is freed once JavaScript does not keep this any more.
pub(crate) type SlotHandle = External<Slot>;

/// The place of one generator among those of its environment.
pub(crate) struct Slot {
    dispatcher: Arc<Dispatcher>,
    number: u32,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let generator = self.dispatcher.generators.borrow_mut().remove(self.number);
        // Not while the list is borrowed: this may be the end of a ring.
        drop(generator);
    }
}

/// What to write into the second number of the array.
#[napi(catch_unwind)]
pub(crate) fn slot_number(slot: &SlotHandle) -> u32 {
    slot.number
}

/// Two functions that write the next ID of the generator whose slot is in the second number into
/// the first one: one waits, the other does not.
#[napi(catch_unwind, ts_return_type = "[nextId: () => void, tryNextId: () => void]")]
pub(crate) fn bind_dispatch(env: &Env) -> Result<Vec<Function<'_, (), ()>>> {
    let dispatcher = &Environment::of(env)?.dispatcher;
    // The environment keeps the dispatcher until it ends, and no function is called after that.
    env.add_env_cleanup_hook(env.raw() as usize, |env| FIRST.forget(env as sys::napi_env))?;
    FIRST.note(env.raw(), dispatcher);
    Ok(vec![
        function::bind(env, c"nextId", next_id, dispatcher)?,
        function::bind(env, c"tryNextId", try_next_id, dispatcher)?,
    ])
}

/// The dispatcher of the process's first environment, usually its only one: to compare two pointers
/// is faster than to ask the runtime what a function is bound to. It is written by that
/// environment's thread, and no other thread finds its own environment here.
static FIRST: First =
    First { env: AtomicPtr::new(ptr::null_mut()), dispatcher: AtomicPtr::new(ptr::null_mut()) };

struct First {
    env: AtomicPtr<sys::napi_env__>,
    dispatcher: AtomicPtr<Dispatcher>,
}

impl First {
    /// The dispatcher must live until `forget`.
    fn note(&self, env: sys::napi_env, dispatcher: &Arc<Dispatcher>) {
        let (null, relaxed) = (ptr::null_mut(), Ordering::Relaxed);
        if self.env.compare_exchange(null, env, relaxed, relaxed).is_ok() {
            self.dispatcher.store(Arc::as_ptr(dispatcher).cast_mut(), relaxed);
        }
    }

    fn forget(&self, env: sys::napi_env) {
        let (null, relaxed) = (ptr::null_mut(), Ordering::Relaxed);
        // If another environment was the first, it stays.
        let _ = self.env.compare_exchange(env, null, relaxed, relaxed);
    }
}

/// # Safety
/// As [`bound`], of a function bound to a dispatcher.
#[inline]
unsafe fn dispatcher_of<'call>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> &'call Dispatcher {
    if FIRST.env.load(Ordering::Relaxed) == env {
        // SAFETY: this environment has noted it, in this thread, and has not ended yet.
        unsafe { &*FIRST.dispatcher.load(Ordering::Relaxed) }
    } else {
        // SAFETY: as promised by the caller.
        unsafe { bound::<Dispatcher>(env, info) }
    }
}

unsafe extern "C" fn next_id(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: the runtime calls this, as a function bound to a dispatcher.
    unsafe { dispatcher_of(env, info) }.dispatch(env, |generator| generator.next_id());
    ptr::null_mut()
}

unsafe extern "C" fn try_next_id(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: as above.
    unsafe { dispatcher_of(env, info) }.dispatch(env, |generator| generator.try_next_id());
    ptr::null_mut()
}
