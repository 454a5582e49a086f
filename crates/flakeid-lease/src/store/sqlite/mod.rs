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
//! 2 × max_skew` from then, 50 s with the default bounds, which means 30 s without grants. It is
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
