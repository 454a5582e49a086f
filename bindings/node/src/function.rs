//! Native functions that reach their generator through the function's data pointer, which costs a
//! fraction of what an object's method does; the host's arrays that they write to; and work for the
//! threads of the pool.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;
use std::sync::Arc;

use flakeid_core::{Error, Id};
use napi::bindgen_prelude::{FromNapiValue, Function};
use napi::{Env, JsValue, Result, Status, check_status, sys};

use crate::environment::Environment;
use crate::handle::Handle;

type Callback =
    unsafe extern "C" fn(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value;

/// Makes a function whose data pointer is `target`, which it keeps alive.
pub(crate) fn bind<'env, T: 'static>(
    env: &'env Env,
    name: &CStr,
    callback: Callback,
    target: &Arc<T>,
) -> Result<Function<'env, (), ()>> {
    let target: *mut c_void = Arc::into_raw(Arc::clone(target)).cast_mut().cast();
    let (raw, mut function) = (env.raw(), ptr::null_mut());
    let length = name.count_bytes().cast_signed();
    // SAFETY: the environment is the one of this call, and the out pointer is a local. When the
    // finalizer was accepted, it drops the target; otherwise the target leaks, which is sound.
    unsafe {
        let (name, callback) = (name.as_ptr(), Some(callback));
        let made =
            sys::napi_create_function(raw, name, length, callback, target, &raw mut function);
        check_status!(made)?;
        let (free, none) = (Some(free::<T> as Finalize), ptr::null_mut());
        check_status!(sys::napi_add_finalizer(raw, function, target, free, none, ptr::null_mut()))?;
        Function::from_napi_value(raw, function)
    }
}

type Finalize = unsafe extern "C" fn(sys::napi_env, *mut c_void, *mut c_void);

unsafe extern "C" fn free<T>(_env: sys::napi_env, target: *mut c_void, _hint: *mut c_void) {
    // SAFETY: `bind` made it with `Arc::into_raw`, and a finalizer runs once, after the function.
    drop(unsafe { Arc::from_raw(target.cast::<T>()) });
}

/// What the function of a call is bound to.
///
/// # Safety
/// `info` is that of a call under way of a function made by [`bind`] for this type.
#[inline]
pub(crate) unsafe fn bound<'call, T>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> &'call T {
    let mut data = ptr::null_mut();
    let (none, no_values) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: as promised by the caller; the call keeps its function, and so the data, alive.
    unsafe {
        sys::napi_get_cb_info(env, info, none, no_values, ptr::null_mut(), &raw mut data);
        &*data.cast::<T>()
    }
}

/// A panic in a call becomes an error that is thrown.
#[inline]
pub(crate) fn caught(env: sys::napi_env, call: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(call)).is_err() {
        defect(env);
    }
}

pub(crate) unsafe extern "C" fn fill(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: the runtime calls this, as a function that `bind` made for a handle.
    unsafe { fill_by(env, info, Handle::fill) }
}

pub(crate) unsafe extern "C" fn try_fill(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: the runtime calls this, as a function that `bind` made for a handle.
    unsafe { fill_by(env, info, Handle::try_fill) }
}

pub(crate) unsafe extern "C" fn fill_some(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: the runtime calls this, as a function that `bind` made for a handle.
    unsafe { fill_by(env, info, Handle::fill_some) }
}

/// # Safety
/// As [`bound`], of a function bound to a handle.
unsafe fn fill_by(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    make: impl FnOnce(&Handle, &mut [Id]) -> std::result::Result<usize, Error>,
) -> sys::napi_value {
    let (mut data, mut array, mut count) = (ptr::null_mut(), ptr::null_mut(), 1);
    let this = ptr::null_mut();
    let (count, values) = (&raw mut count, &raw mut array);
    // SAFETY: as promised by the caller; there is room for the one argument that is asked for.
    let handle = unsafe {
        sys::napi_get_cb_info(env, info, count, values, this, &raw mut data);
        &*data.cast::<Handle>()
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
    match catch_unwind(AssertUnwindSafe(|| make(handle, ids))) {
        // SAFETY: the environment is the one of this call.
        Ok(Ok(count)) => unsafe {
            sys::napi_create_double(env, count as f64, &raw mut result);
        },
        Ok(Err(error)) => fail(env, &error),
        Err(_) => defect(env),
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
pub(crate) fn fail(env: sys::napi_env, error: &Error) {
    let thrown = Environment::error(&Env::from_raw(env), error);
    match thrown {
        // SAFETY: the value is of this environment and of this call.
        Ok(value) => unsafe {
            sys::napi_throw(env, value.raw());
        },
        Err(failed) => drop(Env::from_raw(env).throw_error(&failed.reason, None)),
    }
}

/// Thrown after a panic, which has been printed.
pub(crate) const DEFECT: &str = "internal error of flakeid: please report it";

/// Throws [`DEFECT`].
#[cold]
pub(crate) fn defect(env: sys::napi_env) {
    drop(Env::from_raw(env).throw_error(DEFECT, None));
}

/// What a task works with in a thread of the pool, and uses up there.
pub(crate) struct TaskInput<T>(Option<T>);

impl<T> TaskInput<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// Does the work. A panic that got out of the task would end the process.
    pub(crate) fn caught<R>(&mut self, work: impl FnOnce(T) -> R) -> Result<R> {
        let defect = || napi::Error::new(Status::GenericFailure, DEFECT);
        let value = self.0.take().ok_or_else(defect)?;
        catch_unwind(AssertUnwindSafe(|| work(value))).map_err(|_| defect())
    }
}
