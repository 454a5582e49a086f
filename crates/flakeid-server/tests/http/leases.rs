//! Tests of leases over HTTP, with generators that use a broker as their store and with plain
//! requests.

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

/// Builds a store with a namespace that has blocks of four nodes. The windows are so short that all
/// leases end within seconds.
fn store() -> MemoryStore {
    let mut store = MemoryStore::new();
    let bounds =
        Bounds { max_window_ms: 2_000, max_ahead_ms: 4_000, max_skew_ms: 400, quiet_ms: 3_000 };
    let defaults = Namespace::new("default", Layout::TWITTER);
    operations::init(&mut store, &Namespace { block_bits: 2, bounds, ..defaults }).unwrap();
    store
}

/// A server with a broker that grants leases.
struct Leasing {
    server: TestServer,
    broker: Broker,
    url: String,
}

impl Leasing {
    fn new(store: &MemoryStore) -> Self {
        Self::with(store, |service| service)
    }

    fn with(store: &MemoryStore, customize: impl FnOnce(Service) -> Service) -> Self {
        let listener = Listener::bound("127.0.0.1:0".parse().unwrap()).unwrap();
        let url = format!("http://{}", listener.tcp_address().unwrap().unwrap());
        let mut options = BrokerOptions::new("default", Layout::TWITTER, &url);
        options.window_ms = 600;
        options.ttl_ms = 1_000;
        let store = store.clone();
        let open = move || Ok(Box::new(store.clone()) as _);
        let clock = Arc::new(SystemClock);
        let broker = Broker::start_on("memory", open, options, clock).unwrap();
        let generator = LeaseBuilder::from_broker(&broker).open().unwrap();
        let service =
            Service::new([("default".to_owned(), generator)].into()).brokers([broker.clone()]);
        let server = TestServer::on(&listener, customize(service), ServeOptions::default());
        Self { server, broker, url }
    }

