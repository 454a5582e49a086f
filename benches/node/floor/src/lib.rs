//! The floor of a Node add-on in Rust: calls that do the minimum.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use napi::bindgen_prelude::{BigInt, FromNapiValue, Function};
use napi::sys::{self, napi_callback_info, napi_env, napi_value};
use napi::{Env, Result};
use napi_derive::napi;

/// A number as large as an ID; a smaller BigInt costs the same.
const LARGE: u64 = 1 << 62 | 12345;

/// Returns a BigInt from a plain function of napi-rs.
#[napi]
pub fn plain() -> BigInt {
    BigInt::from(LARGE)
}

type Callback = unsafe extern "C" fn(napi_env, napi_callback_info) -> napi_value;

/// Returns a BigInt from a bare function.
#[napi]
pub fn bare(env: &Env) -> Result<Function<'_, (), BigInt>> {
    make(env, c"bare", number)
}

/// Reads the processor's counter and swaps a word, as `nextId` must, in a bare function that returns nothing: an ID
/// would be in an array that JavaScript reads.
#[napi]
pub fn bare_counted(env: &Env) -> Result<Function<'_, (), BigInt>> {
    make(env, c"counted", counted)
}

/// Writes `base + i` into a `BigUint64Array` in a bare function.
#[napi]
pub fn bare_fill(env: &Env) -> Result<Function<'_, (), BigInt>> {
    make(env, c"fill", fill)
}

fn make<'env>(env: &'env Env, name: &CStr, call: Callback) -> Result<Function<'env, (), BigInt>> {
    let (raw, mut function, none) = (env.raw(), ptr::null_mut(), ptr::null_mut());
    let length = name.count_bytes().cast_signed();
    // SAFETY: the environment belongs to the call, the name ends in NUL, and the result is a local.
    unsafe {
        let made = &raw mut function;
        sys::napi_create_function(raw, name.as_ptr(), length, Some(call), none, made);
        Function::from_napi_value(raw, function)
    }
}

unsafe extern "C" fn number(env: napi_env, _info: napi_callback_info) -> napi_value {
    let mut value = ptr::null_mut();
    // SAFETY: the environment belongs to the call, and the result is a local.
    unsafe { sys::napi_create_bigint_uint64(env, LARGE, &raw mut value) };
    value
}

static WORD: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn counted(_env: napi_env, _info: napi_callback_info) -> napi_value {
    let before = WORD.load(Ordering::Relaxed);
    let after = counter().max(before + 1);
    // No other thread swaps the word.
    let _ = WORD.compare_exchange(before, after, Ordering::Relaxed, Ordering::Relaxed);
    ptr::null_mut()
}

#[cfg(target_arch = "x86_64")]
fn counter() -> u64 {
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Reads the system's clock on processors whose counter flakeid does not read, because it is the default there.
#[cfg(not(target_arch = "x86_64"))]
fn counter() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis() as u64) << 22
}

unsafe extern "C" fn fill(env: napi_env, info: napi_callback_info) -> napi_value {
    let (mut array, mut count) = (ptr::null_mut(), 1);
    let (mut kind, mut length, mut data) = (0, 0, ptr::null_mut::<c_void>());
    // SAFETY: out pointers are locals, or null where the interface allows it. The benchmark passes the array, and nothing
    // else accesses its memory during the call.
    let numbers = unsafe {
        let (at, none) = (&raw mut array, ptr::null_mut());
        sys::napi_get_cb_info(env, info, &raw mut count, at, none, ptr::null_mut());
        sys::napi_get_typedarray_info(
            env,
            array,
            &raw mut kind,
            &raw mut length,
            &raw mut data,
            ptr::null_mut(),
            ptr::null_mut(),
        );
        slice::from_raw_parts_mut(data.cast::<u64>(), length)
    };
    for (number, id) in numbers.iter_mut().zip(LARGE..) {
        *number = id;
    }
    ptr::null_mut()
}
