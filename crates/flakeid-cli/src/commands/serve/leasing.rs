//! The namespaces from which the server leases nodes to other processes, and the URL at which these
//! processes reach the server.

use std::net::SocketAddr;
use std::sync::Arc;

use flakeid::broker::{Broker, BrokerOptions};
use flakeid_core::{Error, Layout, Spelling, SystemClock};
use flakeid_protocol::store::Fault;
use flakeid_protocol::url::redact;
use flakeid_protocol::{Refusal, operations};
use flakeid_server::Listener;
use flakeid_stores::Location;

use crate::failure::Failure;
use crate::format::{duration, number};

/// The flag for the broker's window, which differs from the flag in other commands.
const SPELLING: Spelling<'_> =
    Spelling { options: &[("window_ms", "--lease-window")], fields: &[] };

/// The options for the server's brokers.
pub(super) struct Leasing {
    pub(super) location: Location,
    pub(super) layout: Layout,
    pub(super) address: String,
    pub(super) block_bits: Option<u32>,
    pub(super) window_ms: Option<u64>,
}

impl Leasing {
    /// Starts a broker for a namespace. Returns `None` if the nodes of the namespace are leased
    /// from the store one by one.
    pub(super) fn broker(&self, namespace: &str) -> Result<Option<Broker>, Failure> {
        if self.location.is_broker() || self.is_leased_by_node(namespace)? {
            return Ok(None);
        }
        let mut options = BrokerOptions::new(namespace, self.layout, &self.address);
        let window_ms = self.window_ms.unwrap_or(options.window_ms);
        options.block_bits = self.block_bits;
        options.window_ms = window_ms;
        options.ttl_ms = window_ms.saturating_mul(3);
        Ok(Some(Broker::start(&self.location, options).map_err(with_own_flag)?))
    }

    fn is_leased_by_node(&self, namespace: &str) -> Result<bool, Failure> {
        let to_error =
            |fault: &Fault| fault.to_error(&self.location.to_string(), namespace, &self.layout);
        let described =
            self.location.connect(&(Arc::new(SystemClock) as _)).and_then(|mut store| {
                if !store.is_prepared()? {
                    return Ok(None);
                }
                match operations::describe(&mut *store, namespace) {
                    Err(Fault::Refused(Refusal::MissingNamespace)) => Ok(None),
                    described => described.map(Some),
                }
            });
        let described = described.map_err(|fault| to_error(&fault))?;
        // If the namespace does not exist and its layout has too few nodes for blocks, the
        // namespace is created without blocks.
        let creates_blocks = flakeid_protocol::Namespace::default_block_bits(&self.layout)
            .or(self.block_bits)
            .is_some();
        Ok(described.map_or(!creates_blocks, |namespace| namespace.block_bits == 0))
    }
}

/// Names the server's flag for the window in an error about a window that is out of range.
fn with_own_flag(error: Error) -> Error {
    if error.field() == Some("window_ms") {
        return Error::new(error.kind(), &error.spelled(&SPELLING).to_string(), None);
    }
    error
}

/// Returns the URL at which holders reach this server. A server that accepts connections from other
/// hosts can have many addresses, and only its operator knows which address clients can use.
pub(super) fn address(
    advertised: Option<&str>,
    listener: &Listener,
    scheme: &str,
) -> Result<String, Failure> {
    let bound = listener.tcp_address().map_err(|error| {
        Failure::io("cannot determine the listening address for `--listen`", error)
    })?;
    if let Some(url) = advertised {
        return Ok(check_advertised(url, scheme)?.to_owned());
    }
    match bound {
        None => Ok(format!("{scheme}+unix://{}/{listener}", flakeid_stores::host_name())),
        Some(address) if address.ip().is_loopback() => Ok(format!("{scheme}://{address}")),
        Some(address) => Err(unadvertised(address)),
    }
}

fn check_advertised<'a>(url: &'a str, scheme: &str) -> Result<&'a str, Error> {
    let host = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    // The user information of a URL may contain a token.
    let shown = if url.contains("://") {
        redact(url)
    } else {
        url.rsplit('@').next().unwrap_or_default().to_owned()
    };
    let is_plain = |host: &str| !host.is_empty() && !host.contains(['/', '?', '#', '@', ',']);
    if !host.is_some_and(is_plain) {
        let reason =
            format!("{shown:?} does not have the form http://HOST:PORT or https://HOST:PORT");
        return Err(Error::invalid_option("advertise", &reason));
    }
    if scheme == "https" && url.starts_with("http://") {
        let reason = format!(
            "{shown:?} begins with http://, but this server uses TLS, and its clients reject a change \
             from https to http: begin the URL with https://"
        );
        return Err(Error::invalid_option("advertise", &reason));
    }
    Ok(url)
}

fn unadvertised(address: SocketAddr) -> Failure {
    let reason = format!(
        "missing: give the URL by which clients on other hosts reach {address} (http://HOST:PORT), because \
         they renew their leases at the server that granted them; or give --no-leases"
    );
    Error::invalid_option("advertise", &reason).into()
}

pub(super) fn block_bits(text: Option<&str>) -> Result<Option<u32>, Error> {
    text.map(|text| number::parse("block-bits", text, 1, 16).map(|bits| bits as u32)).transpose()
}

pub(super) fn window_ms(text: Option<&str>) -> Result<Option<u64>, Error> {
    text.map(|text| duration::parse("lease-window", text)).transpose()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn tls_server_refuses_to_advertise_an_http_url() {
        for (url, scheme, is_allowed) in [
            ("https://ids.example:7117", "https", true),
            ("http://ids.example:7117", "http", true),
            // A server without TLS may advertise an https URL, because a TLS proxy may be in front
            // of the server.
            ("https://ids.example", "http", true),
            ("http://ids.example:7117", "https", false),
            ("ids.example:7117", "http", false),
            ("http://ids.example/path", "http", false),
            ("http://user@ids.example", "http", false),
        ] {
            let checked = check_advertised(url, scheme);
            assert_eq!(checked.is_ok(), is_allowed, "{url} by {scheme}: {checked:?}");
        }
    }

    #[test]
    fn refused_url_is_shown_without_its_token() {
        for url in ["http://:s3cret@ids.example:7117", "u:s3cret@ids.example", "http://h?t=s3cret"]
        {
            let refusal = check_advertised(url, "http").unwrap_err().to_string();
            assert!(!refusal.contains("s3cret"), "{refusal}");
        }
    }
}
