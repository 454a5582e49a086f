//! The conversion of Redis driver errors into faults.

use redis::{ErrorKind, RedisError};

use flakeid_protocol::store::Fault;

/// Converts a driver error into a fault. Driver errors contain no URL. The fault's message omits the arguments and the
/// hash of a failed script.
pub(super) fn fault(shown: &str, error: &RedisError) -> Fault {
    let detail = error.detail().unwrap_or_default();
    let detail = detail.split(", with args").next().unwrap_or_default();
    let detail = detail.split(" script: ").next().unwrap_or_default();
    let code = error.code().unwrap_or_default();
    let text = if error.is_timeout() {
        format!("{shown} did not respond in time")
    } else if matches!(error.kind(), ErrorKind::Io | ErrorKind::InvalidClientConfig) {
        // For these kinds of errors, the driver's message describes a problem with the URL, the certificates or the
        // connection.
        format!("{shown}: {error}")
    } else {
        format!("{shown}: {} {code} {detail}", error.category())
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // The client rejected the server's certificate, or the server rejected the client's certificate.
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
        // All other errors may be temporary. Examples are a timeout, a failing disk, and a server that is loading its
        // data, busy, out of memory or demoted.
        _ => Fault::Unavailable(text),
    }
}

pub(super) fn not_primary(shown: &str) -> Fault {
    Fault::Unavailable(format!(
        "{shown} is a replica, but leases need the primary: name the primary in the URL"
    ))
}
