//! Native functions that reach their generator through the function's data pointer, which costs a
//! fraction of what an object's method does; and the host's arrays that they write to.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;
use std::sync::Arc;

use flakeid_core::{Error, Id};
use napi::bindgen_prelude::{BigUint64Array, FromNapiValue, Function};
use napi::{Env, JsValue, Result, check_status, sys};

use crate::environment::Environment;

/// Where single IDs are handed over: the only number of an array.
#[derive(Clone, Copy)]
pub(crate) struct Place(*mut u64);

// SAFETY: only `hand_over` writes there, in the thread of the environment that the array is of;
// tasks in other threads carry the place along with their generator, but make no use of it.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

/// The array of one number through which single IDs are handed over.
pub(crate) struct Register {
    place: Place,
    /// Keeps the memory of `place` where it is: JavaScript never lets go of the array's buffer,
    /// and this reference keeps the collector from it.
    _array: BigUint64Array,
}

impl Register {
    pub(crate) fn new(mut array: BigUint64Array) -> Option<Self> {
        // SAFETY: nothing else looks at the array while it is borrowed here.
        let place = Place(ptr::from_mut(unsafe { array.as_mut() }.first_mut()?));
        Some(Self { place, _array: array })
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }
}

/// What makes single IDs for the functions bound to it.
pub(crate) trait Maker: 'static {
    /// Where the IDs are to be put.
    fn place(&self) -> Place;
    fn next_id(&self) -> std::result::Result<Id, Error>;
    fn try_next_id(&self) -> std::result::Result<Id, Error>;
}

/// What fills arrays for the functions bound to it.
pub(crate) trait Filler: 'static {
    fn fill(&self, ids: &mut [Id]) -> std::result::Result<usize, Error>;
    fn try_fill(&self, ids: &mut [Id]) -> std::result::Result<usize, Error>;

    /// As many as there are now; waits only if there is none, and only for one.
    fn fill_some(&self, ids: &mut [Id]) -> std::result::Result<usize, Error> {
        if let Ok(count) = self.try_fill(ids) {
            return Ok(count);
        }
        let Some((first, rest)) = ids.split_first_mut() else { return Ok(0) };
        self.fill(slice::from_mut(first))?;
        // What stands in the way of the rest is met again by the next call.
        Ok(1 + self.try_fill(rest).unwrap_or_default())
    }
}

type Callback =
    unsafe extern "C" fn(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value;

/// Makes a function whose data pointer is the generator, which it keeps alive.
pub(crate) fn bind<'env, M: 'static>(
    env: &'env Env,
    name: &CStr,
    callback: Callback,
    maker: &Arc<M>,
) -> Result<Function<'env, (), ()>> {
    let maker: *mut c_void = Arc::into_raw(Arc::clone(maker)).cast_mut().cast();
    let (raw, mut function) = (env.raw(), ptr::null_mut());
    let length = name.count_bytes().cast_signed();
    // SAFETY: the environment is the one of this call, and the out pointer is a local. When the
    // finalizer was accepted, it is what drops the maker; otherwise it leaks, which is sound.
    unsafe {
        let (name, callback) = (name.as_ptr(), Some(callback));
        let made = sys::napi_create_function(raw, name, length, callback, maker, &raw mut function);
        check_status!(made)?;
        let (free, none) = (Some(free::<M> as Finalize), ptr::null_mut());
        check_status!(sys::napi_add_finalizer(raw, function, maker, free, none, ptr::null_mut()))?;
        Function::from_napi_value(raw, function)
    }
}

type Finalize = unsafe extern "C" fn(sys::napi_env, *mut c_void, *mut c_void);

unsafe extern "C" fn free<M>(_env: sys::napi_env, maker: *mut c_void, _hint: *mut c_void) {
    // SAFETY: `bind` made it with `Arc::into_raw`, and a finalizer runs once, after the function.
    drop(unsafe { Arc::from_raw(maker.cast::<M>()) });
}

/// The generator of a call.
///
/// # Safety
/// `info` is that of a call under way of a function made by [`bind`] for a maker of this type.
#[inline]
unsafe fn maker_of<'call, M>(env: sys::napi_env, info: sys::napi_callback_info) -> &'call M {
    let mut data = ptr::null_mut();
    let (none, no_values) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: as promised by the caller; the call keeps its function, and so the maker, alive.
    unsafe {
        sys::napi_get_cb_info(env, info, none, no_values, ptr::null_mut(), &raw mut data);
        &*data.cast::<M>()
    }
}

pub(crate) unsafe extern "C" fn next_id<M: Maker>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: this is called by the runtime, as a function made by `bind`.
    unsafe { hand_over(env, info, M::next_id) }
}

pub(crate) unsafe extern "C" fn try_next_id<M: Maker>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: this is called by the runtime, as a function made by `bind`.
    unsafe { hand_over(env, info, M::try_next_id) }
}

