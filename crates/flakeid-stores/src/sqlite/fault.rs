//! The conversion of `SQLite` and file system errors into faults.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use flakeid_protocol::store::Fault;

/// Converts an `SQLite` error that concerns a file into a fault. The kind of fault depends on whether a retry may
/// help.
pub(super) fn sqlite_fault(path: &Path, error: &rusqlite::Error) -> Fault {
    let text = format!("{}: {error}", path.display());
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::OutOfMemory,
        ) => Fault::Unavailable(text),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            permission_fault(&text)
        }
        _ => Fault::Rejected(text),
    }
}

/// Whether an `SQLite` error means that another process is using the file.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Converts an operating system error that concerns a file into a fault. A retry may help if a disk is full or fails,
/// but not if a permission is missing.
pub(super) fn io_fault(path: &Path, error: &io::Error) -> Fault {
    use io::ErrorKind as Kind;
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => permission_fault(&text),
        Kind::NotFound
        | Kind::NotADirectory
        | Kind::IsADirectory
        | Kind::InvalidInput
        | Kind::InvalidFilename => Fault::Rejected(text),
        _ => match error.raw_os_error() {
            Some(libc::ELOOP) => symbolic_link(path),
            Some(libc::ENXIO) => not_regular(path),
            _ => Fault::Unavailable(text),
        },
    }
}

fn permission_fault(text: &str) -> Fault {
    Fault::Rejected(format!(
        "{text}: the user that this process runs as must be able to write to the store's files and to their directory"
    ))
}

pub(super) fn symbolic_link(path: &Path) -> Fault {
    reject(&format!("{} is a symbolic link: use the path of the file itself", path.display()))
}

pub(super) fn not_regular(path: &Path) -> Fault {
    reject(&format!("{} is not a regular file", path.display()))
}

pub(super) fn reject(text: &str) -> Fault {
    Fault::Rejected(text.into())
}
