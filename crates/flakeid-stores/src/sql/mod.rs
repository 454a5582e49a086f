//! The code shared by the stores in SQL databases: the statements and, for servers, the connection and the timeouts.

mod history;
mod ledger;
#[cfg(feature = "sql-servers")]
mod runtime;
#[cfg(feature = "sql-servers")]
mod server;

pub(super) use ledger::{DatabaseState, Dialect, SqlLedger, SqlTransaction};
#[cfg(feature = "sql-servers")]
pub(super) use runtime::BlockingRuntime;
#[cfg(feature = "sql-servers")]
pub(super) use server::{
    LOCK_LIMIT_S, RetryHints, SCHEMA_VERSION, STATEMENT_LIMIT_MS, SqlServer, SqlStore,
    check_version,
};
