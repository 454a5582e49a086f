//! Tests of cases that no C program compiled with this version's header can cause: panics, and
//! structs of other versions.

#![allow(unsafe_code, unreachable_pub, dead_code, missing_docs)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::doc_markdown, clippy::missing_safety_doc)]

#[path = "../src/border.rs"]
mod border;
#[path = "../src/fault.rs"]
mod fault;
#[path = "../src/guard.rs"]
mod guard;
#[path = "../src/last_error.rs"]
mod last_error;
#[path = "../src/spelling.rs"]
mod spelling;
#[path = "../src/status.rs"]
mod status;

use std::ffi::CStr;
use std::mem::offset_of;

use border::Sized32;
use fault::Fault;
use guard::guard;
use status::{FLAKEID_INVALID_OPTION, FLAKEID_OK, FLAKEID_PANIC};

/// A struct to which a later release has added the field `second`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Later {
    struct_size: u32,
    first: u32,
    second: u64,
}

// SAFETY: the struct is `repr(C)`, begins with a `u32`, and contains only numbers, which may be
// zero.
unsafe impl Sized32 for Later {
    const FIRST: usize = offset_of!(Later, second);
}

fn last_error() -> String {
    // SAFETY: the library returns NUL-terminated strings.
    unsafe { CStr::from_ptr(last_error::flakeid_last_error()) }.to_str().unwrap().to_owned()
}

fn read(value: Later) -> Result<Later, i32> {
    // SAFETY: no test passes a `struct_size` that is larger than the struct.
    unsafe { border::read_sized(&raw const value) }.map_err(|fault: Fault| fault.status())
}

type Call = fn() -> Result<(), Fault>;

#[test]
fn guard_converts_a_panic_to_a_status_and_message() {
    let calls: [(Call, &str); 3] = [
        (|| panic!("a {}", String::from("String")), "a String"),
        (|| panic!("a str"), "a str"),
        (|| std::panic::panic_any(7), "no message"),
    ];
    for (call, message) in calls {
        assert_eq!(guard(call), FLAKEID_PANIC);
        let expected = format!("internal flakeid error ({message}); please report it");
        assert_eq!(last_error(), expected);
    }
}

#[test]
fn structs_of_an_earlier_release_are_read_and_written() {
    let earlier = Later { struct_size: 8, first: 1, second: 2 };
    assert_eq!(read(earlier), Ok(Later { second: 0, ..earlier }));
    let mut written = earlier;
    // SAFETY: the `struct_size` of `written` is 8, and `written` has more than 8 writable bytes.
    unsafe {
        border::write_sized(&Later { struct_size: 0, first: 3, second: 4 }, &raw mut written)
    }
    .map_err(|fault| fault.status())
    .unwrap();
    assert_eq!(written, Later { first: 3, ..earlier });
    assert_eq!(read(Later { struct_size: 4, ..earlier }), Err(FLAKEID_INVALID_OPTION));
    assert_eq!(read(Later { struct_size: 10, ..earlier }), Err(FLAKEID_INVALID_OPTION));
    assert_eq!(guard(|| Ok(())), FLAKEID_OK);
}
