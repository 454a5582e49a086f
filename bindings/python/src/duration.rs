use std::time::Duration;

use flakeid_core::Error;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDelta, PyFloat, PyInt};

use crate::error::raise;
use crate::integer::wrong_type;

/// A length of time: seconds, or a `timedelta`.
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
