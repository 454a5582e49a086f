//! Conversion of IDs to and from strings and bytes.

use flakeid_core::{Error, ErrorKind, Id, TextForm};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString};

use crate::argument::{id as id_of, string, wrong_type};
use crate::error::raise;

macro_rules! form {
    ($form:ident, $to:ident, $from:ident, $to_doc:literal, $from_doc:literal) => {
        #[doc = $to_doc]
        #[pyfunction]
        pub(crate) fn $to(id: &Bound<'_, PyAny>) -> PyResult<String> {
            Ok(id_of(id)?.to_text(TextForm::$form).to_string())
        }

        #[doc = $from_doc]
        #[doc = "\n\nRaises InvalidIdError for anything else."]
        #[pyfunction]
        pub(crate) fn $from(text: &Bound<'_, PyAny>) -> PyResult<u64> {
            let text = string("text", text)?;
            TextForm::$form.decode(&text).map(Id::to_u64).map_err(raise)
        }
    };
}

form!(
    Decimal,
    to_decimal,
    from_decimal,
    "Returns an ID as 1 to 20 decimal digits.",
    "Parses a string of 1 to 20 decimal digits as an ID. Leading zeros are allowed, but signs and spaces are not."
);
form!(
    Base32,
    to_base32,
    from_base32,
    "Returns an ID as 13 digits of Crockford's base32; the strings sort in the order of the IDs.",
    "Parses a string of 13 digits of Crockford's base32 as an ID; lowercase, I and L for 1, and O for 0 are allowed."
);
form!(
    Base36,
    to_base36,
    from_base36,
    "Returns an ID as 1 to 13 lowercase base36 digits.",
    "Parses a string of 1 to 13 base36 digits as an ID; uppercase is allowed, but leading zeros are not."
);
form!(
    Base58,
    to_base58,
    from_base58,
    "Returns an ID as 1 to 11 base58 digits in Bitcoin's alphabet.",
    "Parses a string of 1 to 11 base58 digits in Bitcoin's alphabet as an ID; a leading 1 (zero in this alphabet) is not allowed."
);
form!(
    Base62,
    to_base62,
    from_base62,
    "Returns an ID as 11 base62 digits (0-9A-Za-z); the strings sort in the order of the IDs.",
    "Parses a string of 11 base62 digits (0-9A-Za-z) as an ID."
);
form!(
    Hex,
    to_hex,
    from_hex,
    "Returns an ID as 16 lowercase hexadecimal digits; the strings sort in the order of the IDs.",
    "Parses a string of 16 hexadecimal digits as an ID; uppercase is allowed, but a 0x prefix is not."
);

form!(
    Base58Flickr,
    to_base58_flickr,
    from_base58_flickr,
    "Returns an ID as 1 to 11 base58 digits in Flickr's alphabet, like Go's bwmarrin/snowflake.",
    "Parses a string of 1 to 11 base58 digits in Flickr's alphabet as an ID; a leading 1 (zero in this alphabet) is not allowed."
);
form!(
    Zbase32,
    to_zbase32,
    from_zbase32,
    "Returns an ID as 1 to 13 digits of z-base-32, like `Base32` of Go's bwmarrin/snowflake.",
    "Parses a string of 1 to 13 z-base-32 digits as an ID; uppercase is allowed, but a leading y (zero in this alphabet) is not."
);

/// Returns an ID as a `uuid.UUID` of version 8, for columns and interfaces that require a UUID. The
/// UUIDs sort in the order of the IDs, and contain no random bits.
#[pyfunction]
pub(crate) fn to_uuid<'py>(id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = id.py();
    let bytes = PyBytes::new(py, &id_of(id)?.to_uuid_bytes());
    uuid_class(py)?.call((py.None(), bytes), None)
}

/// Converts a UUID that `to_uuid` returned to the ID. Accepts a `uuid.UUID`, and a string of 36
/// characters in upper or lower case.
///
/// Raises InvalidIdError for any other UUID.
#[pyfunction]
pub(crate) fn from_uuid(uuid: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(text) = uuid.cast::<PyString>() {
        return TextForm::Uuid.decode(&text.to_string_lossy()).map(Id::to_u64).map_err(raise);
    }
    if !uuid.is_instance(uuid_class(uuid.py())?)? {
        return Err(wrong_type("uuid", "a uuid.UUID or a str", uuid));
    }
    let bytes = uuid.getattr("bytes")?.extract()?;
    Id::from_uuid_bytes(bytes).map(Id::to_u64).map_err(raise)
}

/// Returns Python's class `uuid.UUID`.
fn uuid_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CLASS.import(py, "uuid", "UUID")
}

/// Returns an ID as 8 bytes, with the most significant byte first. The bytes objects sort in the
/// order of the IDs.
#[pyfunction]
pub(crate) fn to_bytes(id: &Bound<'_, PyAny>) -> PyResult<[u8; 8]> {
    Ok(id_of(id)?.to_be_bytes())
}

/// Converts 8 bytes, with the most significant byte first, to an ID. Accepts any bytes-like object.
///
/// Raises InvalidIdError if the object does not contain exactly 8 bytes.
#[pyfunction]
pub(crate) fn from_bytes(data: &Bound<'_, PyAny>) -> PyResult<u64> {
    let bytes = PyBuffer::<u8>::get(data)?.to_vec(data.py())?;
    match <[u8; 8]>::try_from(bytes) {
        Ok(bytes) => Ok(Id::from_be_bytes(bytes).to_u64()),
        Err(bytes) => {
            let sentence = format!("an ID is 8 bytes, not {}", bytes.len());
            Err(raise(Error::new(ErrorKind::InvalidId, &sentence, None)))
        }
    }
}
