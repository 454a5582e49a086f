//! The brokers in a URL, the order in which they receive requests, and the broker that granted each node.

use super::address::{Address, is_entry};
use crate::store::Fault;
use crate::url::ServerUrl;

/// The brokers to which a client can send requests.
pub struct Brokers {
    /// The addresses in the URL, in the order in which requests are sent to them.
    addresses: Vec<String>,
    /// The value of the `Authorization` header.
    authorization: Option<String>,
    /// The entries of the option `brokers`: further hosts that may receive the client's token.
    trusted: Vec<String>,
    /// Whether the client reaches its only broker through a Unix socket.
    is_socket: bool,
    /// For each node, the broker that granted the node and that also renews and releases it. A list suffices, because a
    /// client has few nodes.
    granted_by: Vec<(u64, Granter)>,
}

/// The broker that granted a node.
#[derive(Clone, Debug)]
pub(super) struct Granter {
    /// The name of the broker.
    pub(super) name: String,
    /// The advertised address, if this client sends requests to it, and the address at which the node was granted. The
    /// preferred address comes first.
    pub(super) addresses: Vec<String>,
    /// The address that the broker advertises; `None` if this client does not send requests to that address.
    own: Option<String>,
}

impl Granter {
    /// Whether an address belongs to the granter alone. Any other address may be a load balancer in front of several
    /// brokers.
    pub(super) fn is_own(&self, address: &str) -> bool {
        self.own.as_deref() == Some(address)
    }
}

impl Brokers {
    /// Parses a URL whose only allowed option is `brokers`. Also returns the URL in a form that is safe to show in
    /// messages. The fraction `first`, from 0 to 1, selects the broker for the first request. Clients choose a random
    /// fraction, so that they are distributed among the brokers.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if the URL is invalid.
    pub fn read(url: &str, token: Option<String>, first: f64) -> Result<(Self, String), Fault> {
        let url = ServerUrl::parse(url, &["brokers"])?;
        Ok((Self::parse(&url, token, first)?, url.shown))
    }

