//! Conversion of integers and strings from Python. Python integers can have any size, but the
//! core's integers have at most 64 bits.

use flakeid_core::{Error, ErrorKind, Id};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::error::{SPELLING, raise};

/// Returns an integer, or the string form of an integer that does not fit in `T`. Rejects bools,
/// and also rejects floats, because floats can lose digits.
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

/// Returns an integer as a string. Returns a placeholder if the integer has more than 4300 digits,
/// because Python does not convert integers of this length to strings.
fn shown(value: &Bound<'_, PyAny>) -> String {
    value.str().map_or_else(|_| "(thousands of digits)".to_owned(), |text| text.to_string())
}

/// Returns an integer argument, such as a layout field. Rejects integers that do not fit in 64
/// bits; the error message contains the range from 0 to `max`. The core checks all other values.
pub(crate) fn field(name: &'static str, value: &Bound<'_, PyAny>, max: u64) -> PyResult<u64> {
    integer(name, value)?.map_err(|shown| raise(Error::field_out_of_range(name, &shown, 0, max)))
}

/// Returns the value of a core option. Rejects integers that do not fit in 64 bits; the error
/// message contains the range from `min` to `max`. The core checks all other values.
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

/// Returns the argument `n`, a number of IDs. Rejects numbers above the largest possible length of
/// a list.
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

/// Returns the exception for an argument of the wrong type.
pub(crate) fn wrong_type(name: &str, wanted: &str, value: &Bound<'_, PyAny>) -> PyErr {
    match value.get_type().name() {
        Ok(kind) => PyTypeError::new_err(format!("{name} must be {wanted}, not {kind}")),
        Err(error) => error,
    }
}

/// Returns a `str` argument. Replaces lone surrogates, which UTF-8 cannot express, with U+FFFD. The
/// core then rejects U+FFFD like any other invalid character, and Python does not raise an encoding
/// error.
pub(crate) fn string(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = value.cast::<PyString>().map_err(|_| wrong_type(name, "a str", value))?;
    Ok(text.to_string_lossy().into_owned())
}
