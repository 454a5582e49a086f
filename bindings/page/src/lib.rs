//! The WebAssembly module of the web page. The module's functions take strings, return JSON, and
//! report errors as `CODE: message`. This crate contains no logic of its own, and the page's
//! JavaScript repeats no logic of the core.
//!
//! The argument `now` is always the result of `Date.now()`, because WebAssembly has no clock.

pub mod describe;
pub mod generate;
pub mod many;
pub mod public;

use flakeid_core::{Error, Id, TextForm};
use serde::Serialize;
use wasm_bindgen::prelude::*;

/// The allocator of the module, which has less code than the default allocator.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

/// Converts an error to the string that JavaScript throws.
#[expect(clippy::needless_pass_by_value, reason = "map_err passes the error by value")]
fn thrown(error: Error) -> JsValue {
    JsValue::from_str(&format!("{}: {error}", error.code()))
}

fn json(value: &impl Serialize) -> Result<String, JsValue> {
    serde_json::to_string(value).map_err(|error| JsValue::from_str(&error.to_string()))
}

/// Converts the result of `Date.now()` to an integer of Unix milliseconds.
fn unix_ms(now: f64) -> i64 {
    now as i64
}

/// Parses a pasted ID in the text form named `form`. If the form is decimal, the ID may also be a
/// negative number from a signed column. If the form is decimal or hexadecimal, the ID may also be
/// `0x` followed by hexadecimal digits. If the form is decimal, the ID may also be a UUID.
fn id(text: &str, form: &str) -> Result<Id, Error> {
    let text = text.trim();
    let named = TextForm::ALL.into_iter().find(|known| known.name() == form);
    let form = named.unwrap_or(TextForm::Decimal);
    if form == TextForm::Decimal
        && let Ok(signed @ ..0) = text.parse::<i64>()
    {
        return Ok(Id::from_i64(signed));
    }
    let (digits, form) = flakeid_json::entered_id(text, form);
    form.decode(&digits)
}
