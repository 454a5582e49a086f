//! The text forms of IDs.

use flakeid_core::{Error, Id, TextForm};
use wasm_bindgen::prelude::*;

use crate::failure::thrown;

#[inline(never)]
fn parse(form: &str) -> Result<TextForm, JsValue> {
    form.parse().map_err(thrown)
}

/// Encodes an ID in the text form whose name is `form`.
///
/// # Errors
/// `FLAKEID_INVALID_OPTION` if `form` is not the name of a text form.
#[wasm_bindgen(js_name = idToText)]
pub fn id_to_text(form: &str, id: u64) -> Result<String, JsValue> {
    Ok(parse(form)?.encode(Id::from_u64(id)).as_str().to_owned())
}

/// Parses an ID in the text form whose name is `form`.
///
/// # Errors
/// `FLAKEID_INVALID_ID` if `text` is not an ID in this text form; `FLAKEID_INVALID_OPTION` if `form` is not the name of
/// a text form.
#[wasm_bindgen(js_name = textToId)]
pub fn text_to_id(form: &str, text: &str) -> Result<u64, JsValue> {
    parse(form)?.decode(text).map(Id::to_u64).map_err(thrown)
}

/// Always fails. JavaScript calls this function to throw the core's error for a value outside the range of its field.
///
/// # Errors
/// `FLAKEID_FIELD_OUT_OF_RANGE` for every call.
#[wasm_bindgen(js_name = outOfRange)]
pub fn out_of_range(field: &str, value: &str, most: u64) -> Result<(), JsValue> {
    const FIELDS: [&str; 9] = [
        "node",
        "datacenter",
        "worker",
        "clock_sequence",
        "sequence",
        "unix_ms",
        "n",
        "ms",
        "size",
    ];
    let known = FIELDS.into_iter().find(|known| *known == field).unwrap_or("value");
    let least = u64::from(known == "size");
    Err(thrown(Error::field_out_of_range(known, &value, least, most)))
}

/// Returns the version of the package.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
