//! Conversion of instants (`datetime`) and durations (`timedelta`). The conversions of instants use
//! Python's own `datetime` arithmetic, which is exact.

use std::time::Duration;

use flakeid_core::Error;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDateTime, PyDelta, PyDict, PyFloat, PyInt, PyType, PyTzInfo};

use crate::argument::{unix_ms, wrong_type};
use crate::error::raise;

static EPOCH: PyOnceLock<Py<PyDateTime>> = PyOnceLock::new();
static TIMEDELTA: PyOnceLock<Py<PyType>> = PyOnceLock::new();

fn epoch(py: Python<'_>) -> PyResult<&Bound<'_, PyDateTime>> {
    let make = || {
        let utc = PyTzInfo::utc(py)?;
        PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, Some(&utc)).map(Bound::unbind)
    };
    Ok(EPOCH.get_or_try_init(py, make)?.bind(py))
}

/// Converts Unix milliseconds to an aware datetime in UTC. Returns `None` for a time after the year
/// 9999, the last year that a datetime can represent.
pub(crate) fn to_datetime(py: Python<'_>, unix_ms: i64) -> PyResult<Option<Bound<'_, PyAny>>> {
    let since = PyDict::new(py);
    since.set_item("milliseconds", unix_ms)?;
    let sum = TIMEDELTA
        .import(py, "datetime", "timedelta")?
        .call((), Some(&since))
        .and_then(|since| epoch(py)?.add(since));
    match sum {
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => Ok(None),
        sum => sum.map(Some),
    }
}

/// Converts an aware datetime to Unix milliseconds, rounded down. Returns an int unchanged.
pub(crate) fn from_python(name: &'static str, value: &Bound<'_, PyAny>) -> PyResult<i64> {
    let py = value.py();
    if let Ok(instant) = value.cast::<PyDateTime>() {
        if instant.call_method0("utcoffset")?.is_none() {
            let reason = "a datetime without a time zone is not an instant; give an aware one, \
                          for example datetime.now(timezone.utc)";
            return Err(raise(Error::invalid_option(name, reason)));
        }
        let millisecond = PyDelta::new(py, 0, 0, 1000, false)?;
        return instant.sub(epoch(py)?)?.floor_div(millisecond)?.extract();
    }
    if value.hasattr("__index__")? {
        return unix_ms(name, value);
    }
    Err(wrong_type(name, "an aware datetime or Unix milliseconds (int)", value))
}

/// Converts seconds or a `timedelta` to a duration.
pub(crate) fn duration(name: &'static str, value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let refused = || {
        let reason = "must be finite, not negative, and below 2^64 seconds";
        raise(Error::invalid_option(name, reason))
    };
    if value.is_instance_of::<PyDelta>() {
        return value.extract().map_err(|_: PyErr| refused());
    }
    if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
        return value.extract().map(Duration::from_secs).map_err(|_| refused());
    }
    let seconds: f64 = value
        .cast::<PyFloat>()
        .map_err(|_| wrong_type(name, "seconds (int or float) or a timedelta", value))?
        .value();
    Duration::try_from_secs_f64(seconds).map_err(|_| refused())
}
