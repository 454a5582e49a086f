//! Numbers as JavaScript's `BigInt` writes them: decimal digits, maybe with a sign, of any length.
//!
//! Never inlined, because each is called a dozen times and size is download time.

use flakeid_core::Error;
use wasm_bindgen::prelude::*;

/// A field from 0 to `most`; the core has checked nothing yet that it cannot hold.
#[inline(never)]
pub(crate) fn field(name: &'static str, text: &str, most: u64) -> Result<u64, Error> {
    text.parse().map_err(|_| Error::field_out_of_range(name, &text, 0, most))
}

/// The same for one that may be missing.
#[inline(never)]
pub(crate) fn optional(
    name: &'static str,
    text: Option<String>,
    most: u64,
) -> Result<Option<u64>, Error> {
    text.map(|text| field(name, &text, most)).transpose()
}

/// An instant; what 64 bits cannot hold becomes the nearest they can, which no layout reaches.
#[inline(never)]
pub(crate) fn instant(text: &str) -> i64 {
    let nearest = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    text.parse().unwrap_or(nearest)
}

/// Such numbers, and other texts, of a JavaScript object: undefined where it has none.
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
