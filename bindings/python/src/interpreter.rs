//! The interpreter that may import this module.

#![expect(unsafe_code, reason = "pyo3 does not return the ID of the interpreter")]

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The ID of the main interpreter, which Python creates first.
const MAIN: i64 = 0;

/// Checks that this thread is attached to the main interpreter. The threads of leases and rings can
/// attach only to the main interpreter, because `PyGILState_Ensure` supports no other. A call from a
/// subinterpreter that waits would therefore deadlock.
///
/// # Errors
/// `ImportError`, with the settings of servers that run programs in subinterpreters by default.
pub(crate) fn require_main(_attached: Python<'_>) -> PyResult<()> {
    // SAFETY: this thread is attached, so the current interpreter exists.
    let id = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    if id == MAIN {
        return Ok(());
    }
    Err(PyImportError::new_err(format!(
        "flakeid does not support subinterpreters, and this is the subinterpreter {id}: set \
         `single-interpreter = true` in uWSGI, or `WSGIApplicationGroup %{{GLOBAL}}` in mod_wsgi, so \
         that the program runs in the main interpreter"
    )))
}
