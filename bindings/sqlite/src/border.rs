//! The functions that SQLite calls, and the functions that call SQLite. Except for the entry points of the library, all
//! calls go through `extension.c`. No panic propagates to SQLite.

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
/// The result code that tells SQLite to keep the library loaded after the connection that loaded it is closed. Other
/// connections and the thread that renews leases may still use the library.
const SQLITE_OK_LOAD_PERMANENTLY: c_int = 256;

const INTEGER: c_int = 1;
const REAL: c_int = 2;
const TEXT: c_int = 3;
const BLOB: c_int = 4;
const NULL: c_int = 5;

/// The Rust counterpart of `flakeid_value` in `extension.h`.
#[repr(C)]
struct Value {
    kind: c_int,
    integer: i64,
    text: *const c_char,
    length: c_int,
}

/// The Rust counterpart of `flakeid_function` in `extension.h`: a function registered on one connection.
struct Registered {
    connection: Arc<Connection>,
    function: &'static Function,
}

#[expect(improper_ctypes, reason = "C passes the pointer back and never dereferences it")]
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

/// Registers the extension's SQL functions. SQLite calls this function when it loads a library named `flakeid_sqlite`
/// or `libflakeid_sqlite`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sqlite3_flakeidsqlite_init(
    database: *mut c_void,
    message: *mut *mut c_char,
    api: *const c_void,
) -> c_int {
    // SAFETY: SQLite passes valid pointers to its table of functions, to an open connection, and to a variable that
    // receives the error message.
    unsafe {
        flakeid_sqlite_begin(api);
        let loaded = catch_unwind(|| register(database));
        match loaded {
            Ok(SQLITE_OK) => SQLITE_OK_LOAD_PERMANENTLY,
            Ok(code) => code,
            Err(_) => flakeid_sqlite_fail(
                message,
                c"flakeid: internal error while loading; please report it".as_ptr(),
            ),
        }
    }
}

/// Registers the extension's SQL functions, exactly as `sqlite3_flakeidsqlite_init` does. SQLite calls this function if
/// the library file was renamed to `flakeid`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sqlite3_flakeid_init(
    database: *mut c_void,
    message: *mut *mut c_char,
    api: *const c_void,
) -> c_int {
    // SAFETY: SQLite passes this function the same arguments that it would pass to `sqlite3_flakeidsqlite_init`.
    unsafe { sqlite3_flakeidsqlite_init(database, message, api) }
}

/// Registers all functions on a connection.
///
/// # Safety
/// `database` must point to an open connection, and `flakeid_sqlite_begin` must have received SQLite's table of
/// functions.
unsafe fn register(database: *mut c_void) -> c_int {
    let connection = Arc::new(Connection::default());
    let registered = |function: &'static Function| {
        Box::into_raw(Box::new(Registered { connection: Arc::clone(&connection), function }))
    };
    for function in FUNCTIONS.iter().chain([&ADD_DOMAIN]) {
        let (name, pointer) = (function.name.as_ptr(), registered(function));
        // SAFETY: the caller guarantees that `database` is a connection. SQLite passes `pointer` to
        // `flakeid_sqlite_drop`, even if this call fails.
        let code = unsafe {
            flakeid_sqlite_add(database, name, function.arguments, function.flags, pointer)
        };
        if code != SQLITE_OK {
            return code;
        }
    }
    // The table function needs a registered function only to find the connection, so any entry of `FUNCTIONS` is
    // suitable.
    let pointer = registered(&FUNCTIONS[0]);
    // SAFETY: the caller guarantees that `database` is a connection, and SQLite frees `pointer`.
    unsafe { flakeid_sqlite_add_table(database, c"flakeid_next_n".as_ptr(), pointer) }
}

/// Calls a registered SQL function. The file `extension.h` declares this function for C.
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
        // SAFETY: `extension.c` passes `count` arguments, whose strings remain valid until this function returns.
        let given = unsafe { std::slice::from_raw_parts(arguments, count) };
        // SAFETY: `extension.c` guarantees that the strings of the arguments remain valid until this function returns.
        let arguments: Vec<_> =
            given.iter().map(|value| unsafe { argument(value) }).collect::<Result<_, _>>()?;
        let function = registered.function;
        if function.is_strict && arguments.iter().any(|value| matches!(value, Argument::Null)) {
            return Ok(Answer::Null);
        }
        // SAFETY: `database` is the connection that calls this function.
        let files = || unsafe { files(database) };
        let scope = Scope { connection: &registered.connection, files: &files };
        (function.call)(&scope, &arguments)
    });
    answer(answered, result)
}

