//! The faults of the HTTP client.

use flakeid_protocol::store::Fault;

/// Converts an error of the HTTP client into a fault. The message is safe to show, because the client's errors contain
/// neither the user name nor the URL.
pub(crate) fn transport_fault(shown: &str, error: &ureq::Error) -> Fault {
    let text = format!("{shown}: {error}");
    match error {
        // Either the client rejected the server's certificate, or the server rejected the client's certificate.
        ureq::Error::Io(_)
            if text.contains("invalid peer certificate")
                || text.contains("received fatal alert") =>
        {
            Fault::Rejected(text)
        }
        ureq::Error::Tls(_)
        | ureq::Error::Rustls(_)
        | ureq::Error::Pem(_)
        | ureq::Error::BadUri(_)
        | ureq::Error::Http(_) => Fault::Rejected(text),
        _ => Fault::Unavailable(text),
    }
}
