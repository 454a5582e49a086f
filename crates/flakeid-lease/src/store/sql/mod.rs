//! What the SQL databases have in common: values and statements; and of their servers also the
//! connection, bounded waiting and certificates.

#[cfg(any(feature = "postgres", feature = "mysql"))]
mod certificates;
mod ledger;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod runtime;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod server;
mod values;

#[cfg(feature = "mysql")]
pub(super) use certificates::install_default_cryptography;
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) use certificates::trusted_certificates;
pub(super) use ledger::{Dialect, SqlLedger, SqlTransaction};
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) use runtime::BlockingRuntime;
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) use server::{
    LOCK_LIMIT_S, RetryHints, STATEMENT_LIMIT_MS, ServerState, SqlServer, SqlStore, check_version,
    missing_tables,
};
pub(super) use values::Value;
