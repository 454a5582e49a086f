//! An [`Id`](crate::Id) as other crates know it: a column of sqlx or diesel, a schema of schemars or utoipa.

#[cfg(feature = "diesel")]
mod diesel;
#[cfg(feature = "schemars")]
mod schemars;
#[cfg(feature = "sqlx")]
mod sqlx;
#[cfg(feature = "utoipa")]
mod utoipa;

/// What `serde` writes of an ID, as a regular expression of JSON schemas.
#[cfg(any(feature = "schemars", feature = "utoipa"))]
const PATTERN: &str = "^[0-9]{1,20}$";

#[cfg(any(feature = "schemars", feature = "utoipa"))]
const DESCRIPTION: &str = "A 64-bit ID. It is a string because numbers lose digits in JavaScript.";
