//! What errors of `SQLite` and of the file system mean.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use flakeid_protocol::store::Fault;

/// `SQLite`'s error about a file: whether trying again may help.
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

/// Whether another process uses the file at the moment.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// The system's error about a file. A full disk or a failing one may work later; a missing permission
/// will not.
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
        "{text}: this user must be able to write the store's files and in their directory"
    ))
}

pub(super) fn symbolic_link(path: &Path) -> Fault {
    reject(&format!("{} is a symbolic link: give the file itself", path.display()))
}

pub(super) fn not_regular(path: &Path) -> Fault {
    reject(&format!("{} is not a regular file", path.display()))
}

pub(super) fn reject(text: &str) -> Fault {
    Fault::Rejected(text.into())
}
