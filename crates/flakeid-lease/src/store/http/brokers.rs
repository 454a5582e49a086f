//! The brokers of a URL: in which order they are asked, and where each node was granted.

use std::collections::BTreeMap;
use std::time::Duration;

use super::address::{Address, TrustedHost};
use crate::random;
use crate::store::Fault;
use crate::store::url::ServerUrl;

/// For how long a broker that did not grant a node is asked last, on average.
const AVOIDED_FOR: Duration = Duration::from_secs(10);

/// The brokers that a client knows.
///
/// Points in time are durations since an instant that the caller chooses once.
pub(crate) struct Brokers {
    /// Those of the URL, in the order in which they are asked.
    known: Vec<KnownBroker>,
    /// The value of the header `Authorization`.
    authorization: Option<String>,
    /// Hosts besides those of the URL that may receive the token.
    trusted: Vec<TrustedHost>,
    /// Whether there is one broker, whatever it calls itself.
    is_socket: bool,
    /// Which broker granted a node: it renews the node and takes it back.
    granted_by: BTreeMap<u64, Granter>,
}

struct KnownBroker {
    address: String,
    /// Until when it is asked last.
    avoided_until: Option<Duration>,
}

/// The broker that granted a node.
#[derive(Clone, Debug)]
pub(super) struct Granter {
    /// What the broker calls itself.
    pub(super) name: String,
    /// Where it can be asked, the best address first: the address that it advertises, if this client
    /// follows it there, and the one at which it granted the node.
    pub(super) addresses: Vec<String>,
    /// The advertised address, if this client follows it there.
    own: Option<String>,
}

impl Granter {
    /// Checks that an address is the granter's own. Behind any other one there may be several brokers.
    pub(super) fn is_own(&self, address: &str) -> bool {
        self.own.as_deref() == Some(address)
    }
}

impl Brokers {
    /// Reads a URL that may have the option `brokers` and no other; returns the brokers, and the URL as
    /// messages may show it.
    pub(crate) fn read(url: &str, token: Option<String>) -> Result<(Self, String), Fault> {
        let url = ServerUrl::parse(url, &["brokers"])?;
        Ok((Self::parse(&url, token)?, url.shown))
    }

