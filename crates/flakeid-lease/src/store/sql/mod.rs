//! What the SQL servers have in common: bounded waiting, columns, repetition, TLS roots.

mod cells;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod line;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod options;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod rerun;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod roots;

pub(super) use cells::{NamespaceCells, RecordCells, RowCells, whole};
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) use line::Line;
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) use options::{decoded, split_options};
#[cfg(feature = "mysql")]
pub(super) use rerun::part;
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) use rerun::{Care, rerun};
#[cfg(feature = "mysql")]
pub(super) use roots::ring_by_default;
#[cfg(feature = "postgres")]
pub(super) use roots::roots;
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) use roots::{added, native};

#[cfg(any(feature = "postgres", feature = "mysql"))]
use super::Fault;

/// The version of the tables.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) const SCHEMA_VERSION: i64 = 1;

/// The server's own limit for a statement: before the client gives up, so that what the client
/// reports is what the server says.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) const STATEMENT_LIMIT_MS: u64 = 1_500;

/// The server's own limit for waiting for a lock: before the statement's, because it ends in a
/// conflict, of which it is certain that nothing was written. `MySQL` knows only whole seconds.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) const LOCK_LIMIT_S: u64 = 1;

/// What is to be done about missing tables.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) fn missing_tables(place: &str) -> Fault {
    Fault::Rejected(format!("{place} has no tables for leases: run `flakeid leases init`"))
}

/// What is to be done about tables of another version.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) fn check_version(place: &str, version: i64) -> Result<(), Fault> {
    if version == SCHEMA_VERSION {
        return Ok(());
    }
    Err(Fault::Rejected(format!(
        "the lease tables at {place} have version {version}, this build knows {SCHEMA_VERSION}: \
         use the flakeid that made them, or a newer one"
    )))
}
