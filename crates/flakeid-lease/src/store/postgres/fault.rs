use std::error::Error as _;
use std::io;

use tokio_postgres::Error;

use crate::store::Fault;
use crate::store::sql::missing_tables;

/// What an error of a statement means.
pub(super) fn fault(place: &str, error: &Error) -> Fault {
    let Some(answer) = error.as_db_error() else {
        return Fault::Unavailable(format!("{place}: {}", with_causes(error)));
    };
    let code = answer.code().code();
    // Its detail may hold whole rows, and with them tokens.
    let text = format!("{place}: {} (SQLSTATE {code})", answer.message());
    match code {
        // Serialisation, deadlock, a lock that took too long: all rolled back.
        "40001" | "40P01" | "55P03" => Fault::Conflict,
        "42P01" => missing_tables(place),
        // A standby or a server that was made read-only; a transaction that was idle for too long.
        "25006" | "25P03" => Fault::Unavailable(text),
        // Connection, resources, the operator, the system, the server itself.
        _ if ["08", "53", "57", "58", "XX"].iter().any(|class| code.starts_with(class)) => {
            Fault::Unavailable(text)
        }
        _ => Fault::Rejected(text),
    }
}

/// What an error of connecting means.
pub(super) fn refusal(place: &str, error: &Error) -> Fault {
    if error.as_db_error().is_some() {
        return fault(place, error);
    }
    let text = format!("{place}: {}", with_causes(error));
    if error.is_closed() || is_of_network(error) {
        Fault::Unavailable(text)
    } else {
        Fault::Rejected(text)
    }
}

/// Whether an error comes from the network, not from what was said over it.
fn is_of_network(error: &Error) -> bool {
    let mut cause = error.source();
    while let Some(present) = cause {
        if let Some(io) = present.downcast_ref::<io::Error>() {
            return !io
                .get_ref()
                .is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>);
        }
        cause = present.source();
    }
    false
}

/// An error with its causes, which the driver leaves out.
pub(super) fn with_causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(present) = cause {
        let more = present.to_string();
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = present.source();
    }
    text
}
