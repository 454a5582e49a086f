//! Transfer of single IDs to JavaScript.
//!
//! All generators of an environment share one function that generates the next ID. JavaScript writes the number of a
//! generator's slot into an array, calls the function, and reads the ID from the same array. If each generator had
//! its own function, a program's second generator would make every call take 50 % longer. The engine would see
//! several callees at one call site, and would compile that call site for any callee.

#![allow(unsafe_code)]

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use flakeid_core::{Error, Id};
use napi::bindgen_prelude::Function;
use napi::{Env, Result, sys};
use napi_derive::napi;

use crate::environment::Environment;
use crate::function::{self, bound, caught, fail};
use crate::slots::{Dispatcher, NextId};

impl Dispatcher {
    /// Generates an ID and writes the ID to the array, or throws an error.
    #[inline]
    fn dispatch(
        &self,
        env: sys::napi_env,
        make: impl FnOnce(&dyn NextId) -> std::result::Result<Id, Error>,
    ) {
        caught(env, || {
            // SAFETY: the array has two elements, the memory of the second element contains a 32-bit number, and only
            // this environment's thread uses the array.
            let number = unsafe { self.mailbox.add(1).cast::<u32>().read() };
            let mut generators = self.generators.borrow_mut();
            let Some(generator) = generators.get(number) else { return function::defect(env) };
            match make(generator) {
                // SAFETY: the array has two elements, and only this environment's thread uses the array.
                Ok(id) => unsafe { self.mailbox.write(id.to_u64()) },
                Err(error) => {
                    // The borrow must end before `fail` is called, because `fail` may trigger a garbage collection,
                    // which borrows `generators` to remove slots.
                    drop(generators);
                    fail(env, &error);
                }
            }
        });
    }
}

/// Creates two functions that generate the next ID. Each function reads the number of a generator's slot from the
/// second element of the array that `setup` received, and writes the ID to the first element. The first function
/// waits; the second function does not.
#[napi(catch_unwind, ts_return_type = "[nextId: () => void, tryNextId: () => void]")]
pub(crate) fn bind_dispatch(env: &Env) -> Result<Vec<Function<'_, (), ()>>> {
    let dispatcher = &Environment::from_env(env)?.dispatcher;
    // The environment keeps the dispatcher alive until the environment ends. JavaScript cannot call the functions after
    // the environment has ended.
    env.add_env_cleanup_hook(env.raw() as usize, |env| FIRST.forget(env as sys::napi_env))?;
    FIRST.note(env.raw(), dispatcher);
    Ok(vec![
        function::bind(env, c"nextId", next_id, dispatcher)?,
        function::bind(env, c"tryNextId", try_next_id, dispatcher)?,
    ])
}

/// The dispatcher of the process's first environment, which is the only environment in most programs. Comparing two
/// pointers is faster than requesting a function's data from the runtime. Only the thread of the first environment
/// writes the dispatcher. Other threads do not use the dispatcher, because their environments differ from the
/// recorded environment.
static FIRST: First =
    First { env: AtomicPtr::new(ptr::null_mut()), dispatcher: AtomicPtr::new(ptr::null_mut()) };

struct First {
    env: AtomicPtr<sys::napi_env__>,
    dispatcher: AtomicPtr<Dispatcher>,
}

impl First {
    /// Records an environment if no other environment is recorded. The dispatcher must live until `forget` is called.
    fn note(&self, env: sys::napi_env, dispatcher: &Arc<Dispatcher>) {
        let (null, relaxed) = (ptr::null_mut(), Ordering::Relaxed);
        if self.env.compare_exchange(null, env, relaxed, relaxed).is_ok() {
            self.dispatcher.store(Arc::as_ptr(dispatcher).cast_mut(), relaxed);
        }
    }

    fn forget(&self, env: sys::napi_env) {
        let (null, relaxed) = (ptr::null_mut(), Ordering::Relaxed);
        // If another environment is recorded, the exchange fails and that environment remains recorded.
        let _ = self.env.compare_exchange(env, null, relaxed, relaxed);
    }
}

/// Returns the dispatcher of the environment in which a call runs.
///
/// # Safety
/// The conditions of [`bound`] apply, and the function must be bound to a dispatcher.
#[inline]
unsafe fn dispatcher_of<'call>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> &'call Dispatcher {
    if FIRST.env.load(Ordering::Relaxed) == env {
        // SAFETY: this environment recorded the dispatcher in this thread, and has not ended yet.
        unsafe { &*FIRST.dispatcher.load(Ordering::Relaxed) }
    } else {
        // SAFETY: the caller guarantees that the function is bound to a dispatcher.
        unsafe { bound::<Dispatcher>(env, info) }
    }
}

unsafe extern "C" fn next_id(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: the runtime calls this callback only for a function that is bound to a dispatcher.
    unsafe { dispatcher_of(env, info) }.dispatch(env, |generator| generator.next_id());
    ptr::null_mut()
}

unsafe extern "C" fn try_next_id(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: the runtime calls this callback only for a function that is bound to a dispatcher.
    unsafe { dispatcher_of(env, info) }.dispatch(env, |generator| generator.try_next_id());
    ptr::null_mut()
}
