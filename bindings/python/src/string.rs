use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::integer::wrong_type;

/// A `str` argument. Lone surrogates, which UTF-8 cannot express, become U+FFFD: the core then
/// refuses them as it refuses every foreign character, where Python would raise an error of its
/// own.
pub(crate) fn string(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = value.cast::<PyString>().map_err(|_| wrong_type(name, "a str", value))?;
    Ok(text.to_string_lossy().into_owned())
}
