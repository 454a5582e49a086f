//! The proxies whose word about the addresses of their clients the server believes.

use std::net::{IpAddr, SocketAddr};

use flakeid_core::Error;
use hyper::HeaderMap;
use ipnet::IpNet;

use crate::rate::Peer;

/// Networks of proxies. A request from one of them counts as a request from the address that the proxy names in the header
/// `X-Forwarded-For`. The header of any other sender is ignored, because any client can write it.
///
/// ```
/// use flakeid_server::TrustedProxies;
///
/// let mut proxies = TrustedProxies::default();
/// proxies.trust("10.0.0.0/8")?;
/// proxies.trust("192.0.2.7")?;
/// assert!(proxies.trust("proxy.example").is_err());
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Adds an address, or a network such as `10.0.0.0/8`.
    ///
    /// # Errors
    /// An [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) error if the text is neither.
    pub fn trust(&mut self, text: &str) -> Result<(), Error> {
        let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        let network = network.map_err(|_| {
            let reason = format!("{text:?} is not an address or a network, such as 10.0.0.0/8");
            Error::invalid_option("trusted-proxy", &reason)
        })?;
        self.0.push(network);
        Ok(())
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address.to_canonical()))
    }

    /// Returns the client that sent a request: the sender of the connection or, if it is a trusted proxy, the last address
    /// in `X-Forwarded-For` that is not a trusted proxy.
    pub(crate) fn client(&self, peer: Option<Peer>, headers: &HeaderMap) -> Option<Peer> {
        let Some(Peer::Address(mut client)) = peer else { return peer };
        if self.0.is_empty() || !self.contains(client) {
            return peer;
        }
        let values: Vec<_> = headers.get_all("x-forwarded-for").iter().collect();
        let entries = values.iter().rev().flat_map(|value| value.as_bytes().rsplit(|b| *b == b','));
        for entry in entries {
            // An entry that is not an address ends the search, because the client may have written it.
            let Some(address) = str::from_utf8(entry).ok().and_then(address) else { break };
            client = address;
            if !self.contains(client) {
                break;
            }
        }
        Some(Peer::Address(client))
    }
}

/// Parses an address, to which some proxies append the port.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    text.parse().ok().or_else(with_port)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn only_trusted_proxies_name_the_address_of_a_client() {
        let mut proxies = TrustedProxies::default();
        let peer = |text: &str| Some(Peer::Address(text.parse().unwrap()));
        let client = |proxies: &TrustedProxies, sender: &str, values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
                headers.append("x-forwarded-for", value);
            }
            proxies.client(peer(sender), &headers)
        };
        assert_eq!(client(&proxies, "10.0.0.1", &["192.0.2.7"]), peer("10.0.0.1"));
        proxies.trust("10.0.0.0/8").unwrap();
        proxies.trust("2001:db8::1").unwrap();
        for (sender, values, expected) in [
            ("192.0.2.1", &["192.0.2.7"][..], "192.0.2.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["192.0.2.7"], "192.0.2.7"),
            ("::ffff:10.0.0.1", &["192.0.2.7"], "192.0.2.7"),
            ("2001:db8::1", &["192.0.2.7"], "192.0.2.7"),
            // A client can write addresses before those that the proxies append.
            ("10.0.0.1", &["198.51.100.1, 192.0.2.7,10.0.0.2"], "192.0.2.7"),
            ("10.0.0.1", &["198.51.100.1", "192.0.2.7", "10.0.0.2"], "192.0.2.7"),
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1", &["192.0.2.7, unknown"], "10.0.0.1"),
            ("10.0.0.1", &["192.0.2.7:5000"], "192.0.2.7"),
            ("10.0.0.1", &["[2001:db8::7]:5000"], "2001:db8::7"),
            // A value that is not ASCII must not hide the entries that a proxy appended.
            ("10.0.0.1", &["198.51.100.1", "\u{fc}, 192.0.2.7"], "192.0.2.7"),
            ("10.0.0.1", &["198.51.100.1", "\u{fc}"], "10.0.0.1"),
        ] {
            assert_eq!(client(&proxies, sender, values), peer(expected), "{sender}: {values:?}");
        }
        assert!(proxies.trust("10.0.0.0/33").unwrap_err().to_string().contains("10.0.0.0/33"));
    }
}
