//! Where SQLite calls, through `extension.c`, and is called. No panic gets past here.

#![allow(unsafe_code)]

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;

use flakeid_core::{Error, ErrorKind, Id};

use crate::connection::Connection;
use crate::functions::{ADD_DOMAIN, FUNCTIONS, Function, Scope};
use crate::value::{Answer, Argument};

const SQLITE_OK: c_int = 0;
/// The library stays in the process when the connection that loaded it is closed: others use it, and the thread
/// that renews leases runs in it.
const SQLITE_OK_LOAD_PERMANENTLY: c_int = 256;

const INTEGER: c_int = 1;
const REAL: c_int = 2;
const TEXT: c_int = 3;
const BLOB: c_int = 4;
const NULL: c_int = 5;

/// `flakeid_value` of `extension.h`.
#[repr(C)]
struct Value {
    kind: c_int,
    integer: i64,
    text: *const c_char,
    length: c_int,
}

/// `flakeid_function` of `extension.h`: a function on one connection.
struct Registered {
    connection: Arc<Connection>,
    function: &'static Function,
}

#[expect(improper_ctypes, reason = "C hands the pointer back and never looks behind it")]
unsafe extern "C" {
    fn flakeid_sqlite_begin(api: *const c_void);
    fn flakeid_sqlite_add(
        database: *mut c_void,
        name: *const c_char,
        arguments: c_int,
        flags: c_int,
        function: *mut Registered,
    ) -> c_int;
    fn flakeid_sqlite_add_table(
        database: *mut c_void,
        name: *const c_char,
        function: *mut Registered,
    ) -> c_int;
    fn flakeid_sqlite_files(
        database: *mut c_void,
        files: *mut c_void,
        visit: unsafe extern "C" fn(*mut c_void, *const c_char),
    ) -> c_int;
    fn flakeid_sqlite_fail(message: *mut *mut c_char, text: *const c_char) -> c_int;
}

/// What SQLite calls when it loads a library named `flakeid_sqlite`, with or without `lib` before it.
#[unsafe(no_mangle)]
unsafe extern "C" fn sqlite3_flakeidsqlite_init(
    database: *mut c_void,
    message: *mut *mut c_char,
    api: *const c_void,
) -> c_int {
    // SAFETY: SQLite passes its table of functions, a connection, and a place for a message.
    unsafe {
        flakeid_sqlite_begin(api);
        let loaded = catch_unwind(|| register(database));
        match loaded {
            Ok(SQLITE_OK) => SQLITE_OK_LOAD_PERMANENTLY,
            Ok(code) => code,
            Err(_) => {
                flakeid_sqlite_fail(message, c"flakeid: a bug: a panic while loading".as_ptr())
            }
        }
    }
}

/// The same for a library that was renamed to `flakeid`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sqlite3_flakeid_init(
    database: *mut c_void,
    message: *mut *mut c_char,
    api: *const c_void,
) -> c_int {
    // SAFETY: as there.
    unsafe { sqlite3_flakeidsqlite_init(database, message, api) }
}

/// # Safety
/// `database` is a connection, and SQLite's table of functions was taken.
unsafe fn register(database: *mut c_void) -> c_int {
    let connection = Arc::new(Connection::default());
    let registered = |function: &'static Function| {
        Box::into_raw(Box::new(Registered { connection: Arc::clone(&connection), function }))
    };
    for function in FUNCTIONS.iter().chain([&ADD_DOMAIN]) {
        let (name, pointer) = (function.name.as_ptr(), registered(function));
        // SAFETY: as promised. SQLite gives the pointer back to `drop`, also if this fails.
        let code = unsafe {
            flakeid_sqlite_add(database, name, function.arguments, function.flags, pointer)
        };
        if code != SQLITE_OK {
            return code;
        }
    }
    // Of which only the connection is used.
    let pointer = registered(&FUNCTIONS[0]);
    // SAFETY: as above.
    unsafe { flakeid_sqlite_add_table(database, c"flakeid_next_n".as_ptr(), pointer) }
}

/// Calls a function of SQL. See `extension.h`.
#[unsafe(no_mangle)]
unsafe extern "C" fn flakeid_sqlite_call(
    registered: &Registered,
    database: *mut c_void,
    arguments: *const Value,
    count: c_int,
    result: &mut Value,
) -> c_int {
    let answered = guard(|| {
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: so many arguments are there, and their texts live until this returns.
        let given = unsafe { std::slice::from_raw_parts(arguments, count) };
        // SAFETY: as said.
        let arguments: Vec<_> =
            given.iter().map(|value| unsafe { argument(value) }).collect::<Result<_, _>>()?;
        let function = registered.function;
        if function.is_strict && arguments.iter().any(|value| matches!(value, Argument::Null)) {
            return Ok(Answer::Null);
        }
        // SAFETY: the connection that called.
        let files = || unsafe { files(database) };
        let scope = Scope { connection: &registered.connection, files: &files };
        (function.call)(&scope, &arguments)
    });
    answer(answered, result)
}

