//! Leases over HTTP: as a store of generators, and with nothing but requests.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flakeid::broker::{Broker, BrokerOptions};
use flakeid::{Generator, LeaseBuilder};
use flakeid_conformance::lessors::{self, LessorUnderTest};
use flakeid_core::{Clock, ErrorKind, Id, Layout, SystemClock};
use flakeid_protocol::{Bounds, Lessor, MemoryStore, Namespace, State, operations};
use flakeid_server::{Listener, ServeOptions, Service, Tokens};
use flakeid_stores::Location;
use serde_json::{Value, json};

use crate::client::{Reply, TestServer};

/// A namespace of blocks of four nodes, with windows so short that all is over in seconds.
fn store() -> MemoryStore {
    let mut store = MemoryStore::new();
    let bounds =
        Bounds { max_window_ms: 2_000, max_ahead_ms: 4_000, max_skew_ms: 400, quiet_ms: 3_000 };
    let usual = Namespace::new("default", Layout::TWITTER);
    operations::init(&mut store, &Namespace { block_bits: 2, bounds, ..usual }).unwrap();
    store
}

/// A server that grants leases from a store.
struct Leasing {
    server: TestServer,
    broker: Broker,
    url: String,
}

impl Leasing {
    fn new(store: &MemoryStore) -> Self {
        Self::with(store, Tokens::default())
    }

    fn with(store: &MemoryStore, tokens: Tokens) -> Self {
        let listener = Listener::bound("127.0.0.1:0".parse().unwrap()).unwrap();
        let url = format!("http://{}", listener.tcp_address().unwrap().unwrap());
        let options = BrokerOptions {
            window_ms: 600,
            ttl_ms: 1_000,
            ..BrokerOptions::new("default", Layout::TWITTER, &url)
        };
        let store = store.clone();
        let open = move || Ok(Box::new(store.clone()) as _);
        let clock = Arc::new(SystemClock);
        let broker = Broker::start_on("memory", open, options, clock).unwrap();
        let generator = LeaseBuilder::from_broker(&broker).open().unwrap();
        let service = Service::new([("default".to_owned(), generator)].into())
            .brokers([broker.clone()])
            .tokens(tokens);
        let server = TestServer::on(&listener, service, ServeOptions::default());
        Self { server, broker, url }
    }

    fn generator(&self) -> Generator {
        generator(&self.url)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Reply {
        let body = body.to_string();
        let headers = format!("Content-Length: {}\r\n", body.len());
        let mut client = self.server.connect();
        client.ask_with(method, path, &headers, body.as_bytes())
    }
}

fn generator(url: &str) -> Generator {
    let builder = Generator::lease(url, Layout::TWITTER).unwrap();
    // An observer keeps it from sharing a lease with the others of this process.
    builder.max_wait(Duration::from_secs(5)).observer(|_| {}).open().unwrap()
}

impl LessorUnderTest for Leasing {
    fn connect(&self) -> Box<dyn Lessor> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        Location::parse(&self.url).unwrap().connect_lessor(&clock).unwrap()
    }

    fn namespace(&self) -> &Namespace {
        self.broker.namespace()
    }
}

#[test]
fn broker_behind_http_passes_the_conformance_suite() {
    lessors::run(&Leasing::new(&store()));
}

fn value(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap()
}