    /// Parses the brokers in a URL such as `http://one:port,two:port/`. `token` takes precedence over a token in the
    /// URL, and `first` has the same meaning as in [`read`](Self::read).
    ///
    /// # Errors
    /// [`Fault::Rejected`] if the URL is invalid.
    pub fn parse(url: &ServerUrl<'_>, token: Option<String>, first: f64) -> Result<Self, Fault> {
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
            return Err(url.reject("the URL does not have the form http://host:port,host:port/"));
        }
        let addresses = hosts.split(',').map(|host| format!("{scheme}://{host}"));
        let mut brokers = Self::new(addresses.collect(), token.or(given));
        let trusted = url.option("brokers")?.unwrap_or_default();
        for entry in trusted.split(',').filter(|_| !trusted.is_empty()) {
            if !is_entry(entry) {
                return Err(url.reject(format_args!(
                    "the option brokers has an entry that is not HOST, HOST:PORT, *.DOMAIN or \
                     *.DOMAIN:PORT"
                )));
            }
            brokers.trusted.push(entry.into());
        }
        let count = brokers.addresses.len();
        for _ in 0..(first * count as f64) as usize {
            brokers.ask_last(0);
        }
        Ok(brokers)
    }

    /// Creates a list that contains only the broker behind a Unix socket.
    #[must_use]
    pub fn of_socket(token: Option<String>) -> Self {
        Self { is_socket: true, ..Self::new(vec!["http://localhost".into()], token) }
    }

    fn new(addresses: Vec<String>, token: Option<String>) -> Self {
        let authorization = token.map(|token| format!("Bearer {token}"));
        Self {
            addresses,
            authorization,
            trusted: Vec::new(),
            is_socket: false,
            granted_by: Vec::new(),
        }
    }

    /// Returns the addresses in the URL, in the order in which requests are sent to them.
    #[must_use]
    pub fn order(&self) -> Vec<String> {
        self.addresses.clone()
    }

    /// Returns the addresses that may grant a replacement for a node, omitting the address of the broker that granted
    /// the node.
    pub(super) fn order_without_granter(&self, node: u64) -> Vec<String> {
        let mut order = self.order();
        if let Some(granter) = self.granter(node) {
            order.retain(|address| !granter.is_own(address));
        }
        order
    }

    /// Moves a broker to the end of the order after it has failed to grant a node, so that all other brokers are tried
    /// first.
    pub(super) fn avoid(&mut self, address: &str) {
        if let Some(place) = self.addresses.iter().position(|known| known == address) {
            self.ask_last(place);
        }
    }

    fn ask_last(&mut self, place: usize) {
        let address = self.addresses.remove(place);
        self.addresses.push(address);
    }

    /// The value of the `Authorization` header.
    #[must_use]
    pub fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    pub(super) fn granter(&self, node: u64) -> Option<&Granter> {
        self.granted_by.iter().find(|(of, _)| *of == node).map(|(_, granter)| granter)
    }

    /// Records that the broker named `name`, at the address `asked`, granted a node.
    pub(super) fn note_grant(&mut self, node: u64, name: String, asked: &str) {
        let own = if self.is_socket { Some(asked.to_owned()) } else { self.followed(&name, asked) };
        let mut addresses: Vec<String> = own.iter().cloned().collect();
        if !addresses.iter().any(|address| address == asked) {
            addresses.push(asked.into());
        }
        self.forget(node);
        self.granted_by.push((node, Granter { name, addresses, own }));
    }

    /// Records that the granter of a node responded at an address, so that later requests go to this address first.
    pub(super) fn prefer(&mut self, node: u64, address: &str) {
        if let Some((_, granter)) = self.granted_by.iter_mut().find(|(of, _)| *of == node) {
            let place = granter.addresses.iter().position(|other| other == address);
            granter.addresses.swap(0, place.unwrap_or(0));
        }
    }

    pub(super) fn forget(&mut self, node: u64) {
        if let Some(place) = self.granted_by.iter().position(|(of, _)| *of == node) {
            self.granted_by.swap_remove(place);
        }
    }

    /// Returns the address that a broker advertises as its name, if this client may send requests to that address. A
    /// client never switches from `https` to `http`. A client with a token accepts only addresses in the URL and
    /// addresses of trusted hosts.
    fn followed(&self, name: &str, asked: &str) -> Option<String> {
        let (advertised, asked) = (Address::parse(name)?, Address::parse(asked)?);
        let is_weaker = asked.is_tls && !advertised.is_tls;
        let name = name.strip_suffix('/').unwrap_or(name);
        let is_known = || {
            self.addresses.iter().any(|address| address.eq_ignore_ascii_case(name))
                || self.trusted.iter().any(|entry| advertised.matches(entry))
        };
        let follows = !is_weaker && (self.authorization.is_none() || is_known());
        follows.then(|| name.to_owned())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn brokers(url: &str) -> Brokers {
        let (mut brokers, _) = Brokers::read(url, None, 0.0).unwrap();
        brokers.addresses.sort();
        brokers
    }

    #[test]
    fn broker_that_grants_no_node_is_tried_last() {
        let mut brokers = brokers("http://a:1,b:1,c:1");
        let (a, b, c) = ("http://a:1", "http://b:1", "http://c:1");
        brokers.avoid(a);
        assert_eq!(brokers.order(), [b, c, a]);
        brokers.avoid(c);
        assert_eq!(brokers.order(), [b, a, c]);
        brokers.avoid(b);
        assert_eq!(brokers.order(), [a, c, b], "none of them grants");
        brokers.avoid("http://elsewhere:1");
        assert_eq!(brokers.order(), [a, c, b]);
    }

    #[test]
    fn replacement_node_is_requested_only_from_other_brokers() {
        let mut brokers = brokers("http://a:1,b:1");
        brokers.note_grant(7, "http://a:1".into(), "http://a:1");
        assert_eq!(brokers.order_without_granter(7), ["http://b:1"]);
        assert_eq!(brokers.order_without_granter(8).len(), 2, "the granter of the node is unknown");
        // The client sent the request to a load balancer, which may forward requests to several brokers.
        brokers.note_grant(7, "http://pod-1:1".into(), "http://a:1");
        assert_eq!(brokers.order_without_granter(7), ["http://a:1", "http://b:1"]);
    }

    #[test]
    fn client_sends_its_token_only_to_listed_hosts() {
        let cases = [
            // Without a token, the client has no secret to protect, so it also sends requests to advertised addresses
            // on unlisted hosts.
            ("http://a:1", "http://a:1", "http://elsewhere:9", true),
            ("https://a:1", "https://a:1", "http://elsewhere:9", false),
            ("https://:t@a:1", "https://a:1", "http://a:1", false),
            ("http://:t@a:1", "http://a:1", "https://a:1", false),
            ("http://:t@a:1,b:1", "http://a:1", "http://b:1", true),
            ("http://:t@a:1", "http://a:1", "http://a:1", true),
            ("http://:t@a:1", "http://a:1", "http://a:2", false),
            ("http://:t@a:1", "http://a:1", "http://b:1", false),
            ("http://:t@A:80", "http://A:80", "http://a:80/", true),
            ("http://:t@a:1?brokers=b", "http://a:1", "http://b:9", true),
            ("http://:t@a:1?brokers=b:1", "http://a:1", "http://b:9", false),
            ("http://:t@a:1?brokers=x,*.pods.svc", "http://a:1", "http://p-0.pods.svc:9", true),
            ("http://:t@a:1?brokers=*.pods.svc", "http://a:1", "http://pods.svc:9", false),
            ("http://:t@a:1?brokers=*.pods.svc", "http://a:1", "http://evilpods.svc:9", false),
            ("http://:t@a:1?brokers=*.svc", "http://a:1", "http://u:p@x.svc", false),
            ("http://:t@a:1?brokers=*.svc", "http://a:1", "http://x.svc/path", false),
            ("http://:t@a:1?brokers=*.svc", "http://a:1", "http://evil\\@x.svc", false),
            ("http://:t@a:1?brokers=*.svc", "http://a:1", "http://evil#.x.svc", false),
            (
                "https://:t@flakeid-broker.app.svc:7117?brokers=*.flakeid-broker-pods.app.svc",
                "https://flakeid-broker.app.svc:7117",
                "https://flakeid-broker-0.flakeid-broker-pods.app.svc:7117",
                true,
            ),
            ("http://:t@a:1?brokers=[::1]", "http://a:1", "http://[::1]:7", true),
        ];
        for (url, asked, name, follows) in cases {
            let mut brokers = brokers(url);
            brokers.note_grant(7, name.into(), asked);
            let granter = brokers.granter(7).unwrap();
            assert_eq!(granter.own.is_some(), follows, "{url}: {name}");
            assert_eq!(granter.addresses.last().unwrap(), asked, "{url}: {name}");
        }
    }

    #[test]
    fn url_with_an_invalid_broker_entry_is_rejected() {
        for list in ["*", "*.", "a,,b", "a/b", "u@a", "a%20b", "http://a", ":7"] {
            let url = format!("http://a:1?brokers={list}");
            assert!(Brokers::read(&url, None, 0.0).is_err(), "{list}");
        }
    }
}
