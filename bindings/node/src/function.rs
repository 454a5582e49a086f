//! Native functions that find their generators through data pointers. A call through a data pointer takes a fraction
//! of the time of a method call on an object. This file also provides access to JavaScript arrays.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;
use std::sync::Arc;

use flakeid_core::{Error, Id};
use napi::bindgen_prelude::{FromNapiValue, Function};
use napi::{Env, JsValue, Result, check_status, sys};

use crate::environment::Environment;
use crate::handle::Handle;

type Callback =
    unsafe extern "C" fn(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value;

/// Creates a function with the data pointer `target`. The function keeps `target` alive.
pub(crate) fn bind<'env, T: 'static>(
    env: &'env Env,
    name: &CStr,
    callback: Callback,
    target: &Arc<T>,
) -> Result<Function<'env, (), ()>> {
    let target: *mut c_void = Arc::into_raw(Arc::clone(target)).cast_mut().cast();
    let (raw, mut function) = (env.raw(), ptr::null_mut());
    let length = name.count_bytes().cast_signed();
    // SAFETY: the environment belongs to this call, and the out pointer points to a local variable. If the runtime
    // accepts the finalizer, the finalizer drops the target. Otherwise, the target leaks, which is sound.
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
    // SAFETY: `bind` created the pointer with `Arc::into_raw`, and the finalizer runs once, after the function has
    // been collected.
    drop(unsafe { Arc::from_raw(target.cast::<T>()) });
}

/// Returns the target to which the called function is bound.
///
/// # Safety
/// `info` must belong to a running call to a function that [`bind`] created for this type.
#[inline]
pub(crate) unsafe fn bound<'call, T>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> &'call T {
    let mut data = ptr::null_mut();
    let (none, no_values) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the caller guarantees the type. The call keeps its function alive, and the function keeps the data
    // alive.
    unsafe {
        sys::napi_get_cb_info(env, info, none, no_values, ptr::null_mut(), &raw mut data);
        &*data.cast::<T>()
    }
}

/// Runs `call`, and throws an error if `call` panics.
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
    // SAFETY: the runtime calls this callback only for a function that `bind` created for a handle.
    unsafe { fill_by(env, info, Handle::fill) }
}

pub(crate) unsafe extern "C" fn try_fill(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: the runtime calls this callback only for a function that `bind` created for a handle.
    unsafe { fill_by(env, info, Handle::try_fill) }
}

pub(crate) unsafe extern "C" fn fill_some(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: the runtime calls this callback only for a function that `bind` created for a handle.
    unsafe { fill_by(env, info, Handle::fill_some) }
}

/// # Safety
/// The function must be bound to a handle. In addition, the conditions of [`bound`] apply.
unsafe fn fill_by(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    make: impl FnOnce(&Handle, &mut [Id]) -> std::result::Result<usize, Error>,
) -> sys::napi_value {
    let (mut data, mut array, mut count) = (ptr::null_mut(), ptr::null_mut(), 1);
    let this = ptr::null_mut();
    let (count, values) = (&raw mut count, &raw mut array);
    // SAFETY: the caller guarantees the type, and `array` has room for the one requested argument.
    let handle = unsafe {
        sys::napi_get_cb_info(env, info, count, values, this, &raw mut data);
        &*data.cast::<Handle>()
    };
    // SAFETY: the argument belongs to this call, and no JavaScript runs while `numbers` is used.
    let Some(numbers) = (unsafe { numbers_of(env, array) }) else {
        // SAFETY: both strings are NUL-terminated constants.
        unsafe {
            let code = c"ERR_INVALID_ARG_TYPE".as_ptr();
            let message =
                c"ids must be a BigUint64Array or a BigInt64Array whose memory is not shared";
            sys::napi_throw_type_error(env, code, message.as_ptr());
        }
        return ptr::null_mut();
    };
    let ids = Id::from_u64_slice_mut(numbers);
    let mut result = ptr::null_mut();
    match catch_unwind(AssertUnwindSafe(|| make(handle, ids))) {
        // SAFETY: the environment belongs to this call.
        Ok(Ok(count)) => unsafe {
            sys::napi_create_double(env, count as f64, &raw mut result);
        },
        Ok(Err(error)) => fail(env, &error),
        Err(_) => defect(env),
    }
    result
}

/// Returns the elements of a typed array of 64-bit integers. Returns `None` for any other value, and for shared
/// memory, because other threads may write to shared memory at the same time.
///
/// # Safety
/// `array` must be a value that belongs to the current call from JavaScript, and no JavaScript may run while the
/// result is in use.
unsafe fn numbers_of<'call>(
    env: sys::napi_env,
    array: sys::napi_value,
) -> Option<&'call mut [u64]> {
    let (mut kind, mut length, mut data) = (0, 0, ptr::null_mut());
    let (mut buffer, mut owned) = (ptr::null_mut(), false);
    let (kind_at, length_at, data_at) = (&raw mut kind, &raw mut length, &raw mut data);
    let offset = ptr::null_mut();
    // SAFETY: the out pointers point to local variables, and the call rejects values that are not typed arrays.
    let status = unsafe {
        let buffer_at = &raw mut buffer;
        sys::napi_get_typedarray_info(env, array, kind_at, length_at, data_at, buffer_at, offset)
    };
    if status != sys::Status::napi_ok {
        return None;
    }
    let wide =
        kind == sys::TypedarrayType::biguint64_array || kind == sys::TypedarrayType::bigint64_array;
    // SAFETY: the previous call to the runtime returned the buffer.
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
    // SAFETY: the runtime guarantees the number of elements, and the array keeps the elements alive. No other
    // thread can access the elements, and all bit patterns are valid numbers.
    Some(unsafe { slice::from_raw_parts_mut(data, length) })
}

#[cold]
pub(crate) fn fail(env: sys::napi_env, error: &Error) {
    let thrown = Environment::error(&Env::from_raw(env), error);
    match thrown {
        // SAFETY: the value belongs to this environment and this call.
        Ok(value) => unsafe {
            sys::napi_throw(env, value.raw());
        },
        Err(failed) => drop(Env::from_raw(env).throw_error(&failed.reason, None)),
    }
}

/// The message of the error that is thrown after a panic. The panic itself has already been printed.
pub(crate) const DEFECT: &str = "internal flakeid error; please report it";

/// Throws [`DEFECT`].
#[cold]
pub(crate) fn defect(env: sys::napi_env) {
    drop(Env::from_raw(env).throw_error(DEFECT, None));
}
