//! The conversion of `MySQL` driver errors into faults.

use std::io;

use mysql_async::{DriverError, Error, IoError};

use flakeid_protocol::store::Fault;

/// Converts an error from a statement into a fault.
pub(super) fn fault(shown: &str, error: &Error) -> Fault {
    let Error::Server(answer) = error else {
        return Fault::Unavailable(format!("{shown}: {error}"));
    };
    let text = format!("{shown}: {} (error {})", answer.message, answer.code);
    match answer.code {
        // These error codes report a changed record, a duplicate key, a lock timeout, a deadlock or a changed table.
        1020 | 1062 | 1205 | 1213 | 1412 => Fault::Conflict,
        1146 => Fault::MissingTables,
        // These error codes report a full disk, a full table, exhausted memory or connections, or a file error.
        1016 | 1021 | 1023..=1026 | 1028 | 1030 | 1037 | 1038 | 1040 | 1041 | 1114 | 1135 | 1203
        | 1206 | 1226
        // These error codes report connection failures, operator actions, timeouts, cluster problems or failed
        // commits.
        | 1043 | 1047 | 1053 | 1077 | 1079 | 1080 | 1152 | 1158..=1161 | 1180 | 1184 | 1317 | 1907
        | 1927 | 1969 | 3024 | 3100 | 3101 | 4031
        // These error codes report a server that is read-only because it is, or is becoming, a replica.
        | 1290 | 1792 | 1836 => Fault::Unavailable(text),
        _ => Fault::Rejected(text),
    }
}

/// Converts a connection error into a fault.
pub(super) fn connect_fault(shown: &str, error: &Error) -> Fault {
    let text = format!("{shown}: {error}");
    match error {
        Error::Server(_) => fault(shown, error),
        Error::Io(IoError::Io(error)) if !is_tls_error(error) => Fault::Unavailable(text),
        Error::Driver(DriverError::ConnectionClosed) => Fault::Unavailable(text),
        _ => Fault::Rejected(text),
    }
}

fn is_tls_error(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>)
}