/// Fills an array with the next IDs: at least one, or an error. See `extension.h`.
#[unsafe(no_mangle)]
unsafe extern "C" fn flakeid_sqlite_fill(
    registered: &Registered,
    ids: *mut i64,
    count: c_int,
    filled: &mut c_int,
    error: &mut Value,
) -> c_int {
    let made = guard(|| {
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: there is room for so many. Numbers with and without a sign have the same bits.
        let ids = unsafe { std::slice::from_raw_parts_mut(ids.cast::<u64>(), count) };
        let made = registered.connection.generator()?.fill(Id::from_u64_slice_mut(ids))?;
        *filled = c_int::try_from(made).unwrap_or(c_int::MAX);
        Ok(Answer::Null)
    });
    answer(made, error)
}

/// Takes a text back that a call returned.
#[unsafe(no_mangle)]
unsafe extern "C" fn flakeid_sqlite_free_text(text: *const c_char, length: c_int) {
    if !text.is_null() {
        let length = usize::try_from(length).unwrap_or(0);
        let bytes = ptr::slice_from_raw_parts_mut(text.cast_mut().cast::<u8>(), length);
        // SAFETY: `answer` made it of such a box.
        drop(unsafe { Box::from_raw(bytes) });
    }
}

/// Frees a function; with the last one of a connection its generator, whose node is given back.
#[unsafe(no_mangle)]
unsafe extern "C" fn flakeid_sqlite_drop(registered: *mut Registered) {
    // SAFETY: `register` made it of a box, and SQLite calls this once.
    let registered = unsafe { Box::from_raw(registered) };
    // Nobody can be told of a panic here.
    drop(catch_unwind(AssertUnwindSafe(|| drop(registered))));
}

fn guard(call: impl FnOnce() -> Result<Answer, Error>) -> Result<Answer, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(format!("{}: {error}", error.code())),
        Err(_) => Err("FLAKEID_PANIC: a bug in flakeid; please report it".to_owned()),
    }
}

/// Writes a result: 0, or 1 if it is an error.
fn answer(answered: Result<Answer, String>, result: &mut Value) -> c_int {
    let is_error = answered.is_err();
    let text = match answered {
        Ok(Answer::Null) => {
            result.kind = NULL;
            return 0;
        }
        Ok(Answer::Integer(integer)) => {
            (result.kind, result.integer) = (INTEGER, integer);
            return 0;
        }
        Ok(Answer::Text(text)) | Err(text) => text.into_bytes().into_boxed_slice(),
    };
    result.kind = TEXT;
    result.length = c_int::try_from(text.len()).unwrap_or(0);
    result.text = Box::into_raw(text).cast::<c_char>();
    is_error.into()
}

/// # Safety
/// Its text has as many bytes as it says, for as long as the result lives.
unsafe fn argument<'a>(value: &Value) -> Result<Argument<'a>, Error> {
    let bytes = || {
        let length = usize::try_from(value.length).unwrap_or(0);
        if value.text.is_null() || length == 0 {
            return &[][..];
        }
        // SAFETY: as promised.
        unsafe { std::slice::from_raw_parts(value.text.cast::<u8>(), length) }
    };
    Ok(match value.kind {
        INTEGER => Argument::Integer(value.integer),
        REAL => Argument::Real,
        TEXT => Argument::Text(
            std::str::from_utf8(bytes())
                .map_err(|_| Error::new(ErrorKind::InvalidOption, "a text is not UTF-8", None))?,
        ),
        BLOB => Argument::Blob(bytes()),
        _ => Argument::Null,
    })
}

/// # Safety
/// `database` is a connection.
unsafe fn files(database: *mut c_void) -> Result<Vec<PathBuf>, Error> {
    unsafe extern "C" fn visit(files: *mut c_void, path: *const c_char) {
        // SAFETY: it is the list below, and a path ends in NUL.
        unsafe { (*files.cast::<Vec<PathBuf>>()).push(path_of(CStr::from_ptr(path))) };
    }
    let mut files = Vec::new();
    // SAFETY: as promised; `visit` gets the list that it expects.
    let code = unsafe { flakeid_sqlite_files(database, (&raw mut files).cast(), visit) };
    if code == SQLITE_OK {
        return Ok(files);
    }
    let reason =
        format!("the connection does not say which files it has open (SQLite's code {code})");
    Err(Error::invalid_option("store", &reason))
}

#[cfg(unix)]
fn path_of(path: &CStr) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    OsStr::from_bytes(path.to_bytes()).into()
}

#[cfg(not(unix))]
fn path_of(path: &CStr) -> PathBuf {
    OsStr::new(&*path.to_string_lossy()).into()
}
