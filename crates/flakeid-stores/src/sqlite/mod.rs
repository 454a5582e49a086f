//! A store in one file, for one host, without a server: `SQLite`. Unix only.
//!
//! URL: `sqlite:///absolute/path.db` or `sqlite://relative/path.db`, with `%` escapes and no
//! options. Network file systems and FUSE are refused. The first lease makes the file, for its user
//! only, and its namespace.
//!
//! A connection lives for one transaction, which forks wait for, because `SQLite` must not be
//! carried across a fork. Beside the database lies a file, `-serial`, with the serial number of the
//! last transaction: it is the lock that everybody takes first, and a database that knows less than
//! it is an older copy. The host's clock is the store's.
//!
//! # One name
//!
//! `SQLite`'s log and the lock are found by the file's name, so a file with two names would be two
//! stores with the same nodes. Every transaction refuses a file that has a hard link or was mounted
//! by itself (`docker run --volume` with a file, a Kubernetes `subPath`): share its directory.
//!
//! # Older copies
//!
//! A copy that is put back counts as restored: no window starts before `max_window + max_ahead +
//! 2 × max_skew` from then, 32 s with the default bounds, which means 15 s without grants. It is
//! known by the serial number and by the file's inode and time of birth, which a copy does not have
//! in common with the original. **What cannot be seen is an older state of all files at once,
//! `-serial` too, in the same inodes**: copied over the present files, or the disk, volume or
//! virtual machine put back as a whole. After that, wait those 50 s from the end of the last process
//! before any is started on it, or delete the file `-serial` first: then it counts as restored.
//!
//! A namespace that is missing from a restored store is made again, and waits as long as the widest
//! bounds require that any namespace of the store ever had; they are kept in `-serial`, too.
//!
//! # Machines
//!
//! Files of another machine, by its `/etc/machine-id`, are refused until an operator adopts them
//! (`flakeid leases adopt`), because the original may be in use there. Where that file is missing, as
//! in many containers, the machine is known by the kernel's boot instead. Containers of one host then
//! share a store, and a reboot counts as a restoration; so does a copy on another host, and nobody
//! notices if both copies stay in use. Give containers the host's `/etc/machine-id` to have that
//! refused. Without either (macOS) only the file's inode and time of birth tell.

#[cfg(unix)]
mod fault;
#[cfg(unix)]
mod file_id;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod filesystem;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod meta;
#[cfg(unix)]
mod schema;
#[cfg(unix)]
mod serial;
#[cfg(unix)]
mod session;
#[cfg(unix)]
mod store;
#[cfg(unix)]
mod transaction;

use std::sync::Arc;

use flakeid_core::Clock;

use flakeid_protocol::store::{Fault, Store};

/// Checks the file and its directory; the file is opened, and if `creates` allows it created, only by
/// transactions.
#[cfg(unix)]
pub(super) fn connect(
    url: &str,
    clock: &Arc<dyn Clock>,
    creates: bool,
) -> Result<Box<dyn Store>, Fault> {
    Ok(Box::new(store::SqliteStore::new(url, clock, creates)?))
}

/// The file that a URL names.
#[cfg(unix)]
pub(super) fn file(url: &str) -> Option<std::path::PathBuf> {
    files::StoreFiles::parse(url, false).ok().map(|files| files.file)
}

#[cfg(not(unix))]
pub(super) fn file(_url: &str) -> Option<std::path::PathBuf> {
    None
}

/// # Errors
/// Always: locks and forks are those of Unix.
#[cfg(not(unix))]
pub(super) fn connect(
    _url: &str,
    _clock: &Arc<dyn Clock>,
    _creates: bool,
) -> Result<Box<dyn Store>, Fault> {
    let text = "sqlite:// needs a Unix system: use a server (postgresql://, mysql://, …)";
    Err(Fault::Rejected(text.into()))
}
