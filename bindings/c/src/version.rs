//! Which library this is.

use std::ffi::{CStr, c_char};

/// Number of the binary interface that this header describes. It changes only when programs have
/// to be compiled anew: structs may grow at their end without it (see struct_size).
pub const FLAKEID_ABI_VERSION: u32 = 1;

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// The FLAKEID_ABI_VERSION that the library was built with; programs compare it with the header's.
/// Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_abi_version() -> u32 {
    FLAKEID_ABI_VERSION
}

/// The library's version, such as "0.1.0". The string is static. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_version() -> *const c_char {
    VERSION.as_ptr()
}