#[test]
fn generators_lease_from_a_broker_as_from_a_store() {
    let store = store();
    let leasing = Leasing::new(&store);
    let generators: Vec<_> = (0..10).map(|_| leasing.generator()).collect();
    let mut nodes: HashSet<u64> = generators.iter().map(Generator::node).collect();
    assert_eq!(nodes.len(), 10);
    let mut ids = HashSet::<Id>::new();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(3) {
        for generator in &generators {
            assert!(ids.insert(generator.next_id().unwrap()), "an ID was issued twice");
        }
    }
    assert!(generators.iter().all(|generator| generator.lease_status().unwrap().grants == 1));
    let own = leasing.server.ask("POST", "/v1/default/ids?count=1000", "").ids();
    assert!(own.iter().all(|id| ids.insert(Id::from_u64(*id))));
    nodes.insert(Layout::TWITTER.unpack(Id::from_u64(own[0])).unwrap().node);
    assert_eq!(nodes.len(), 11, "the server's own IDs have a node of their own");

    let listed = value(&leasing.server.ask("GET", "/v1/default/leases?from=1&limit=4", ""));
    let listed: Vec<_> = listed["leases"].as_array().unwrap().iter().collect();
    assert_eq!(
        listed.iter().map(|of| of["node"].as_u64().unwrap()).collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    assert_eq!(listed[0]["pid"], std::process::id());
    let ready = value(&leasing.server.ask("GET", "/readyz", ""));
    assert_eq!(
        (&ready["brokers"]["default"]["holders"], &ready["brokers"]["default"]["ready"]),
        (&json!(11), &json!(true))
    );
    let metrics = leasing.server.ask("GET", "/metrics", "");
    assert!(metrics.text().contains("flakeid_broker_holders{namespace=\"default\"} 11"));

    generators.iter().for_each(Generator::close);
    assert_eq!(leasing.broker.status().unwrap().holders, 1, "they were given back");
    drop(leasing);
    let rows = operations::list(&mut store.clone(), "default").unwrap().rows;
    assert!(rows.iter().all(|row| row.state == State::Free), "so were the blocks: {rows:?}");
}

/// What is shown in the guide, with every answer looked at.
#[test]
fn lease_can_be_held_with_plain_requests() {
    let leasing = Leasing::new(&store());
    let now = || SystemClock.unix_ms();
    let token = "00112233445566778899aabbccddeeff";
    let asked = json!({ "now": now(), "token": token, "name": "php", "host": "web-1", "pid": 7 });
    let granted = leasing.send("POST", "/v1/default/leases", &asked);
    assert_eq!(granted.status, 200, "{}", granted.text());
    let grant = value(&granted);
    assert_eq!((&grant["token"], &grant["broker"]), (&json!(token), &json!(leasing.url)));
    assert_eq!(grant["layout"], Layout::TWITTER.to_string());
    let again = value(&leasing.send("POST", "/v1/default/leases", &asked));
    assert_eq!(again, grant, "sent again, because the answer was lost");

    let path = format!("/v1/default/leases/{}", grant["node"]);
    let next = "0011223344556677ffffffffffffffff";
    let mut renew = json!({
        "start": grant["start"], "token": token, "next": next, "confirmed": grant["fence"],
        "wanted": grant["fence"].as_u64().unwrap() + 100, "now": now(), "broker": grant["broker"],
    });
    let renewed = leasing.send("PATCH", &path, &renew);
    assert_eq!(renewed.status, 200, "{}", renewed.text());
    assert_eq!(value(&renewed)["fence"], renew["wanted"]);

    // However large the numbers are that a client makes up.
    let most = u64::MAX;
    let mut current = next.to_owned();
    for (digit, field) in (1..).zip(["wanted", "confirmed", "waited_ms", "ttl_ms"]) {
        let mut made_up = renew.clone();
        made_up["token"] = json!(current);
        made_up["next"] = json!(format!("0011223344556677{digit:016}"));
        made_up[field] = json!(most);
        match leasing.send("PATCH", &path, &made_up).status {
            200 => current = made_up["next"].as_str().unwrap().to_owned(),
            status => assert_eq!((status, field), (409, "wanted")),
        }
    }
    for field in ["waited_ms", "after", "window_ms", "ttl_ms"] {
        let made_up = json!({ "now": now(), field: most });
        let reply = leasing.send("POST", "/v1/default/leases", &made_up);
        assert!([200, 503].contains(&reply.status), "{field}: {}", reply.text());
    }

    // The old token is worth nothing any more.
    renew["next"] = json!("00112233445566770000000000000000");
    let stale = leasing.send("PATCH", &path, &renew);
    assert_eq!((stale.status, &value(&stale)["error"]["refusal"]), (409, &json!("fenced-off")));
    let released =
        leasing.send("DELETE", &path, &json!({ "token": current, "used_until": grant["start"] }));
    assert_eq!((released.status, released.body.len()), (204, 0));
    let mine =
        value(&leasing.send("POST", "/v1/default/leases", &json!({ "now": now(), "name": "php" })));
    assert_eq!(mine["node"], grant["node"], "the node of this name");
    assert_ne!(mine["token"], json!(token), "drawn by the broker");
}

#[test]
fn invalid_lease_requests_return_specific_errors() {
    let leasing = Leasing::new(&store());
    let now = SystemClock.unix_ms();
    let renew =
        json!({ "start": 1, "token": "x", "next": "y", "confirmed": 1, "wanted": 2, "now": now });
    for (method, path, body, status, said) in [
        ("POST", "leases", json!({}), 400, "missing field `now`"),
        ("POST", "leases", json!({ "now": now, "nod": 7 }), 400, "unknown field `nod`"),
        ("POST", "leases", json!({ "now": now, "node": 7 }), 400, "a broker chooses the node"),
        ("POST", "leases", json!({ "now": now, "nodes_to": 7 }), 400, "nodes_to"),
        ("POST", "leases", json!({ "now": now, "reuse": false }), 400, "reuse"),
        ("POST", "leases", json!({ "now": now, "token": "7" }), 400, "32 hexadecimal digits"),
        ("POST", "leases", json!({ "now": now, "name": "a\nb" }), 400, "control characters"),
        ("POST", "leases", json!({ "now": now, "layout": "discord" }), 409, "is for the layout"),
        ("POST", "leases", json!({ "now": now - 60_000 }), 409, "FLAKEID_CLOCK_SKEW"),
        ("POST", "leases", json!({ "now": now, "host": "x".repeat(9_000) }), 413, "8192 bytes"),
        ("PATCH", "leases/0", renew, 400, "32 hexadecimal digits"),
        ("PATCH", "leases/1024", json!({}), 400, "1023"),
        ("PATCH", "leases/x", json!({}), 400, "not a whole number"),
        ("PUT", "leases", json!({}), 405, "Allow"),
        ("POST", "leases/1", json!({}), 405, "Allow"),
    ] {
        let reply = leasing.send(method, &format!("/v1/default/{path}"), &body);
        assert_eq!(reply.status, status, "{method} {path} {body}: {}", reply.text());
        assert!(reply.text().contains(said), "{method} {path} {body}: {}", reply.text());
    }
    for url in ["http://127.0.0.1:1/x", "http+unix://relative", "http://127.0.0.1:1?x=y"] {
        let error = Generator::lease(url, Layout::TWITTER)
            .and_then(|builder| builder.max_wait(Duration::ZERO).open())
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StoreRejected, "{url}: {error}");
    }
}

