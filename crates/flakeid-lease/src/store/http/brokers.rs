//! The brokers of a URL, and which of them granted what.

use std::collections::BTreeMap;

use crate::random;
use crate::store::Fault;
use crate::store::url::ServerUrl;

/// Brokers that can be asked, and which of them granted what.
pub(crate) struct Brokers {
    /// The addresses of the URL; the first is asked first.
    addresses: Vec<String>,
    /// What goes into the header `Authorization`.
    authorization: Option<String>,
    /// Whether there is one broker, whatever it calls itself.
    is_socket: bool,
    /// Which broker granted a node: there it is renewed and given back.
    granted_by: BTreeMap<u64, Granter>,
}

/// Who granted a node.
#[derive(Clone, Debug)]
pub(super) struct Granter {
    /// As the broker calls itself.
    pub(super) name: String,
    /// Where it is reached.
    pub(super) address: String,
}

impl Brokers {
    /// Those of a URL without options, and the URL as texts may show it.
    pub(crate) fn read(url: &str, token: Option<String>) -> Result<(Self, String), Fault> {
        let url = ServerUrl::parse(url, &[])?;
        Ok((Self::parse(&url, token)?, url.shown))
    }

    /// Those that `http://one:port,two:port/` names; `token` is the one to show, unless the URL has one
    /// and nothing else says which.
    pub(super) fn parse(url: &ServerUrl<'_>, token: Option<String>) -> Result<Self, Fault> {
        let (scheme, rest) = url.base.split_once("://").unwrap_or_default();
        let (given, hosts) = match rest.rsplit_once('@') {
            None => (None, rest),
            Some((user, hosts)) => {
                let token = user.split_once(':').map_or(user, |(_, token)| token);
                (Some(url.decode("token", token)?), hosts)
            }
        };
        let hosts = hosts.strip_suffix('/').unwrap_or(hosts);
        if hosts.is_empty() || hosts.contains(['/', '#']) {
            return Err(url.reject("the URL is not of the form http://host:port,host:port/"));
        }
        let addresses = hosts.split(',').map(|host| format!("{scheme}://{host}"));
        let mut brokers = Self::new(addresses.collect(), token.or(given));
        // So that not every process asks the same broker.
        let count = brokers.addresses.len();
        let first = (random::fraction() * count as f64) as usize % count;
        brokers.addresses.rotate_left(first);
        Ok(brokers)
    }

    /// The one behind a Unix socket.
    #[cfg(feature = "http")]
    pub(super) fn of_socket(token: Option<String>) -> Self {
        Self { is_socket: true, ..Self::new(vec!["http://localhost".into()], token) }
    }

    fn new(addresses: Vec<String>, token: Option<String>) -> Self {
        let authorization = token.map(|token| format!("Bearer {token}"));
        Self { addresses, authorization, is_socket: false, granted_by: BTreeMap::new() }
    }

    /// The addresses of the URL, in the order in which they are asked.
    #[cfg(feature = "http")]
    pub(super) fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Which one is asked first.
    pub(super) fn first(&self) -> &str {
        self.addresses.first().map_or("", String::as_str)
    }

    pub(super) fn count(&self) -> usize {
        self.addresses.len()
    }

    /// Another one is asked first from now on.
    pub(super) fn turn(&mut self) {
        self.addresses.rotate_left(1);
    }

    pub(super) fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    pub(super) fn granter(&self, node: u64) -> Option<Granter> {
        self.granted_by.get(&node).cloned()
    }

    /// Notes that the broker at `asked`, which calls itself `name`, granted a node.
    pub(super) fn note(&mut self, node: u64, name: String, asked: &str) {
        let is_url = name.starts_with("http://") || name.starts_with("https://");
        let address = if is_url && !self.is_socket { name.clone() } else { asked.into() };
        self.granted_by.insert(node, Granter { name, address });
    }

    pub(super) fn forget(&mut self, node: u64) {
        self.granted_by.remove(&node);
    }
}
