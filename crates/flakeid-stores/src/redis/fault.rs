//! The conversion of Redis driver errors into faults.

use redis::{ErrorKind, RedisError};

use flakeid_protocol::store::Fault;

/// Converts a driver error, which contains no URL, into a fault. The message does not include the script's arguments
/// or its hash.
pub(super) fn fault(shown: &str, error: &RedisError) -> Fault {
    let detail = error.detail().unwrap_or_default();
    let detail = detail.split(", with args").next().unwrap_or_default();
    let detail = detail.split(" script: ").next().unwrap_or_default();
    let code = error.code().unwrap_or_default();
    let text = if error.is_timeout() {
        format!("{shown} did not respond in time")
    } else if matches!(error.kind(), ErrorKind::Io | ErrorKind::InvalidClientConfig) {
        // In these cases, the driver's error describes a problem with the URL, the certificates or the connection.
        format!("{shown}: {error}")
    } else {
        format!("{shown}: {} {code} {detail}", error.category())
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // The client or the server rejected the other's certificate.
    if text.contains("invalid peer certificate") || text.contains("received fatal alert") {
        return Fault::Rejected(text);
    }
    match (error.kind(), code) {
        (_, "MOVED" | "ASK") => Fault::Unavailable(format!(
            "{text}: the keys of the namespace are being moved to another node of the cluster"
        )),
        (
            _,
            "NOAUTH" | "WRONGPASS" | "NOPERM" | "WRONGTYPE" | "CROSSSLOT" | "ERR" | "EXECABORT",
        ) if !detail.contains("max number of clients") => Fault::Rejected(text),
        (
            ErrorKind::AuthenticationFailed
            | ErrorKind::InvalidClientConfig
            | ErrorKind::UnexpectedReturnType
            | ErrorKind::Parse,
            _,
        ) => Fault::Rejected(text),
        // The server is loading its data, is busy, has run out of memory, has a failing disk, or is no longer the
        // primary, or a timeout has expired.
        _ => Fault::Unavailable(text),
    }
}

pub(super) fn not_primary(shown: &str) -> Fault {
    Fault::Unavailable(format!(
        "{shown} is a replica, but leases need the primary: name the primary in the URL"
    ))
}
