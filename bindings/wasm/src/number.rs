//! Numbers in the form of JavaScript's `BigInt`: decimal digits of any length, with an optional sign.
//!
//! The functions are never inlined, because each has a dozen callers and the module must stay small.

use flakeid_core::Error;
use wasm_bindgen::prelude::*;

/// Reads a field that must be from 0 to `most`. The string may have any length, so the number may be
/// too large for the integers that the core takes.
#[inline(never)]
pub(crate) fn field(name: &'static str, text: &str, most: u64) -> Result<u64, Error> {
    text.parse().map_err(|_| Error::field_out_of_range(name, &text, 0, most))
}

/// Reads a field as `field` does, if the field is present.
#[inline(never)]
pub(crate) fn optional(
    name: &'static str,
    text: Option<String>,
    most: u64,
) -> Result<Option<u64>, Error> {
    text.map(|text| field(name, &text, most)).transpose()
}

/// Reads an instant. An instant that does not fit into 64 bits becomes the nearest instant that does, which is
/// outside the range of every layout.
#[inline(never)]
pub(crate) fn instant(text: &str) -> i64 {
    let nearest = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    text.parse().unwrap_or(nearest)
}

/// Numbers and other values of a JavaScript object as strings; undefined for missing values.
pub(crate) struct Texts(Vec<JsValue>);

impl Texts {
    pub(crate) const fn new(values: Vec<JsValue>) -> Self {
        Self(values)
    }

    #[inline(never)]
    pub(crate) fn get(&self, index: usize) -> Option<String> {
        self.0.get(index)?.as_string()
    }
}