    /// Reads the brokers that `http://one:port,two:port/` names. `token` has priority over a token in
    /// the URL.
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
        let trusted = match url.option("brokers")? {
            Some(list) => TrustedHost::parse_list(&list).map_err(|error| url.reject(error))?,
            None => Vec::new(),
        };
        let addresses = hosts.split(',').map(|host| {
            let address = format!("{scheme}://{host}");
            // Addresses that brokers advertise are compared with these.
            Address::parse(&address).map_or(address, |parsed| parsed.to_string())
        });
        let mut brokers = Self::new(addresses.collect(), token.or(given));
        brokers.trusted = trusted;
        // The clients of a fleet spread over the brokers.
        let count = brokers.known.len();
        let first = (random::fraction() * count as f64) as usize % count;
        brokers.known.rotate_left(first);
        Ok(brokers)
    }

    /// The broker behind a Unix socket.
    #[cfg(feature = "http")]
    pub(super) fn of_socket(token: Option<String>) -> Self {
        Self { is_socket: true, ..Self::new(vec!["http://localhost".into()], token) }
    }

    fn new(addresses: Vec<String>, token: Option<String>) -> Self {
        let known =
            addresses.into_iter().map(|address| KnownBroker { address, avoided_until: None });
        let authorization = token.map(|token| format!("Bearer {token}"));
        Self {
            known: known.collect(),
            authorization,
            trusted: Vec::new(),
            is_socket: false,
            granted_by: BTreeMap::new(),
        }
    }

    /// The addresses of the URL, in the order in which they are asked at `now`: brokers that did not
    /// grant a node lately come last.
    pub(super) fn order(&self, now: Duration) -> Vec<String> {
        let mut known: Vec<_> = self.known.iter().collect();
        known.sort_by_key(|broker| broker.avoided_until.filter(|until| *until > now));
        known.into_iter().map(|broker| broker.address.clone()).collect()
    }

    /// The addresses to ask for a node in place of one that its granter does not renew.
    pub(super) fn order_without_granter(&self, node: u64, now: Duration) -> Vec<String> {
        let mut order = self.order(now);
        if let Some(granter) = self.granted_by.get(&node) {
            order.retain(|address| !granter.is_own(address));
        }
        order
    }

    /// Notes that a broker did not grant a node: it is asked last for a while, or until that holds for
    /// all brokers.
    pub(super) fn avoid(&mut self, address: &str, now: Duration) {
        let until = now + AVOIDED_FOR.mul_f64(random::jitter());
        for broker in self.known.iter_mut().filter(|broker| broker.address == address) {
            broker.avoided_until = Some(until);
        }
        let is_avoided =
            |broker: &KnownBroker| broker.avoided_until.is_some_and(|until| until > now);
        if self.known.iter().all(is_avoided) {
            self.known.iter_mut().for_each(|broker| broker.avoided_until = None);
        }
    }

    pub(super) fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    pub(super) fn granter(&self, node: u64) -> Option<Granter> {
        self.granted_by.get(&node).cloned()
    }

    /// Notes that the broker at the address `asked`, which calls itself `name`, granted a node.
    pub(super) fn note_grant(&mut self, node: u64, name: String, asked: &str) {
        for broker in self.known.iter_mut().filter(|broker| broker.address == asked) {
            broker.avoided_until = None;
        }
        let own = if self.is_socket { Some(asked.to_owned()) } else { self.followed(&name, asked) };
        let mut addresses: Vec<String> = own.iter().cloned().collect();
        if !addresses.iter().any(|address| address == asked) {
            addresses.push(asked.into());
        }
        self.granted_by.insert(node, Granter { name, addresses, own });
    }

    /// Notes that the granter of a node answered at an address, which is asked first from now on.
    pub(super) fn prefer(&mut self, node: u64, address: &str) {
        if let Some(granter) = self.granted_by.get_mut(&node) {
            granter.addresses.sort_by_key(|other| other != address);
        }
    }

    pub(super) fn forget(&mut self, node: u64) {
        self.granted_by.remove(&node);
    }

    /// The address that a broker advertises by its name, if this client follows it there: never from
    /// `https` to `http`, and with a token only to hosts of the URL and to trusted ones.
    fn followed(&self, name: &str, asked: &str) -> Option<String> {
        let (advertised, asked) = (Address::parse(name)?, Address::parse(asked)?);
        let is_weaker = asked.is_tls && !advertised.is_tls;
        let is_known = || {
            self.known.iter().any(|broker| broker.address == advertised.to_string())
                || self.trusted.iter().any(|trusted| trusted.covers(&advertised))
        };
        let follows = !is_weaker && (self.authorization.is_none() || is_known());
        follows.then(|| advertised.to_string())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn brokers(url: &str) -> Brokers {
        let (mut brokers, _) = Brokers::read(url, None).unwrap();
        brokers.known.sort_by(|one, other| one.address.cmp(&other.address));
        brokers
    }

    #[test]
    fn brokers_that_granted_nothing_are_asked_last_for_a_while() {
        let mut brokers = brokers("http://a:1,b:1,c:1");
        let (a, b, c) = ("http://a:1", "http://b:1", "http://c:1");
        brokers.avoid(a, SECOND);
        assert_eq!(brokers.order(SECOND * 2), [b, c, a]);
        brokers.avoid(b, SECOND * 6);
        assert_eq!(brokers.order(SECOND * 7), [c, a, b]);
        assert_eq!(brokers.order(SECOND * 30), [a, b, c], "it was long ago");
        brokers.note_grant(7, b.into(), b);
        assert_eq!(brokers.order(SECOND * 7), [b, c, a], "it has granted a node since");
    }

    #[test]
    fn the_order_is_reset_once_no_broker_grants() {
        let mut brokers = brokers("http://a:1,b:1");
        brokers.avoid("http://a:1", SECOND);
        brokers.avoid("http://b:1", SECOND);
        assert_eq!(brokers.order(SECOND), ["http://a:1", "http://b:1"]);
        brokers.avoid("http://b:1", SECOND);
        brokers.avoid("http://a:1", SECOND * 30);
        assert_eq!(
            brokers.order(SECOND * 30),
            ["http://b:1", "http://a:1"],
            "the first was long ago"
        );
    }

    #[test]
    fn another_node_is_never_requested_from_the_granter() {
        let mut brokers = brokers("http://a:1,b:1");
        brokers.note_grant(7, "http://a:1".into(), "http://a:1");
        assert_eq!(brokers.order_without_granter(7, SECOND), ["http://b:1"]);
        assert_eq!(brokers.order_without_granter(8, SECOND).len(), 2, "its granter is not known");
        // Behind the address of a load balancer there are others.
        brokers.note_grant(7, "http://pod-1:1".into(), "http://a:1");
        assert_eq!(brokers.order_without_granter(7, SECOND), ["http://a:1", "http://b:1"]);
    }

    #[test]
    fn tokens_follow_advertised_addresses_only_to_listed_hosts() {
        let cases = [
            // Without a token nothing secret is sent.
            ("http://a:1", "http://a:1", "http://elsewhere:9", true),
            ("https://a:1", "https://a:1", "http://elsewhere:9", false),
            ("https://:t@a:1", "https://a:1", "http://a:1", false),
            ("http://:t@a:1", "http://a:1", "https://a:1", false),
            ("http://:t@a:1,b:1", "http://a:1", "http://b:1", true),
            ("http://:t@a:1", "http://a:1", "http://a:1", true),
            ("http://:t@a:1", "http://a:1", "http://a:2", false),
            ("http://:t@a:1", "http://a:1", "http://b:1", false),
            ("http://:t@A:80", "http://a", "http://A:80", true),
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
    fn lists_of_brokers_without_hosts_are_refused() {
        for list in ["*", "*.", "a,,b", "a/b", "a:x", "a:0", "u@a", "a%20b", "http://a"] {
            let url = format!("http://a:1?brokers={list}");
            assert!(Brokers::read(&url, None).is_err(), "{list}");
        }
    }
}
