//! Where single IDs are handed over to JavaScript.
//!
//! An environment has one function for the next ID of all its generators: JavaScript writes the
//! generator's number into an array, calls it, and reads the ID from that array. With a function for
//! each generator, the second generator of a program would slow down every call by half: the engine
//! then finds several callees at one place, and prepares for any.

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

/// What makes single IDs.
pub(crate) trait Maker {
    fn next_id(&self) -> std::result::Result<Id, Error>;
    fn try_next_id(&self) -> std::result::Result<Id, Error>;
}

/// Those who can be asked, by number.
struct Makers {
    seated: Slab<Arc<dyn Maker>>,
    /// The one who was asked last. To look there first is 5 ns faster, because the clock's code waits
    /// for all loads before it, and these would be a chain of them.
    last: Option<(u32, *const dyn Maker)>,
}

impl Makers {
    #[inline]
    fn get(&mut self, number: u32) -> Option<&dyn Maker> {
        let maker = match self.last {
            Some((last, maker)) if last == number => maker,
            _ => self.look_up(number)?,
        };
        // SAFETY: it is seated, and so alive: `remove` forgets the last one.
        Some(unsafe { &*maker })
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, number: u32) -> Option<*const dyn Maker> {
        let maker = Arc::as_ptr(self.seated.get(number as usize)?);
        self.last = Some((number, maker));
        Some(maker)
    }

    fn remove(&mut self, number: u32) -> Option<Arc<dyn Maker>> {
        self.last = None;
        self.seated.try_remove(number as usize)
    }
}

/// The array of two numbers, the ID and whose it is to be, and those who can be asked.
pub(crate) struct Desk {
    place: *mut u64,
    makers: RefCell<Makers>,
    /// Keeps the memory of `place` where it is: JavaScript never lets go of the array's buffer,
    /// and this reference keeps the collector from it.
    _array: BigUint64Array,
}

impl Desk {
    pub(crate) fn new(mut array: BigUint64Array) -> Option<Arc<Self>> {
        // SAFETY: nothing else looks at the array while it is borrowed here.
        let numbers = unsafe { array.as_mut() };
        let place = if numbers.len() < 2 { return None } else { numbers.as_mut_ptr() };
        #[expect(clippy::arc_with_non_send_sync, reason = "functions are bound to all kinds alike")]
        Some(Arc::new(Self {
            place,
            makers: RefCell::new(Makers { seated: Slab::new(), last: None }),
            _array: array,
        }))
    }

    pub(crate) fn seat(self: &Arc<Self>, maker: Arc<dyn Maker>) -> Seat {
        let number = self.makers.borrow_mut().seated.insert(maker) as u32;
        External::new(Seated { desk: Arc::clone(self), number })
    }

    /// Makes an ID and puts it into the array, or throws.
    #[inline]
    fn serve(
        &self,
        env: sys::napi_env,
        make: impl FnOnce(&dyn Maker) -> std::result::Result<Id, Error>,
    ) {
        caught(env, || {
            // SAFETY: the array has two numbers, in the second's memory there is one of 32 bits, and
            // the array is used in this environment's thread only.
            let number = unsafe { self.place.add(1).cast::<u32>().read() };
            let mut makers = self.makers.borrow_mut();
            let Some(maker) = makers.get(number) else { return function::defect(env) };
            match make(maker) {
                // SAFETY: as above, and the first number.
                Ok(id) => unsafe { self.place.write(id.to_u64()) },
                Err(error) => {
                    // What is called now may collect garbage, and end other seats.
                    drop(makers);
                    fail(env, &error);
                }
            }
        });
    }
}

/// The number of a maker, for as long as JavaScript keeps this.
pub(crate) type Seat = External<Seated>;

pub(crate) struct Seated {
    desk: Arc<Desk>,
    number: u32,
}

impl Drop for Seated {
    fn drop(&mut self) {
        let maker = self.desk.makers.borrow_mut().remove(self.number);
        // Not while the list is borrowed: a ring ends with it.
        drop(maker);
    }
}

/// What to write into the second number of the array.
#[napi(catch_unwind)]
pub(crate) fn seat_number(seat: &Seat) -> u32 {
    seat.number
}

/// The two functions that write the next ID of whoever the second number says into the first: one
/// waits, the other does not.
#[napi(catch_unwind, ts_return_type = "[nextId: () => void, tryNextId: () => void]")]
pub(crate) fn bind_desk(env: &Env) -> Result<Vec<Function<'_, (), ()>>> {
    let desk = &Environment::of(env)?.desk;
    // The environment keeps the desk until it ends, and no function is called after that.
    env.add_env_cleanup_hook(env.raw() as usize, |env| FIRST.forget(env as sys::napi_env))?;
    FIRST.note(env.raw(), desk);
    Ok(vec![
        function::bind(env, c"nextId", next_id, desk)?,
        function::bind(env, c"tryNextId", try_next_id, desk)?,
    ])
}

/// The desk of the process's first environment, usually its only one: to compare two pointers is
/// faster than to ask the runtime what a function is bound to. Written by that environment's thread,
/// which alone can read itself there.
static FIRST: First =
    First { env: AtomicPtr::new(ptr::null_mut()), desk: AtomicPtr::new(ptr::null_mut()) };

struct First {
    env: AtomicPtr<sys::napi_env__>,
    desk: AtomicPtr<Desk>,
}

impl First {
    /// The desk must live until `forget`.
    fn note(&self, env: sys::napi_env, desk: &Arc<Desk>) {
        let (null, relaxed) = (ptr::null_mut(), Ordering::Relaxed);
        if self.env.compare_exchange(null, env, relaxed, relaxed).is_ok() {
            self.desk.store(Arc::as_ptr(desk).cast_mut(), relaxed);
        }
    }

    fn forget(&self, env: sys::napi_env) {
        let (null, relaxed) = (ptr::null_mut(), Ordering::Relaxed);
        // If it is another's, that stays.
        let _ = self.env.compare_exchange(env, null, relaxed, relaxed);
    }
}

/// # Safety
/// As [`bound`], of a function bound to a desk.
#[inline]
unsafe fn desk_of<'call>(env: sys::napi_env, info: sys::napi_callback_info) -> &'call Desk {
    if FIRST.env.load(Ordering::Relaxed) == env {
        // SAFETY: this environment has noted it, in this thread, and has not ended yet.
        unsafe { &*FIRST.desk.load(Ordering::Relaxed) }
    } else {
        // SAFETY: as promised by the caller.
        unsafe { bound::<Desk>(env, info) }
    }
}

unsafe extern "C" fn next_id(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: this is called by the runtime, as a function bound to a desk.
    unsafe { desk_of(env, info) }.serve(env, |maker| maker.next_id());
    ptr::null_mut()
}

unsafe extern "C" fn try_next_id(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: as above.
    unsafe { desk_of(env, info) }.serve(env, |maker| maker.try_next_id());
    ptr::null_mut()
}
