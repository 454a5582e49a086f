//! The proxies whose word about the addresses of their clients the server believes: in the header `X-Forwarded-For` of each
//! request, or in the header of the PROXY protocol at the beginning of each connection.

use std::io;
use std::net::{IpAddr, SocketAddr};

use flakeid_core::Error;
use hyper::HeaderMap;
use ipnet::IpNet;
use proxy_header::{Error as HeaderError, ParseConfig, ProxyHeader};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::rate::Peer;

/// The maximum length of a header of the PROXY protocol, in bytes. Headers with all additions that the specification lists
/// have a few hundred bytes.
pub(crate) const LONGEST_HEADER: usize = 2_048;

/// Proxies, by address or by the user whose process connects to a Unix socket. A request from one of them counts as a
/// request from the address that the proxy names. The server ignores the word of any other sender, because every client
/// can write such headers.
///
/// ```
/// use flakeid_server::TrustedProxies;
///
/// let mut proxies = TrustedProxies::default();
/// proxies.trust("10.0.0.0/8")?;
/// proxies.trust("192.0.2.7")?;
/// proxies.trust("user:33")?;
/// assert!(proxies.trust("proxy.example").is_err());
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies {
    networks: Vec<IpNet>,
    users: Vec<u32>,
    sends_headers: bool,
}

impl TrustedProxies {
    /// Adds an address, a network such as `10.0.0.0/8`, or the numeric ID of a user such as `user:33`.
    ///
    /// # Errors
    /// An [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) error if the text is none of them.
    pub fn trust(&mut self, text: &str) -> Result<(), Error> {
        if let Some(Ok(user)) = text.strip_prefix("user:").map(str::parse) {
            self.users.push(user);
            return Ok(());
        }
        let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        let network = network.map_err(|_| {
            let reason = format!(
                "{text:?} is not an address, a network such as 10.0.0.0/8, or the numeric ID of a user such as user:33"
            );
            Error::invalid_option("trusted-proxy", &reason)
        })?;
        self.networks.push(network);
        Ok(())
    }

    /// Requires that each connection of a trusted proxy begins with a header of the PROXY protocol, version 1 or 2.
    #[must_use]
    pub const fn with_proxy_protocol(mut self) -> Self {
        self.sends_headers = true;
        self
    }

    fn contains(&self, peer: Peer) -> bool {
        match peer {
            Peer::Address(address) => {
                self.networks.iter().any(|network| network.contains(&address.to_canonical()))
            }
            Peer::User(user) => self.users.contains(&user),
        }
    }

    /// Whether a connection begins with a header of the PROXY protocol.
    pub(crate) fn sends_header(&self, peer: Option<Peer>) -> bool {
        self.sends_headers && peer.is_some_and(|peer| self.contains(peer))
    }

    /// Returns the client that sent a request: the sender of the connection or, if it is a trusted proxy, the last address
    /// in `X-Forwarded-For` that is not a trusted proxy.
    pub(crate) fn client(&self, peer: Option<Peer>, headers: &HeaderMap) -> Option<Peer> {
        let mut client = peer?;
        if !self.contains(client) {
            return peer;
        }
        let values: Vec<_> = headers.get_all("x-forwarded-for").iter().collect();
        let entries = values.iter().rev().flat_map(|value| value.as_bytes().rsplit(|b| *b == b','));
        for entry in entries {
            // An entry that is not an address ends the search, because the client may have written it.
            let Some(address) = str::from_utf8(entry).ok().and_then(address) else { break };
            client = Peer::Address(address);
            if !self.contains(client) {
                break;
            }
        }
        Some(client)
    }
}

/// Reads the header of the PROXY protocol, and no byte after it. Returns the client that the header names, or `peer` if
/// the proxy itself opened the connection, for example for a health check.
pub(crate) async fn read_header(
    stream: &mut (impl AsyncRead + Unpin),
    peer: Option<Peer>,
) -> io::Result<Option<Peer>> {
    let mut header = Vec::with_capacity(64);
    loop {
        header.push(stream.read_u8().await?);
        match ProxyHeader::parse(&header, ParseConfig::default()) {
            Ok((header, _)) => {
                let named = header.proxied_address().map(|of| Peer::Address(of.source.ip()));
                return Ok(named.or(peer));
            }
            Err(HeaderError::BufferTooShort) if header.len() < LONGEST_HEADER => {}
            Err(_) => return Err(io::ErrorKind::InvalidData.into()),
        }
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
        proxies.trust("user:33").unwrap();
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
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", HeaderValue::from_static("192.0.2.7"));
        assert_eq!(proxies.client(Some(Peer::User(33)), &headers), peer("192.0.2.7"));
        assert_eq!(proxies.client(Some(Peer::User(34)), &headers), Some(Peer::User(34)));
        assert!(proxies.trust("user:www-data").unwrap_err().to_string().contains("user:www-data"));
        assert!(proxies.trust("10.0.0.0/33").unwrap_err().to_string().contains("10.0.0.0/33"));
    }
}
