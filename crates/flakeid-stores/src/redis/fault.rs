//! What the driver's errors mean.

use redis::{ErrorKind, RedisError};

use flakeid_protocol::store::Fault;

/// The driver's errors show no URL. The arguments of a script, and its number, are cut off here.
pub(super) fn fault(shown: &str, error: &RedisError) -> Fault {
    let detail = error.detail().unwrap_or_default();
    let detail = detail.split(", with args").next().unwrap_or_default();
    let detail = detail.split(" script: ").next().unwrap_or_default();
    let code = error.code().unwrap_or_default();
    let text = if error.is_timeout() {
        format!("{shown} did not answer in time")
    } else if matches!(error.kind(), ErrorKind::Io | ErrorKind::InvalidClientConfig) {
        // What is wrong with the URL, the certificates or the connection.
        format!("{shown}: {error}")
    } else {
        format!("{shown}: {} {code} {detail}", error.category())
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // One side does not like the other's certificate.
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
        // Loading, busy, out of memory, a broken disk, no longer the primary, time-outs.
        _ => Fault::Unavailable(text),
    }
}

pub(super) fn not_primary(shown: &str) -> Fault {
    Fault::Unavailable(format!("{shown} is a replica: leases need the primary"))
}
