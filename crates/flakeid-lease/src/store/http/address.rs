//! Addresses of brokers, and the list of hosts that may receive a client's token.

use std::fmt;

/// The address of a broker: `http://host:port` or `https://host:port`, and nothing after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) is_tls: bool,
    /// In lowercase.
    host: String,
    port: u16,
}

impl Address {
    /// Reads an address; `None` for any other text, such as a URL with a user or a path.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let is_tls = match scheme {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let (host, port) = split_port(rest.strip_suffix('/').unwrap_or(rest))?;
        let port = port.unwrap_or(if is_tls { 443 } else { 80 });
        Some(Self { is_tls, host, port })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { is_tls, host, port } = self;
        let scheme = if *is_tls { "https" } else { "http" };
        match (*is_tls, *port) {
            (false, 80) | (true, 443) => write!(f, "{scheme}://{host}"),
            _ => write!(f, "{scheme}://{host}:{port}"),
        }
    }
}

/// An entry of the option `brokers`.
pub(super) struct TrustedHost {
    /// The host, or with `is_suffix` what its name ends with, from the dot on.
    host: String,
    is_suffix: bool,
    /// Any port, unless the entry names one.
    port: Option<u16>,
}

impl TrustedHost {
    /// Reads a list such as `ids-1.example:7117,*.pods.ids.svc`.
    ///
    /// # Errors
    /// A message that names the entry and the form that entries have.
    pub(super) fn parse_list(list: &str) -> Result<Vec<Self>, String> {
        let parse = |entry: &str| {
            Self::parse(entry).ok_or_else(|| {
                let entry: String = entry.chars().take(80).collect();
                format!(
                    "the option brokers has the entry {entry:?}: each must be HOST, HOST:PORT, \
                     *.DOMAIN or *.DOMAIN:PORT"
                )
            })
        };
        list.split(',').map(parse).collect()
    }

    fn parse(entry: &str) -> Option<Self> {
        let (host, is_suffix) = match entry.strip_prefix("*.") {
            Some(domain) => (domain, true),
            None => (entry, false),
        };
        let (host, port) = split_port(host)?;
        let host = if is_suffix { format!(".{host}") } else { host };
        Some(Self { host, is_suffix, port })
    }

    /// Checks that an address may receive the token.
    pub(super) fn covers(&self, address: &Address) -> bool {
        let is_host = if self.is_suffix {
            address.host.ends_with(&self.host)
        } else {
            address.host == self.host
        };
        is_host && self.port.is_none_or(|port| port == address.port)
    }
}

/// The host in lowercase, and the port if there is one. `None` if the text is not a host and port.
fn split_port(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.rsplit_once(':') {
        // The colons of an IPv6 address are in brackets.
        Some((host, port)) if !port.ends_with(']') => {
            let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
            let port = port.parse().ok().filter(|port| is_number && *port != 0)?;
            (host, Some(port))
        }
        _ => (text, None),
    };
    let is_ip = host.len() > 2 && host.starts_with('[') && host.ends_with(']');
    let name = if is_ip { &host[1..host.len() - 1] } else { host };
    let is_allowed = |byte: u8| match byte {
        b'.' | b'-' | b'_' => !is_ip,
        b':' => is_ip,
        _ => byte.is_ascii_alphanumeric(),
    };
    let is_host = !name.is_empty() && name.len() <= 255 && name.bytes().all(is_allowed);
    is_host.then(|| (host.to_ascii_lowercase(), port))
}
