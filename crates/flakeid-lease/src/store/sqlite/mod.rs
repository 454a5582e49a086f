//! A store in one file, for one host, without a server: `SQLite`. Unix only.
//!
//! URL: `sqlite:///absolute/path.db` or `sqlite://relative/path.db`, with `%` escapes and no
//! options. Network file systems and FUSE are refused. The first lease makes the file, for its user
//! only, and its namespace.
//!
//! A connection lives for one transaction, which forks wait for, because `SQLite` must not be
//! carried across a fork. Beside the database lies a file with the serial
//! number of the last transaction: it is the lock that everybody takes first, and a database that
//! knows less than it is an older copy. The host's clock is the store's.

#[cfg(unix)]
mod file_id;
#[cfg(unix)]
mod ledger;
#[cfg(unix)]
mod names;
#[cfg(unix)]
mod page;
#[cfg(unix)]
mod past;
#[cfg(unix)]
mod place;
#[cfg(unix)]
mod schema;
#[cfg(unix)]
mod serial;
#[cfg(unix)]
mod session;
#[cfg(unix)]
mod sqlite_store;
#[cfg(unix)]
mod trouble;
#[cfg(unix)]
mod volume;

#[cfg(unix)]
pub(super) use sqlite_store::connect;

/// # Errors
/// Always: locks and forks are those of Unix.
#[cfg(not(unix))]
pub(super) fn connect(
    _url: &str,
    _clock: &std::sync::Arc<dyn flakeid_core::Clock>,
    _creates: bool,
) -> Result<Box<dyn super::Store>, super::Fault> {
    let text = "sqlite:// needs a Unix system: use a server (postgresql://, mysql://, …)";
    Err(super::Fault::Rejected(text.into()))
}