#[test]
fn broker_redirects_renewals_to_the_broker_that_granted_the_node() {
    let store = store();
    let (one, other) = (Leasing::new(&store), Leasing::new(&store));
    let now = SystemClock.unix_ms();
    let grant = value(&one.send("POST", "/v1/default/leases", &json!({ "now": now })));
    let token = grant["token"].as_str().unwrap();
    let path = format!("/v1/default/leases/{}", grant["node"]);
    let mut renew = json!({
        "start": grant["start"], "token": token, "next": format!("{}{}", &token[..16], "0".repeat(16)),
        "confirmed": grant["fence"], "wanted": grant["fence"], "now": now, "broker": one.url,
    });
    let sent = other.send("PATCH", &path, &renew);
    assert_eq!(sent.status, 421, "{}", sent.text());
    assert_eq!(value(&sent)["error"]["broker"], json!(one.url));
    assert_eq!(one.send("PATCH", &path, &renew).status, 200, "its granter renews it");
    // As after a restart of the broker that granted it.
    renew["broker"] = json!(other.url);
    let lost = other.send("PATCH", &path, &renew);
    assert_eq!((lost.status, &value(&lost)["error"]["refusal"]), (409, &json!("fenced-off")));
}

/// Holders of a broker that ends go on to the end of their windows, and have another node by then. Whatever else the
/// machine does may hold them up, but not three times in a row.
#[test]
fn holders_lease_other_nodes_in_time_when_their_broker_ends() {
    let waits: Vec<Duration> = std::iter::repeat_with(longest_wait_at_the_end_of_a_broker)
        .take(3)
        .take_while(|longest| *longest >= Duration::from_secs(1))
        .collect();
    assert!(waits.len() < 3, "{waits:?} without an ID");
}

fn longest_wait_at_the_end_of_a_broker() -> Duration {
    let store = store();
    let (one, other) = (Leasing::new(&store), Leasing::new(&store));
    let hosts: Vec<&str> =
        [&one.url, &other.url].iter().map(|url| url.strip_prefix("http://").unwrap()).collect();
    let url = format!("http://{}", hosts.join(","));
    let generators: Vec<_> = (0..12).map(|_| generator(&url)).collect();
    let mut ids = HashSet::<Id>::new();
    let mut one = Some(one);
    let begun = Instant::now();
    let mut longest = Duration::ZERO;
    while begun.elapsed() < Duration::from_secs(6) {
        if begun.elapsed() > Duration::from_secs(1) {
            drop(one.take());
        }
        for generator in &generators {
            let asked = Instant::now();
            assert!(ids.insert(generator.next_id().unwrap()), "an ID was issued twice");
            longest = longest.max(asked.elapsed());
        }
    }
    let moved =
        generators.iter().filter(|generator| generator.lease_status().unwrap().grants > 1).count();
    assert!((1..12).contains(&moved), "{moved} of 12 took another node");
    longest
}

#[test]
fn generators_send_the_token_of_the_url() {
    let secret = "correct-horse-battery-staple";
    let leasing = Leasing::with(&store(), Tokens::parse(secret).unwrap());
    let error = Generator::lease(&leasing.url, Layout::TWITTER)
        .and_then(|builder| builder.max_wait(Duration::ZERO).open())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreRejected, "{error}");
    assert!(error.to_string().contains("Authorization: Bearer"), "{error}");
    let with_token = leasing.url.replace("http://", &format!("http://:{secret}@"));
    let leased = generator(&with_token);
    leased.next_id().unwrap();
    assert!(!format!("{leased:?}").contains(secret));
}
