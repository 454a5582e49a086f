//! Numbers from JavaScript: decimal text where a u64 may not hold them, `BigInt` where it does.

use flakeid_core::Error;
use napi::bindgen_prelude::BigInt;

/// A field or option that must be a u64; the core checks the rest of its range.
pub(crate) fn field(name: &'static str, text: &str, most: u64) -> Result<u64, Error> {
    text.parse().map_err(|_| Error::field_out_of_range(name, &text, 0, most))
}

/// The same for one that may be missing.
pub(crate) fn optional(
    name: &'static str,
    text: Option<&String>,
    most: u64,
) -> Result<Option<u64>, Error> {
    text.map(|text| field(name, text, most)).transpose()
}

/// An instant: beyond what an i64 holds it is the nearest, which every layout and every clock
/// treats the same way.
pub(crate) fn instant(text: &str) -> i64 {
    let nearest = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    text.parse().unwrap_or(nearest)
}

/// A `BigInt` that the caller has checked to be within u64.
pub(crate) fn bits(number: &BigInt) -> u64 {
    number.get_u64().1
}

/// A `BigInt` that the caller has checked to be within i64.
pub(crate) fn signed(number: &BigInt) -> i64 {
    number.get_i64().0
}
