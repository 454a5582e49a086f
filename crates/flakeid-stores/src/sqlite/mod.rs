//! A store for a single host. The store consists of an `SQLite` file and needs no server. Unix only.
//!
//! The URL is `sqlite:///absolute/path.db` or `sqlite://relative/path.db`, with `%` escapes and no
//! options. Network file systems and FUSE are refused. The first lease creates the file, with
//! permissions for its owner only, and the namespace.
//!
//! A connection lives for one transaction, because an `SQLite` connection must not be used across a
//! fork; forks wait until the transaction has ended. The file `-serial` next to the database contains
//! the serial number of the last transaction. Every process locks that file first, and a database
//! with a lower serial number than the file is an older copy. The host's clock is the store's clock.
//!
//! # One name
//!
//! `SQLite`'s log and the store's lock are found by the file's name, so a file with two names would be two stores
//! with the same nodes. Every transaction refuses a file that has a hard link or is mounted alone
//! (`docker run --volume` with a file, a Kubernetes `subPath`): share its directory instead.
//!
//! # Older copies
//!
//! A copy that is put back counts as restored: no window starts before the time of the restore plus
//! `max_window + max_ahead + 2 × max_skew`, 32 s with the default bounds, so that nothing is granted for 15 s. A copy
//! is detected by the serial number, and by the file's inode and birth time, which a copy does not share with the
//! original. **An older state of all files at once, including `-serial`, in the same inodes cannot be detected**: for
//! example, if that state was copied over the existing files, or if the disk, volume or virtual machine was put back
//! as a whole. After such a restore, wait until 32 s (with the default bounds) after the end of the last process
//! before you start any process on the store. Alternatively, first delete the file `-serial`, so that the store counts
//! as restored.
//!
//! A namespace that is missing from a restored store is created again. The new namespace waits for as long as is
//! required by the widest bounds that any namespace in the store has ever had. `-serial` contains these bounds, too.
//!
//! # Machines
//!
//! Files from another machine, which is identified by its `/etc/machine-id`, are refused until an operator adopts
//! them (`flakeid leases adopt`), because the original may be in use on that machine. If `/etc/machine-id` is
//! missing, as in many containers, the boot ID of the kernel identifies the machine instead. Containers on one host
//! can then share a store, and a reboot counts as a restore. A copy on another host then counts as a restore, too,
//! and it is not detected if both copies stay in use: give containers the host's `/etc/machine-id`, so that such a
//! copy is refused. Without either ID, as on macOS, only the file's inode and birth time reveal a copy.

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

/// Checks the file and its directory without opening the file. Only transactions open the file, and create it if
/// `creates` is set.
#[cfg(unix)]
pub(super) fn connect(
    url: &str,
    clock: &Arc<dyn Clock>,
    creates: bool,
) -> Result<Box<dyn Store>, Fault> {
    Ok(Box::new(store::SqliteStore::new(url, clock, creates)?))
}

/// Returns the path of the file that a URL names, or `None` if the URL is invalid.
#[cfg(unix)]
pub(super) fn file(url: &str) -> Option<std::path::PathBuf> {
    files::StoreFiles::parse(url, false).ok().map(|files| files.file)
}

#[cfg(not(unix))]
pub(super) fn file(_url: &str) -> Option<std::path::PathBuf> {
    None
}

/// Refuses every URL, because the store relies on Unix file locks and forks.
///
/// # Errors
/// Always [`Fault::Rejected`].
#[cfg(not(unix))]
pub(super) fn connect(
    _url: &str,
    _clock: &Arc<dyn Clock>,
    _creates: bool,
) -> Result<Box<dyn Store>, Fault> {
    let text = "sqlite:// needs a Unix system: use a server (postgresql://, mysql://, …)";
    Err(Fault::Rejected(text.into()))
}
