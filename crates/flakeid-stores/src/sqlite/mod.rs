//! A store for a single host. The store uses an `SQLite` file, requires no server, and is available only on Unix.
//!
//! The URL is `sqlite:///absolute/path.db` or `sqlite://relative/path.db`, with `%` escapes and no options. Network
//! file systems and FUSE are refused. The first lease creates the namespace and the file, to which only the file's
//! owner has access.
//!
//! A connection is open for only one transaction, because an `SQLite` connection must not be used across a fork.
//! Forks wait until the transaction has ended. The file `-serial` next to the database contains the serial number of
//! the last transaction. Every process locks the file `-serial` first. A database with a serial number lower than the
//! number in `-serial` is an older copy. The host's clock is the store's clock.
//!
//! # One name
//!
//! `SQLite`'s log and the store's lock are found by the file's name, so a file with two names would be two stores
//! with the same nodes. Every transaction refuses a file that has several hard links or is itself a mount point
//! (`docker run --volume` with a file, a Kubernetes `subPath`): mount the directory instead.
//!
//! # Older copies
//!
//! A copy that is put back counts as restored. No window starts until `max_window + max_ahead + 3 × max_skew` after
//! the restore, which is 33 s with the default bounds. With these bounds, nothing is granted for 15 s. A copy is
//! detected by the serial number, and by the file's inode and birth time, which a copy does not share with the
//! original. **An older state of all files at once, including `-serial`, in the same inodes cannot be detected**: for
//! example, if that state was copied over the existing files, or if the whole disk, volume or virtual machine was
//! restored. After a restore of this kind, wait before you start any process that uses the store. With the default
//! bounds, wait until 32 s after the end of the last process. Alternatively, delete the file `-serial` before you
//! start a process, so that the store counts as restored.
//!
//! A namespace that is missing from a restored store is created again. The new namespace grants nothing for as long
//! as is required by the widest bounds that any namespace in the store has ever had. The file `-serial` also contains
//! these bounds.
//!
//! # Machines
//!
//! Files from another machine, which is identified by its `/etc/machine-id`, are refused until an operator adopts
//! them (`flakeid leases adopt`), because the original may be in use on that machine. If `/etc/machine-id` is
//! missing, as in many containers, the boot ID of the kernel identifies the machine instead. Containers on one host
//! can then share a store, and a reboot counts as a restore. A copy on another host then also counts as a restore,
//! and flakeid does not detect that both copies are in use. Give containers the host's `/etc/machine-id`, so that a
//! copy on another host is refused. Without either ID, as on macOS, only the file's inode and birth time reveal a
//! copy.

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
mod serial;
#[cfg(unix)]
mod session;
#[cfg(unix)]
mod store;
#[cfg(unix)]
mod transaction;

use crate::backend::{Backend, Connect, Place};
use flakeid_protocol::store::{Fault, Store};

pub(super) static BACKEND: Backend = Backend {
    forms: &["sqlite:///path/to/file", "sqlite://file (in the working directory)"],
    connect: Connect::Store(connect),
    file: Some(file),
    documents: None,
};

/// Returns a store for the file that the URL names. Checks the file and its directory without opening the file. Only
/// transactions open the file. If `creates` is set, a transaction also creates a missing file.
#[cfg(unix)]
fn connect(place: &Place<'_>) -> Result<Box<dyn Store>, Fault> {
    Ok(Box::new(store::SqliteStore::new(place.url, place.clock, place.creates)?))
}

/// Returns the path of the file that a URL names, or `None` if the URL is invalid.
#[cfg(unix)]
fn file(url: &str) -> Option<std::path::PathBuf> {
    files::StoreFiles::parse(url, false).ok().map(|files| files.file)
}

#[cfg(not(unix))]
fn file(_url: &str) -> Option<std::path::PathBuf> {
    None
}

/// Refuses every URL, because the store relies on file locks and fork handlers that only Unix provides.
///
/// # Errors
/// Always [`Fault::Rejected`].
#[cfg(not(unix))]
fn connect(_place: &Place<'_>) -> Result<Box<dyn Store>, Fault> {
    let text = "sqlite:// needs a Unix system: use a server (postgresql://, mysql://, …)";
    Err(Fault::Rejected(text.into()))
}
