//! The error of the last failed call on the calling thread. The error is stored as a value and
//! formatted only on request, so a loop of failing `try_next` calls formats and allocates nothing.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::time::Duration;

use flakeid_core::{Error, whole_ms};

use crate::fault::Fault;
use crate::spelling::{self, FLAKEID_SPELLING_C};

struct LastError {
    fault: Fault,
    /// The error message and the field name in each spelling.
    spelled: [Spelled; spelling::COUNT],
}

#[derive(Default)]
struct Spelled {
    message: Option<CString>,
    field: Option<CString>,
}

thread_local! {
    static LAST: RefCell<Option<LastError>> = const { RefCell::new(None) };
}

impl LastError {
    fn new(fault: Fault) -> Self {
        Self { fault, spelled: Default::default() }
    }
}

/// Replaces the last error of this thread, and returns the previous error. Does nothing in a thread
/// that is exiting, because the thread can no longer read its last error.
fn replace(by: Option<LastError>) -> Option<LastError> {
    LAST.try_with(|last| last.replace(by)).ok().flatten()
}

pub(crate) fn keep(fault: Fault) {
    drop(replace(Some(LastError::new(fault))));
}

/// Stores `fault` as the last error while `call` runs, and then restores the previous error.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn during(fault: Fault, call: impl FnOnce()) {
    let before = replace(Some(LastError::new(fault)));
    call();
    drop(replace(before));
}

fn text(text: &str) -> CString {
    // Strings from C contain no NUL character, so error messages that quote these strings contain
    // none.
    CString::new(text).unwrap_or_default()
}

fn ask<T>(what: impl FnOnce(&mut LastError) -> Option<T>) -> Option<T> {
    LAST.try_with(|last| last.borrow_mut().as_mut().and_then(what)).ok().flatten()
}

fn ms(what: impl FnOnce(&Error) -> Option<Duration>) -> i64 {
    let duration = ask(|last| last.fault.core().and_then(what));
    // The duration is rounded up, so that a wait of the returned length is always long enough.
    duration.map_or(-1, |d| i64::try_from(whole_ms(d)).unwrap_or(i64::MAX))
}

/// Returns the message of this thread's last failed call: an English sentence that names the field,
/// the value and the range. Returns an empty string if no call has failed yet.
///
/// Like errno, the message is meaningful only right after a call has failed; successful calls do
/// not change the message. The library owns the string, which stays valid until another call on
/// this thread fails or the thread ends. Thread-safe: each thread has its own message.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_last_error() -> *const c_char {
    flakeid_last_error_spelled(FLAKEID_SPELLING_C)
}

/// Returns the message of flakeid_last_error() with option and field names in the spelling of
/// another programming language; `spelling` is one of FLAKEID_SPELLING_... Thread-safe: each thread
/// has its own message.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_last_error_spelled(spelling: i32) -> *const c_char {
    let (index, names) = spelling::of(spelling);
    ask(|last| {
        let message = &mut last.spelled[index].message;
        Some(message.get_or_insert_with(|| text(&last.fault.spelled(names))).as_ptr())
    })
    .unwrap_or(c"".as_ptr())
}

/// Returns the name of the field that is out of range, such as "node" or "tick", if the last failed
/// call returned FLAKEID_FIELD_OUT_OF_RANGE, and otherwise NULL. The string stays valid as long as
/// the string that flakeid_last_error() returns. Thread-safe: each thread has its own field.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_last_error_field() -> *const c_char {
    flakeid_last_error_field_spelled(FLAKEID_SPELLING_C)
}

/// Returns the field name of flakeid_last_error_field() in the spelling of another programming
/// language; `spelling` is one of FLAKEID_SPELLING_... Thread-safe: each thread has its own field.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_last_error_field_spelled(spelling: i32) -> *const c_char {
    let (index, names) = spelling::of(spelling);
    ask(|last| {
        let error = last.fault.core()?.spelled(names);
        let name = error.field()?;
        Some(last.spelled[index].field.get_or_insert_with(|| text(name)).as_ptr())
    })
    .unwrap_or(std::ptr::null())
}

/// Returns the number of milliseconds after which a retry of the last failed call may succeed, or
/// -1 if waiting does not help. Thread-safe: each thread has its own value.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_retry_after_ms() -> i64 {
    ms(Error::retry_after)
}

/// Returns the number of milliseconds by which the clock went backwards if the last failed call
/// returned FLAKEID_CLOCK_ROLLBACK, and otherwise -1. Thread-safe: each thread has its own value.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_rollback_ms() -> i64 {
    ms(Error::rollback)
}

/// Returns the instant at which the layout's last tick ends, in Unix milliseconds, if the last
/// failed call returned FLAKEID_HORIZON_REACHED, and otherwise -1. Thread-safe: each thread has its
/// own value.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_horizon_ms() -> i64 {
    ask(|last| last.fault.core()?.horizon()).unwrap_or(-1)
}
