//! What the gateway's errors mean.

use serde_json::Value;
use ureq::Error;

use super::super::Fault;

/// A member's refusal of a request.
pub(super) fn refusal(shown: &str, path: &str, answer: &Value) -> Fault {
    let reason = answer["message"].as_str().or(answer["error"].as_str()).unwrap_or_default();
    let reason: String = reason.chars().take(300).collect();
    let text = format!("{shown} refuses {path}: {reason}");
    // gRPC's codes of what cannot get better by itself.
    match answer["code"].as_i64() {
        Some(3 | 5 | 7 | 9 | 12 | 16) => Fault::Rejected(text),
        _ => Fault::Unavailable(text),
    }
}

/// An error of sending a request or reading its answer. The agent's errors show no user and no URL.
pub(super) fn transport_fault(shown: &str, error: &Error) -> Fault {
    let text = format!("{shown}: {error}");
    match error {
        // One side does not accept the other's certificate.
        Error::Io(_)
            if text.contains("invalid peer certificate")
                || text.contains("received fatal alert") =>
        {
            Fault::Rejected(text)
        }
        Error::Tls(_) | Error::Rustls(_) | Error::Pem(_) | Error::BadUri(_) | Error::Http(_) => {
            Fault::Rejected(text)
        }
        _ => Fault::Unavailable(text),
    }
}
