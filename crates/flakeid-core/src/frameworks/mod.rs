//! Implementations of other crates' traits for [`Id`](crate::Id): database columns for sqlx and diesel, schemas for
//! schemars and utoipa, and conversions for uuid.

#[cfg(feature = "diesel")]
mod diesel;
#[cfg(feature = "schemars")]
mod schemars;
#[cfg(feature = "sqlx")]
mod sqlx;
#[cfg(all(feature = "sqlx", feature = "uuid"))]
mod sqlx_uuid;
#[cfg(feature = "utoipa")]
mod utoipa;
#[cfg(feature = "uuid")]
mod uuid;

#[cfg(all(feature = "sqlx", feature = "uuid"))]
pub use sqlx_uuid::IdAsUuid;

/// The regular expression that JSON schemas specify for an ID. Every string to which `serde` serializes an ID matches
/// this expression.
#[cfg(any(feature = "schemars", feature = "utoipa"))]
const PATTERN: &str = "^[0-9]{1,20}$";

#[cfg(any(feature = "schemars", feature = "utoipa"))]
const DESCRIPTION: &str = "A 64-bit ID, as a string, because JavaScript numbers would lose digits.";
