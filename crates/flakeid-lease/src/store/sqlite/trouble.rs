use std::path::Path;

use rusqlite::ErrorCode;

use super::place::unwritable;
use crate::store::Fault;

/// `SQLite`'s error about a file: whether trying again may help.
pub(super) fn trouble(path: &Path, error: &rusqlite::Error) -> Fault {
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
            unwritable(&text)
        }
        _ => Fault::Rejected(text),
    }
}

/// Whether another process uses the file at the moment.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