/// # Safety
/// As [`maker_of`].
#[inline]
unsafe fn hand_over<M: Maker>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    make: impl FnOnce(&M) -> std::result::Result<Id, Error>,
) -> sys::napi_value {
    // SAFETY: as promised by the caller.
    let maker = unsafe { maker_of::<M>(env, info) };
    // The result is looked at inside: handed out, it would be copied, on the hot path too.
    let call = || match make(maker) {
        // SAFETY: the place lives as long as the environment, in whose thread this is: makers are
        // not shared with other environments.
        Ok(id) => unsafe { *maker.place().0 = id.to_u64() },
        Err(error) => fail(env, &error),
    };
    if catch_unwind(AssertUnwindSafe(call)).is_err() {
        fail_from_panic(env);
    }
    ptr::null_mut()
}

pub(crate) unsafe extern "C" fn fill<M: Filler>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: this is called by the runtime, as a function made by `bind`.
    unsafe { fill_by(env, info, M::fill) }
}

pub(crate) unsafe extern "C" fn try_fill<M: Filler>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: this is called by the runtime, as a function made by `bind`.
    unsafe { fill_by(env, info, M::try_fill) }
}

pub(crate) unsafe extern "C" fn fill_some<M: Filler>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: this is called by the runtime, as a function made by `bind`.
    unsafe { fill_by(env, info, M::fill_some) }
}

/// # Safety
/// As [`maker_of`].
unsafe fn fill_by<M: Filler>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    make: impl FnOnce(&M, &mut [Id]) -> std::result::Result<usize, Error>,
) -> sys::napi_value {
    let (mut data, mut array, mut count) = (ptr::null_mut(), ptr::null_mut(), 1);
    let this = ptr::null_mut();
    let (count, values) = (&raw mut count, &raw mut array);
    // SAFETY: as promised by the caller; there is room for the one argument that is asked for.
    let maker = unsafe {
        sys::napi_get_cb_info(env, info, count, values, this, &raw mut data);
        &*data.cast::<M>()
    };
    // SAFETY: the argument is of this call, during which no JavaScript runs.
    let Some(numbers) = (unsafe { numbers_of(env, array) }) else {
        // SAFETY: both strings are constants that end in NUL.
        unsafe {
            let code = c"ERR_INVALID_ARG_TYPE".as_ptr();
            let message = c"ids must be a BigUint64Array or a BigInt64Array on memory of its own";
            sys::napi_throw_type_error(env, code, message.as_ptr());
        }
        return ptr::null_mut();
    };
    let ids = Id::from_u64_slice_mut(numbers);
    let mut result = ptr::null_mut();
    match catch_unwind(AssertUnwindSafe(|| make(maker, ids))) {
        // SAFETY: the environment is the one of this call.
        Ok(Ok(count)) => unsafe {
            sys::napi_create_double(env, count as f64, &raw mut result);
        },
        Ok(Err(error)) => fail(env, &error),
        Err(_) => fail_from_panic(env),
    }
    result
}

/// The 64-bit numbers of a typed array; `None` for anything else, and for shared memory, which
/// other threads may write to at the same time.
///
/// # Safety
/// `array` is a value of the call under way, and no JavaScript runs while the result is used.
unsafe fn numbers_of<'call>(
    env: sys::napi_env,
    array: sys::napi_value,
) -> Option<&'call mut [u64]> {
    let (mut kind, mut length, mut data) = (0, 0, ptr::null_mut());
    let (mut buffer, mut owned) = (ptr::null_mut(), false);
    let (kind_at, length_at, data_at) = (&raw mut kind, &raw mut length, &raw mut data);
    let offset = ptr::null_mut();
    // SAFETY: the out pointers are locals; what is no typed array is refused by the call.
    let told = unsafe {
        let buffer_at = &raw mut buffer;
        sys::napi_get_typedarray_info(env, array, kind_at, length_at, data_at, buffer_at, offset)
    };
    if told != sys::Status::napi_ok {
        return None;
    }
    let wide =
        kind == sys::TypedarrayType::biguint64_array || kind == sys::TypedarrayType::bigint64_array;
    // SAFETY: the buffer was given by the call before.
    let known = unsafe { sys::napi_is_arraybuffer(env, buffer, &raw mut owned) };
    if !wide || known != sys::Status::napi_ok || !owned {
        return None;
    }
    let data: *mut u64 = data.cast();
    if length == 0 {
        return Some(&mut []);
    }
    if data.is_null() || !data.is_aligned() {
        return None;
    }
    // SAFETY: the runtime says that so many elements are there; the array keeps them, no other
    // thread can reach them, and any bits are a number.
    Some(unsafe { slice::from_raw_parts_mut(data, length) })
}

#[cold]
fn fail(env: sys::napi_env, error: &Error) {
    let thrown = Environment::error(&Env::from_raw(env), error);
    match thrown {
        // SAFETY: the value is of this environment and of this call.
        Ok(value) => unsafe {
            sys::napi_throw(env, value.raw());
        },
        Err(failed) => drop(Env::from_raw(env).throw_error(&failed.reason, None)),
    }
}

/// What the program can do after a panic is the same as for any bug; the panic has been printed.
pub(crate) const DEFECT: &str = "internal error of flakeid: please report it";

#[cold]
fn fail_from_panic(env: sys::napi_env) {
    drop(Env::from_raw(env).throw_error(DEFECT, None));
}
