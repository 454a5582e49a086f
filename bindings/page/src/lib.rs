//! What the page asks the core: text in, JSON out, and errors as `CODE: message`. Nothing is worked out here, and
//! nothing in JavaScript that the core can say.
//!
//! `now` is always `Date.now()`: WebAssembly has no clock of its own.

pub mod describe;
pub mod generate;
pub mod many;
pub mod public;

use flakeid_core::{Error, Id, TextForm};
use serde::Serialize;
use wasm_bindgen::prelude::*;

/// As JavaScript throws it.
#[expect(clippy::needless_pass_by_value, reason = "map_err hands it over")]
fn thrown(error: Error) -> JsValue {
    JsValue::from_str(&format!("{}: {error}", error.code()))
}

fn json(value: &impl Serialize) -> Result<String, JsValue> {
    serde_json::to_string(value).map_err(|error| JsValue::from_str(&error.to_string()))
}

/// Unix milliseconds of `Date.now()`.
fn unix_ms(now: f64) -> i64 {
    now as i64
}

/// An ID as people paste it: the form that `form` names, and for decimal digits also `0x` and hexadecimal digits, or
/// the negative numbers of signed columns.
fn id(text: &str, form: &str) -> Result<Id, Error> {
    let text = text.trim();
    let named = TextForm::ALL.into_iter().find(|known| known.name() == form);
    let form = named.unwrap_or(TextForm::Decimal);
    if form == TextForm::Decimal
        && let Ok(signed @ ..0) = text.parse::<i64>()
    {
        return Ok(Id::from_i64(signed));
    }
    let (digits, form) = flakeid_json::without_prefix(text, form);
    form.decode(&digits)
}
