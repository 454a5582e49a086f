//! The error of the calling thread's last failed call. It is kept as a value and formatted only on
//! request, so a failing `try_next` in a loop formats and allocates nothing.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::time::Duration;

use flakeid_core::{Error, whole_ms};

use crate::fault::Fault;
use crate::spelling::{self, FLAKEID_SPELLING_C};

struct LastError {
    fault: Fault,
    /// The message and the field in each spelling.
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

/// A thread that is ending has no last error any more, and nothing can ask for it.
fn replace(by: Option<LastError>) -> Option<LastError> {
    LAST.try_with(|last| last.replace(by)).ok().flatten()
}

pub(crate) fn keep(fault: Fault) {
    drop(replace(Some(LastError::new(fault))));
}

/// Makes `fault` the last error for as long as `call` runs.
pub(crate) fn during(fault: Fault, call: impl FnOnce()) {
    let before = replace(Some(LastError::new(fault)));
    call();
    drop(replace(before));
}

fn text(text: &str) -> CString {
    // Input from C has no NUL inside, so neither has what is quoted of it.
    CString::new(text).unwrap_or_default()
}

fn ask<T>(what: impl FnOnce(&mut LastError) -> Option<T>) -> Option<T> {
    LAST.try_with(|last| last.borrow_mut().as_mut().and_then(what)).ok().flatten()
}

fn ms(what: impl FnOnce(&Error) -> Option<Duration>) -> i64 {
    let duration = ask(|last| last.fault.core().and_then(what));
    // Rounded up: waiting that long must be enough.
    duration.map_or(-1, |d| i64::try_from(whole_ms(d)).unwrap_or(i64::MAX))
}

/// The message of this thread's last failed call: an English sentence that names the field, the
/// value and the range. Empty if no call has failed yet.
///
/// Like errno it means something only right after a call failed; calls that succeed leave it.
/// The string belongs to the library and stays valid until a call of this thread fails, or the
/// thread ends. Any thread; each has its own.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_last_error() -> *const c_char {
    flakeid_last_error_spelled(FLAKEID_SPELLING_C)
}

/// Returns the message of flakeid_last_error() with the names of options and fields as another
/// language spells them: `spelling` is FLAKEID_SPELLING_... Any thread; each has its own.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_last_error_spelled(spelling: i32) -> *const c_char {
    let (index, names) = spelling::of(spelling);
    ask(|last| {
        let message = &mut last.spelled[index].message;
        Some(message.get_or_insert_with(|| text(&last.fault.spelled(names))).as_ptr())
    })
    .unwrap_or(c"".as_ptr())
}

/// The field at fault if the last failed call was FLAKEID_FIELD_OUT_OF_RANGE ("node", "tick",
/// ...), otherwise NULL. Lives as long as flakeid_last_error(). Any thread; each has its own.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_last_error_field() -> *const c_char {
    flakeid_last_error_field_spelled(FLAKEID_SPELLING_C)
}

/// Returns the field of flakeid_last_error_field() as another language spells it: `spelling` is
/// FLAKEID_SPELLING_... Any thread; each has its own.
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

/// After how many milliseconds the last failed call may succeed, or -1 where waiting does not
/// help. Any thread; each has its own.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_retry_after_ms() -> i64 {
    ms(Error::retry_after)
}

/// By how many milliseconds the clock went back if the last failed call was
/// FLAKEID_CLOCK_ROLLBACK, otherwise -1. Any thread; each has its own.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_rollback_ms() -> i64 {
    ms(Error::rollback)
}

/// When the layout ran out, in Unix milliseconds, if the last failed call was
/// FLAKEID_HORIZON_REACHED, otherwise -1. Any thread; each has its own.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_horizon_ms() -> i64 {
    ask(|last| last.fault.core()?.horizon()).unwrap_or(-1)
}
