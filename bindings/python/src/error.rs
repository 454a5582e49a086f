//! Conversion of core errors to exceptions. The exception classes are defined in Python code,
//! because each class has two base classes.

use flakeid_core::Error;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// Returns the exception for a core error. The exception has the class for the error's code, the
/// core's message, and the details of the error.
#[expect(clippy::needless_pass_by_value, reason = "map_err passes the error by value")]
pub(crate) fn raise(error: Error) -> PyErr {
    Python::attach(|py| match exception(py, &error) {
        Ok(exception) => PyErr::from_value(exception),
        Err(failure) => failure,
    })
}

/// Creates the exception object for a core error without raising the exception.
pub(crate) fn exception<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    let classes = CLASSES.get_or_try_init(py, || {
        py.import("flakeid.errors")?
            .getattr("CLASSES")?
            .cast_into::<PyDict>()
            .map(Bound::unbind)
            .map_err(PyErr::from)
    })?;
    let spelled = error.spelled(&SPELLING);
    let exception =
        classes.bind(py).as_any().get_item(error.code())?.call1((spelled.to_string(),))?;
    if let Some(after) = error.retry_after() {
        exception.setattr("retry_after", after.as_secs_f64())?;
    }
    if let Some(by) = error.rollback() {
        exception.setattr("by", by.as_secs_f64())?;
    }
    if let Some(horizon) = error.horizon() {
        exception.setattr("horizon", horizon)?;
    }
    if let Some(field) = spelled.field() {
        exception.setattr("field", field)?;
    }
    Ok(exception)
}

#[rustfmt::skip]
pub(crate) const SPELLING: flakeid_core::Spelling<'static> = flakeid_core::Spelling {
    options: &[
        // [options: all names]
        ("nodes_from", "nodes[0]"),
        ("nodes_to", "nodes[1]"),
        ("ttl_ms", "ttl"),
        ("window_ms", "window"),
        ("window_start", "window[0]"),
        ("window_fence", "window[1]"),
        ("max_ahead_ms", "max_ahead"),
        ("max_wait_ms", "max_wait"),
        ("open_wait_ms", "open_wait"),
        ("refill_interval_ms", "refill_interval"),
        ("max_age_ms", "max_age"),
        ("max_window_ms", "max_window"),
        ("max_skew_ms", "max_skew"),
        ("quiet_ms", "quiet"),
        // [/options]
    ],
    fields: &[
        // [options: id names]
        ("create_namespace", "create_namespace()"),
        ("next_id", "next_id()"),
        // [/options]
    ],
};
