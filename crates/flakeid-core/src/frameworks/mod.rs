//! Implementations of traits from other crates: an [`Id`](crate::Id) as an sqlx or diesel column, and its schema for
//! schemars or utoipa.

#[cfg(feature = "diesel")]
mod diesel;
#[cfg(feature = "schemars")]
mod schemars;
#[cfg(feature = "sqlx")]
mod sqlx;
#[cfg(feature = "utoipa")]
mod utoipa;

/// A regular expression for JSON schemas that matches the string that `serde` writes for an ID.
#[cfg(any(feature = "schemars", feature = "utoipa"))]
const PATTERN: &str = "^[0-9]{1,20}$";

#[cfg(any(feature = "schemars", feature = "utoipa"))]
const DESCRIPTION: &str = "A 64-bit ID, as a string, because JavaScript numbers would lose digits.";
