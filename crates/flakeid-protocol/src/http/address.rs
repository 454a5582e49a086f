//! Broker addresses, and the list of hosts that may receive a client's token.

/// The address of a broker: `http://host:port` or `https://host:port` without a path.
#[derive(Clone, Copy)]
pub(super) struct Address<'a> {
    pub(super) is_tls: bool,
    /// The host, and the port if the address has one.
    authority: &'a str,
}

impl<'a> Address<'a> {
    /// Parses an address. Returns `None` for any other string, such as a URL with a user or a path.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (is_tls, rest) = match text.strip_prefix("https://") {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix("http://")?),
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        is_authority(authority).then_some(Self { is_tls, authority })
    }

    /// Whether this address matches an entry of the option `brokers`. An entry is a host, optionally with a port. The
    /// prefix `*.` matches all hosts in a domain, and an entry without a port matches all ports.
    pub(super) fn matches(self, entry: &str) -> bool {
        let (pattern, is_domain) = match entry.strip_prefix('*') {
            Some(domain) => (domain, true),
            None => (entry, false),
        };
        let own =
            if host_of(pattern) == pattern { host_of(self.authority) } else { self.authority };
        let place = own.len().saturating_sub(pattern.len());
        let is_place = if is_domain { place > 0 } else { place == 0 };
        is_place && own.get(place..).is_some_and(|end| end.eq_ignore_ascii_case(pattern))
    }
}

/// Whether a string is a valid entry of the option `brokers`.
pub(super) fn is_entry(entry: &str) -> bool {
    is_authority(entry.strip_prefix("*.").unwrap_or(entry))
}

fn is_authority(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    !host_of(text).is_empty() && text.bytes().all(is_allowed)
}

/// Removes a trailing port from a host. The colons inside the brackets of an IPv6 address do not mark the start of a
/// port.
fn host_of(text: &str) -> &str {
    match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => host,
        _ => text,
    }
}