/// Fills an array with at least one and at most `count` new IDs, or returns an error. The file `extension.h` declares
/// this function for C.
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
        // SAFETY: the caller guarantees that `ids` has room for `count` elements. `i64` and `u64` have the same size
        // and alignment.
        let ids = unsafe { std::slice::from_raw_parts_mut(ids.cast::<u64>(), count) };
        let made = registered.connection.generator()?.fill(Id::from_u64_slice_mut(ids))?;
        *filled = c_int::try_from(made).unwrap_or(c_int::MAX);
        Ok(Answer::Null)
    });
    answer(made, error)
}

/// Frees a string that `flakeid_sqlite_call` or `flakeid_sqlite_fill` returned.
#[unsafe(no_mangle)]
unsafe extern "C" fn flakeid_sqlite_free_text(text: *const c_char, length: c_int) {
    if !text.is_null() {
        let length = usize::try_from(length).unwrap_or(0);
        let bytes = ptr::slice_from_raw_parts_mut(text.cast_mut().cast::<u8>(), length);
        // SAFETY: `answer` created the pointer from a boxed slice of this length.
        drop(unsafe { Box::from_raw(bytes) });
    }
}

/// Frees a registered function. Freeing the last function of a connection also frees the connection's generator, which
/// releases the node.
#[unsafe(no_mangle)]
unsafe extern "C" fn flakeid_sqlite_drop(registered: *mut Registered) {
    // SAFETY: `register` created the pointer from a box, and SQLite calls this function only once for each pointer.
    let registered = unsafe { Box::from_raw(registered) };
    // There is no way to report an error to SQLite here, so a panic is ignored.
    drop(catch_unwind(AssertUnwindSafe(|| drop(registered))));
}

fn guard(call: impl FnOnce() -> Result<Answer, Error>) -> Result<Answer, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(format!("{}: {error}", error.code())),
        Err(_) => Err("FLAKEID_PANIC: internal flakeid error; please report it".to_owned()),
    }
}

/// Writes a result for C. Returns 1 if the result is an error, and 0 otherwise.
fn answer(answered: Result<Answer, String>, result: &mut Value) -> c_int {
    let is_error = answered.is_err();
    result.kind = if matches!(answered, Ok(Answer::Blob(_))) { BLOB } else { TEXT };
    let bytes: Box<[u8]> = match answered {
        Ok(Answer::Null) => {
            result.kind = NULL;
            return 0;
        }
        Ok(Answer::Integer(integer)) => {
            (result.kind, result.integer) = (INTEGER, integer);
            return 0;
        }
        Ok(Answer::Blob(bytes)) => Box::new(bytes),
        Ok(Answer::Text(text)) | Err(text) => text.into_bytes().into_boxed_slice(),
    };
    result.length = c_int::try_from(bytes.len()).unwrap_or(0);
    result.text = Box::into_raw(bytes).cast::<c_char>();
    is_error.into()
}

/// Converts a value from C to an argument.
///
/// # Safety
/// The string pointer in `value` must point to `length` readable bytes for as long as the returned argument is used.
unsafe fn argument<'a>(value: &Value) -> Result<Argument<'a>, Error> {
    let bytes = || {
        let length = usize::try_from(value.length).unwrap_or(0);
        if value.text.is_null() || length == 0 {
            return &[][..];
        }
        // SAFETY: the caller guarantees that the string pointer points to `length` readable bytes.
        unsafe { std::slice::from_raw_parts(value.text.cast::<u8>(), length) }
    };
    Ok(match value.kind {
        INTEGER => Argument::Integer(value.integer),
        REAL => Argument::Real,
        TEXT => Argument::Text(
            std::str::from_utf8(bytes())
                .map_err(|_| Error::new(ErrorKind::InvalidOption, "a string is not UTF-8", None))?,
        ),
        BLOB => Argument::Blob(bytes()),
        _ => Argument::Null,
    })
}

/// Lists the files of the connection's databases.
///
/// # Safety
/// `database` must point to an open connection.
unsafe fn files(database: *mut c_void) -> Result<Vec<PathBuf>, Error> {
    unsafe extern "C" fn visit(files: *mut c_void, path: *const c_char) {
        // SAFETY: `files` points to a vector of paths, and SQLite passes a NUL-terminated path.
        unsafe { (*files.cast::<Vec<PathBuf>>()).push(path_of(CStr::from_ptr(path))) };
    }
    let mut files = Vec::new();
    // SAFETY: the caller guarantees that `database` is a connection. `visit` requires a pointer to a vector of paths,
    // and `files` is such a vector.
    let code = unsafe { flakeid_sqlite_files(database, (&raw mut files).cast(), visit) };
    if code == SQLITE_OK {
        return Ok(files);
    }
    let reason =
        format!("cannot list the files of the connection's databases (SQLite error code {code})");
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
