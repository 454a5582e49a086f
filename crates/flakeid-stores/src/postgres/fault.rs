//! The conversion of `PostgreSQL` driver errors into faults.

use std::error::Error as _;
use std::io;

use tokio_postgres::Error;

use flakeid_protocol::store::Fault;

/// Converts the error of a statement into a fault.
pub(super) fn fault(shown: &str, error: &Error) -> Fault {
    let Some(answer) = error.as_db_error() else {
        return Fault::Unavailable(format!("{shown}: {}", with_causes(error)));
    };
    let code = answer.code().code();
    // The error's detail is omitted, because it may contain whole rows, including their tokens.
    let text = format!("{shown}: {} (SQLSTATE {code})", answer.message());
    match code {
        // After a serialization failure, a deadlock or a lock timeout, the server rolls back the transaction, which can
        // then be repeated.
        "40001" | "40P01" | "55P03" => Fault::Conflict,
        "42P01" => Fault::MissingTables,
        // The server is a standby or was made read-only, or the transaction was idle for too long.
        "25006" | "25P03" => Fault::Unavailable(text),
        // These error classes report connection failures, insufficient resources, operator intervention, system errors
        // and internal errors.
        _ if ["08", "53", "57", "58", "XX"].iter().any(|class| code.starts_with(class)) => {
            Fault::Unavailable(text)
        }
        _ => Fault::Rejected(text),
    }
}

/// Converts a connection error into a fault.
pub(super) fn connect_fault(shown: &str, error: &Error) -> Fault {
    if error.as_db_error().is_some() {
        return fault(shown, error);
    }
    let text = format!("{shown}: {}", with_causes(error));
    if error.is_closed() || is_network_error(error) {
        Fault::Unavailable(text)
    } else {
        Fault::Rejected(text)
    }
}

/// Whether an error comes from the network itself rather than from TLS.
fn is_network_error(error: &Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return !io
                .get_ref()
                .is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>);
        }
        cause = error.source();
    }
    false
}

/// Formats an error together with its causes, which the driver's message omits.
pub(super) fn with_causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}