    fn generator(&self) -> Generator {
        generator(&self.url)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Reply {
        let body = body.to_string();
        let headers =
            format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        let mut client = self.server.connect();
        client.ask_with(method, path, &headers, body.as_bytes())
    }
}

fn generator(url: &str) -> Generator {
    let builder = flakeid::lease(url, Layout::TWITTER).unwrap();
    // A generator with an observer does not share a lease with other generators in this process.
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
fn broker_accessed_over_http_passes_the_conformance_suite() {
    lessors::run(&Leasing::new(&store()));
}

#[test]
fn client_holds_at_most_as_many_leases_as_its_quota() {
    let leasing = Leasing::with(&store(), |service| service.max_leases_per_client(3));
    let mut requests = 0;
    let mut acquire = || {
        requests += 1;
        let token = format!("{requests:08x}445566778899aabbccddeeff");
        let body = json!({ "now": SystemClock.unix_ms(), "token": token });
        leasing.send("POST", "/v1/default/leases", &body)
    };
    let mut granted: Vec<_> = (0..3).map(|_| acquire()).collect();
    assert!(granted.iter().all(|reply| reply.status == 200), "{:?}", granted[2]);
    let refused = acquire();
    assert_eq!(refused.status, 429);
    assert!(refused.text().contains("holds 3 leases"), "{}", refused.text());
    // A released node makes room, and so does one whose lease has ended.
    let grant = value(&granted.pop().unwrap());
    let release = json!({ "token": grant["token"], "used_until": grant["start"] });
    let path = format!("/v1/default/leases/{}", grant["node"]);
    assert_eq!(leasing.send("DELETE", &path, &release).status, 204);
    assert_eq!(acquire().status, 200);
    assert_eq!(acquire().status, 429);
    let ends = Instant::now() + Duration::from_secs(20);
    while acquire().status == 429 {
        assert!(Instant::now() < ends, "leases that ended still count");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn value(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap()
}

#[test]
fn generators_with_leases_from_a_broker_issue_unique_ids() {
    let store = store();
    let leasing = Leasing::new(&store);
    let generators: Vec<_> = (0..10).map(|_| leasing.generator()).collect();
    let mut nodes: HashSet<u64> = generators.iter().filter_map(Generator::node).collect();
    assert_eq!(nodes.len(), 10);
    let mut ids = HashSet::<Id>::new();
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(3) {
        for generator in &generators {
            assert!(ids.insert(generator.next_id().unwrap()), "an ID was issued twice");
        }
    }
    assert!(
        generators
            .iter()
            .all(|generator| flakeid::Lease::of(generator).unwrap().status().grants == 1)
    );
    let own = leasing.server.ask("POST", "/v1/default/ids?count=1000", "").ids();
    assert!(own.iter().all(|id| ids.insert(Id::from_u64(*id))));
    nodes.insert(Layout::TWITTER.unpack(Id::from_u64(own[0])).unwrap().node);
    assert_eq!(nodes.len(), 11, "the server's own IDs must have another node");

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
    assert!(metrics.text().contains("flakeid_broker_holders{id_namespace=\"default\"} 11"));

    generators.iter().for_each(Generator::close);
    assert_eq!(leasing.broker.status().unwrap().holders, 1, "the nodes were not released");
    drop(leasing);
    let rows = operations::list(&mut store.clone(), "default").unwrap().rows;
    assert!(
        rows.iter().all(|row| row.state == State::Free),
        "the blocks were not released: {rows:?}"
    );
}

/// This test sends the requests from the user guide, and checks every response.
#[test]
fn lease_can_be_held_with_plain_http_requests() {
    let leasing = Leasing::new(&store());
    let now = || SystemClock.unix_ms();
    let token = "00112233445566778899aabbccddeeff";
    let acquire = json!({ "now": now(), "token": token, "name": "php", "host": "web-1", "pid": 7 });
    let granted = leasing.send("POST", "/v1/default/leases", &acquire);
    assert_eq!(granted.status, 200, "{}", granted.text());
    let grant = value(&granted);
    assert_eq!((&grant["token"], &grant["broker"]), (&json!(token), &json!(leasing.url)));
    assert_eq!(grant["layout"], Layout::TWITTER.to_string());
    let again = value(&leasing.send("POST", "/v1/default/leases", &acquire));
    assert_eq!(again, grant, "the same request must get the same grant");

    let path = format!("/v1/default/leases/{}", grant["node"]);
    let next = "0011223344556677ffffffffffffffff";
    let mut renew = json!({
        "start": grant["start"], "token": token, "next": next, "confirmed": grant["fence"],
        "wanted": grant["fence"].as_u64().unwrap() + 100, "now": now(), "broker": grant["broker"],
    });
    let renewed = leasing.send("PATCH", &path, &renew);
    assert_eq!(renewed.status, 200, "{}", renewed.text());
    assert_eq!(value(&renewed)["fence"], renew["wanted"]);

    // The server must handle the largest possible numbers, because a client may send any number.
    let most = u64::MAX;
    let mut current = next.to_owned();
    for (digit, field) in (1..).zip(["wanted", "confirmed", "waited_ms", "ttl_ms"]) {
        let mut extreme = renew.clone();
        extreme["token"] = json!(current);
        extreme["next"] = json!(format!("0011223344556677{digit:016}"));
        extreme[field] = json!(most);
        match leasing.send("PATCH", &path, &extreme).status {
            200 => current = extreme["next"].as_str().unwrap().to_owned(),
            status => assert_eq!((status, field), (409, "wanted")),
        }
    }
    for field in ["waited_ms", "after", "window_ms", "ttl_ms"] {
        let extreme = json!({ "now": now(), field: most });
        let reply = leasing.send("POST", "/v1/default/leases", &extreme);
        assert!([200, 503].contains(&reply.status), "{field}: {}", reply.text());
    }

    // An earlier renewal has replaced the old token, so the old token is no longer valid.
    renew["next"] = json!("00112233445566770000000000000000");
    let stale = leasing.send("PATCH", &path, &renew);
    assert_eq!((stale.status, &value(&stale)["error"]["refusal"]), (409, &json!("fenced-off")));
    let released =
        leasing.send("DELETE", &path, &json!({ "token": current, "used_until": grant["start"] }));
    assert_eq!((released.status, released.body.len()), (204, 0));
    let named =
        value(&leasing.send("POST", "/v1/default/leases", &json!({ "now": now(), "name": "php" })));
    assert_eq!(named["node"], grant["node"], "the name must get its node again");
    assert_ne!(named["token"], json!(token), "the broker must draw a new token");
}

#[test]
fn invalid_lease_requests_return_specific_errors() {
    let leasing = Leasing::new(&store());
    let now = SystemClock.unix_ms();
    let renew =
        json!({ "start": 1, "token": "x", "next": "y", "confirmed": 1, "wanted": 2, "now": now });
    for (method, path, body, status, part) in [
        ("POST", "leases", json!({}), 400, "missing field `now`"),
        ("POST", "leases", json!({ "now": now, "nod": 7 }), 400, "unknown field `nod`"),
        ("POST", "leases", json!({ "now": now, "node": 7 }), 400, "a broker chooses the node"),
        ("POST", "leases", json!({ "now": now, "nodes_to": 7 }), 400, "nodes_to"),
        ("POST", "leases", json!({ "now": now, "reuse": false }), 400, "reuse"),
        ("POST", "leases", json!({ "now": now, "token": "7" }), 400, "32 hexadecimal digits"),
        ("POST", "leases", json!({ "now": now, "name": "a\nb" }), 400, "control characters"),
        // This character reverses the order of the following ones.
        ("POST", "leases", json!({ "now": now, "host": "\u{202e}a" }), 400, "invisible characters"),
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
        assert!(reply.text().contains(part), "{method} {path} {body}: {}", reply.text());
    }
    for url in ["http://127.0.0.1:1/x", "http+unix://relative", "http://127.0.0.1:1?x=y"] {
        let error = flakeid::lease(url, Layout::TWITTER)
            .and_then(|builder| builder.max_wait(Duration::ZERO).open())
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StoreRejected, "{url}: {error}");
    }
}

#[test]
fn broker_redirects_renewals_to_the_granting_broker() {
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
    let misdirected = other.send("PATCH", &path, &renew);
    assert_eq!(misdirected.status, 421, "{}", misdirected.text());
    assert_eq!(value(&misdirected)["error"]["broker"], json!(one.url));
    assert_eq!(
        one.send("PATCH", &path, &renew).status,
        200,
        "the granting broker must renew the node"
    );
    // The request is sent to `other`, and states that `other` granted the node. This simulates a
    // broker that restarted after it granted the node, because `other` does not hold the node.
    renew["broker"] = json!(other.url);
    let lost = other.send("PATCH", &path, &renew);
    assert_eq!((lost.status, &value(&lost)["error"]["refusal"]), (409, &json!("fenced-off")));
}

/// When a broker stops, its holders continue to issue IDs until their windows end. Each holder must lease another node
/// before its window ends, so that no call waits for a node.
#[test]
fn holders_switch_nodes_before_their_windows_end_when_their_broker_stops() {
    let store = store();
    let (one, other) = (Leasing::new(&store), Leasing::new(&store));
    let hosts: Vec<&str> =
        [&one.url, &other.url].iter().map(|url| url.strip_prefix("http://").unwrap()).collect();
    let url = format!("http://{}", hosts.join(","));
    let generators: Vec<_> = (0..12).map(|_| generator(&url)).collect();
    let mut ids = HashSet::<Id>::new();
    // The end of each holder's window, as long as the holder has its first node.
    let mut ends = [0; 12];
    let mut moved = [false; 12];
    let mut one = Some(one);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(6) {
        if started.elapsed() > Duration::from_secs(1) {
            drop(one.take());
        }
        for (holder, generator) in generators.iter().enumerate() {
            let id = generator.next_id().unwrap();
            assert!(ids.insert(id), "an ID was issued twice");
            let status = flakeid::Lease::of(generator).unwrap().status();
            if status.grants == 1 {
                ends[holder] = status.fence;
            } else if !moved[holder] {
                moved[holder] = true;
                let tick = Layout::TWITTER.unpack(id).unwrap().tick;
                assert!(tick < ends[holder], "holder {holder} waited for another node");
            }
        }
    }
    let moved = moved.iter().filter(|moved| **moved).count();
    assert!((1..12).contains(&moved), "{moved} of 12 clients leased another node");
}

#[test]
fn generators_send_the_token_from_the_broker_url() {
    let secret = "correct-horse-battery-staple";
    let leasing = Leasing::with(&store(), |service| service.tokens(Tokens::parse(secret).unwrap()));
    let error = flakeid::lease(&leasing.url, Layout::TWITTER)
        .and_then(|builder| builder.max_wait(Duration::ZERO).open())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreRejected, "{error}");
    assert!(error.to_string().contains("Authorization: Bearer"), "{error}");
    let with_token = leasing.url.replace("http://", &format!("http://:{secret}@"));
    let leased = generator(&with_token);
    leased.next_id().unwrap();
    assert!(!format!("{leased:?}").contains(secret));
}
