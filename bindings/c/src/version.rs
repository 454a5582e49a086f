//! The version of the library.

use std::ffi::{CStr, c_char};

/// The version number of the binary interface (ABI) that this header describes. The number changes
/// only when programs must be recompiled. Structs may grow at their end without a new version
/// number (see struct_size).
pub const FLAKEID_ABI_VERSION: u32 = 1;

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// Returns the FLAKEID_ABI_VERSION with which the library was built. Programs can compare this
/// number with the number in their header. Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_abi_version() -> u32 {
    FLAKEID_ABI_VERSION
}

/// Returns the library's version, such as "0.1.0". The string is static. Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_version() -> *const c_char {
    VERSION.as_ptr()
}
