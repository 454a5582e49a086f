//! Parses numbers in the string form of JavaScript's `BigInt`: any number of decimal digits, with an optional sign.
//!
//! The functions are never inlined, because each function has several callers and the module must stay small.

#[cfg(not(feature = "lease"))]
use flakeid_core::Error;
use wasm_bindgen::prelude::*;

/// Parses the value of a field or an option as a `u64`. `most` is used only in the error message, because the core
/// checks the range of the value.
#[cfg(not(feature = "lease"))]
#[inline(never)]
pub(crate) fn field(name: &'static str, text: &str, most: u64) -> Result<u64, Error> {
    text.parse().map_err(|_| Error::field_out_of_range(name, &text, 0, most))
}

/// Parses an optional field. Returns `None` if the field is missing, and otherwise the result of `field`.
#[cfg(not(feature = "lease"))]
#[inline(never)]
pub(crate) fn optional(
    name: &'static str,
    text: Option<String>,
    most: u64,
) -> Result<Option<u64>, Error> {
    text.map(|text| field(name, &text, most)).transpose()
}

/// Parses an instant. An instant that does not fit into 64 bits is replaced with the nearest 64-bit number, which is
/// outside the range of every layout.
#[inline(never)]
pub(crate) fn instant(text: &str) -> i64 {
    let nearest = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    text.parse().unwrap_or(nearest)
}

/// Numbers and other values that JavaScript passes as strings. A missing value is passed as `undefined`.
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
