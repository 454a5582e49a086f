//! IDs as strings and as bytes.

use flakeid_core::{Error, ErrorKind, Id, TextForm};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::argument::{id as id_of, string};
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
    "Returns the ID of 1 to 20 digits; leading zeros are allowed, signs and spaces are not."
);
form!(
    Base32,
    to_base32,
    from_base32,
    "Returns an ID as 13 digits of Crockford's base32, which sort in the order of the IDs.",
    "Returns the ID of 13 digits of Crockford's base32; lower case, I and L for 1, and O for 0 are allowed."
);
form!(
    Base36,
    to_base36,
    from_base36,
    "Returns an ID as 1 to 13 digits of base36, lower case.",
    "Returns the ID of 1 to 13 digits of base36 without leading zeros; upper case is allowed."
);
form!(
    Base58,
    to_base58,
    from_base58,
    "Returns an ID as 1 to 11 digits of base58 in Bitcoin's alphabet.",
    "Returns the ID of 1 to 11 digits of base58 in Bitcoin's alphabet, without leading ones (its zero)."
);
form!(
    Base62,
    to_base62,
    from_base62,
    "Returns an ID as 11 digits of base62 (0-9A-Za-z), which sort in ASCII order as the IDs do.",
    "Returns the ID of 11 digits of base62 (0-9A-Za-z)."
);
form!(
    Hex,
    to_hex,
    from_hex,
    "Returns an ID as 16 hexadecimal digits, lower case, which sort in the order of the IDs.",
    "Returns the ID of 16 hexadecimal digits; upper case is allowed, 0x is not."
);

form!(
    Base58Flickr,
    to_base58_flickr,
    from_base58_flickr,
    "Returns an ID as 1 to 11 digits of base58 in Flickr's alphabet, like Go's bwmarrin/snowflake.",
    "Returns the ID of 1 to 11 digits of base58 in Flickr's alphabet, without leading ones (its zero)."
);
form!(
    Zbase32,
    to_zbase32,
    from_zbase32,
    "Returns an ID as 1 to 13 digits of z-base-32, like `Base32` of Go's bwmarrin/snowflake.",
    "Returns the ID of 1 to 13 digits of z-base-32 without leading y (its zero); upper case is allowed."
);

/// Returns an ID as 8 bytes, the most significant first, which sort in the order of the IDs.
#[pyfunction]
pub(crate) fn to_bytes(id: &Bound<'_, PyAny>) -> PyResult<[u8; 8]> {
    Ok(id_of(id)?.to_be_bytes())
}

/// Returns the ID of 8 bytes (any bytes-like object), the most significant first.
///
/// Raises InvalidIdError for another length.
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
