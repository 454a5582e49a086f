//! Unix milliseconds and `datetime`. Python does the arithmetic, exactly.

use flakeid_core::Error;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDateTime, PyDelta, PyDict, PyType, PyTzInfo};

use crate::error::raise;
use crate::integer::{unix_ms, wrong_type};

static EPOCH: PyOnceLock<Py<PyDateTime>> = PyOnceLock::new();
static TIMEDELTA: PyOnceLock<Py<PyType>> = PyOnceLock::new();

fn epoch(py: Python<'_>) -> PyResult<&Bound<'_, PyDateTime>> {
    let make = || {
        let utc = PyTzInfo::utc(py)?;
        PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, Some(&utc)).map(Bound::unbind)
    };
    Ok(EPOCH.get_or_try_init(py, make)?.bind(py))
}

/// An aware datetime in UTC; `None` after the year 9999, where datetimes end.
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

/// The Unix milliseconds of an aware datetime, rounded down, or of an int, which already is that.
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
