//! Conversion of integers and strings from Python. Python integers can have any size, but the core's
//! integers cannot.

use flakeid_core::{Error, ErrorKind, Id};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::error::{SPELLING, raise};

/// Returns an integer, or the string form of an integer that `T` cannot hold. Neither bools nor
/// floats are accepted as numbers; floats would lose digits.
fn integer<'py, T>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Result<T, String>>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    let not_an_integer = || wrong_type(name, "an int", value);
    if value.is_instance_of::<PyBool>() {
        return Err(not_an_integer());
    }
    let py = value.py();
    match value.extract() {
        Ok(number) => Ok(Ok(number)),
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => Ok(Err(shown(value))),
        Err(error) if error.is_instance_of::<PyTypeError>(py) => Err(not_an_integer()),
        Err(error) => Err(error),
    }
}

/// Returns an integer as a string, or a placeholder for more than 4300 digits, which Python does
/// not print.
fn shown(value: &Bound<'_, PyAny>) -> String {
    value.str().map_or_else(|_| "(thousands of digits)".to_owned(), |text| text.to_string())
}

/// Returns a field of a layout or another argument, from 0 to `max`; the core checks values below 2^64.
pub(crate) fn field(name: &'static str, value: &Bound<'_, PyAny>, max: u64) -> PyResult<u64> {
    integer(name, value)?.map_err(|shown| raise(Error::field_out_of_range(name, &shown, 0, max)))
}

/// Returns a core option, from `min` to `max`; the core checks values below 2^64.
pub(crate) fn number(
    name: &'static str,
    value: &Bound<'_, PyAny>,
    min: u64,
    max: u64,
) -> PyResult<u64> {
    integer(SPELLING.option(name), value)?
        .map_err(|shown| raise(Error::option_out_of_range(name, &shown, min, max)))
}

/// Returns an ID.
pub(crate) fn id(value: &Bound<'_, PyAny>) -> PyResult<Id> {
    integer("id", value)?.map(Id::from_u64).map_err(|shown| {
        let range = Error::field_out_of_range("id", &shown, 0, u64::MAX).to_string();
        raise(Error::new(ErrorKind::InvalidId, &range, None))
    })
}

/// Returns a number of IDs, at most the largest length of a list.
pub(crate) fn count(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    const MOST: u64 = isize::MAX as u64;
    let n = field("n", value, MOST)?;
    if n > MOST {
        return Err(raise(Error::field_out_of_range("n", &n, 0, MOST)));
    }
    Ok(n as usize)
}

/// Returns an instant as a Unix timestamp in milliseconds.
pub(crate) fn unix_ms(name: &'static str, value: &Bound<'_, PyAny>) -> PyResult<i64> {
    integer(name, value)?.map_err(|shown| {
        let reason = format!("{shown} does not fit a signed 64-bit integer");
        raise(Error::invalid_option(name, &reason))
    })
}

/// Returns the exception for a value of the wrong type.
pub(crate) fn wrong_type(name: &str, wanted: &str, value: &Bound<'_, PyAny>) -> PyErr {
    match value.get_type().name() {
        Ok(kind) => PyTypeError::new_err(format!("{name} must be {wanted}, not {kind}")),
        Err(error) => error,
    }
}

/// Returns a `str` argument. Lone surrogates, which UTF-8 cannot express, become U+FFFD, so that
/// the core rejects them like any other foreign character, and Python raises no error of its own.
pub(crate) fn string(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = value.cast::<PyString>().map_err(|_| wrong_type(name, "a str", value))?;
    Ok(text.to_string_lossy().into_owned())
}
