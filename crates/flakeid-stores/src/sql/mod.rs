//! The code shared by the stores in SQL databases: the statements and, for servers, the connection and the timeouts.

mod history;
mod ledger;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod runtime;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod server;

pub(super) use ledger::{DatabaseState, Dialect, SqlLedger, SqlTransaction};
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) use runtime::BlockingRuntime;
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) use server::{
    LOCK_LIMIT_S, RetryHints, SCHEMA_VERSION, STATEMENT_LIMIT_MS, SqlServer, SqlStore,
    check_version,
};
