//! The loops of `bench.c` in Rust.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use flakeid_core::{Generator, Id, Layout};

/// Builds a generator with the given layout.
///
/// # Safety
/// `layout` must point to a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rust_generator(layout: *const c_char, node: u64) -> Box<Generator> {
    let layout: Layout = unsafe { CStr::from_ptr(layout) }.to_str().unwrap().parse().unwrap();
    Box::new(Generator::new(layout, node).unwrap())
}

#[unsafe(no_mangle)]
pub extern "C" fn rust_next(generator: &Generator, calls: u64, sum: &mut u64) {
    for _ in 0..calls {
        *sum = sum.wrapping_add(generator.next_id().unwrap().to_u64());
    }
}

/// Fills an array the given number of times.
///
/// # Safety
/// `ids` must point to `n` integers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rust_fill(generator: &Generator, ids: *mut u64, n: usize, calls: u64) {
    let ids = unsafe { std::slice::from_raw_parts_mut(ids, n) };
    for _ in 0..calls {
        assert_eq!(generator.fill(Id::from_u64_slice_mut(ids)).unwrap(), n);
    }
}

/// Makes the smallest call that a library in Rust can offer to C: it lets no panic through, and returns 0 if it
/// succeeded.
///
/// # Safety
/// `ids` must point to `n` integers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rust_fill_once(
    generator: &Generator,
    ids: *mut u64,
    n: usize,
    count: &mut usize,
) -> i32 {
    let ids = unsafe { std::slice::from_raw_parts_mut(ids, n) };
    match catch_unwind(AssertUnwindSafe(|| generator.fill(Id::from_u64_slice_mut(ids)))) {
        Ok(Ok(filled)) => {
            *count = filled;
            0
        }
        Ok(Err(_)) | Err(_) => 1,
    }
}
