//! Tests of requests that ask which holder issued an ID. The server may read the holder from the
//! history in its store, but a slow store must not delay other requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use flakeid::LeaseBuilder;
use flakeid::broker::{Broker, BrokerOptions};
use flakeid_core::{Layout, SystemClock};
use flakeid_json::HolderJson;
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{Bounds, MemoryStore, Namespace, operations};
use flakeid_server::{Listener, ServeOptions, Service, Tokens};
use flakeid_stores::Location;
use flakeid_stores::http::LeasesJson;

use crate::client::{TestServer, service};

const TOKEN: &str = "correct-horse-battery-staple";

/// A store that can stop responding, or become unavailable.
#[derive(Clone)]
struct SlowStore {
    store: MemoryStore,
    /// Whether connections wait until this value is false.
    is_silent: Arc<AtomicBool>,
    /// The number of connections that wait.
    waiting: Arc<AtomicUsize>,
    /// Whether connections fail.
    is_away: Arc<AtomicBool>,
}

impl SlowStore {
    fn new() -> Self {
        let mut store = MemoryStore::new();
        let bounds =
            Bounds { max_window_ms: 2_000, max_ahead_ms: 4_000, max_skew_ms: 400, quiet_ms: 3_000 };
        let defaults = Namespace::new("default", Layout::TWITTER);
        operations::init(&mut store, &Namespace { block_bits: 2, bounds, ..defaults }).unwrap();
        let (is_silent, waiting, is_away) = Default::default();
        Self { store, is_silent, waiting, is_away }
    }

    fn connect(&self) -> Result<Box<dyn Store>, Fault> {
        if self.is_away.load(Ordering::SeqCst) {
            return Err(Fault::Unavailable("the server is unavailable".into()));
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        while self.is_silent.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        Ok(Box::new(self.store.clone()))
    }
}

/// Starts a server that serves IDs and leases. Returns the server and its URL, which contains the
/// token.
fn serve(store: &SlowStore) -> (TestServer, String) {
    let listener = Listener::bound("127.0.0.1:0".parse().unwrap()).unwrap();
    let host = listener.tcp_address().unwrap().unwrap();
    let mut options = BrokerOptions::new("default", Layout::TWITTER, &format!("http://{host}"));
    options.window_ms = 600;
    options.ttl_ms = 1_500;
    let opened = store.clone();
    let clock = Arc::new(SystemClock);
    let broker = Broker::start_on("memory", move || opened.connect(), options, clock).unwrap();
    let generator = LeaseBuilder::from_broker(&broker).open().unwrap();
    let service = Service::new([("default".to_owned(), generator)].into())
        .brokers([broker])
        .tokens(Tokens::parse(TOKEN).unwrap());
    let server = TestServer::on(&listener, service, ServeOptions::default());
    (server, format!("http://:{TOKEN}@{host}"))
}

fn bearer() -> String {
    format!("Authorization: Bearer {TOKEN}\r\n")
}

#[test]
fn holder_lookup_succeeds_before_and_after_history_is_recorded() {
    let store = SlowStore::new();
    let (server, url) = serve(&store);
    let own = server.ask("POST", "/v1/default/ids", &bearer()).ids()[0];
    let path = format!("/v1/default/ids/{own}/holder");
    let read = || {
        let reply = server.ask("GET", &path, &bearer());
        assert_eq!((reply.status, reply.header("cache-control")), (200, Some("no-store")));
        serde_json::from_slice::<HolderJson>(&reply.body).unwrap()
    };
    let found = read();
    let holder = found.holder.expect("a recent holder in the broker");
    assert_eq!((holder.pid, holder.current), (std::process::id(), Some(true)));
    let broker = found.broker.expect("a broker");
    assert!(broker.owner.is_some_and(|owner| owner.starts_with("http://127.0.0.1:")));
    assert_eq!(found.reason, None);

    // After the broker has renewed its block, the store can report the holder without the broker.
    let parts = Layout::TWITTER.unpack(flakeid_core::Id::from_u64(own)).unwrap();
    let started = Instant::now();
    loop {
        let found = operations::whois(&mut store.store.clone(), "default", parts.node, parts.tick);
        let client = found.unwrap().expect("a broker").client;
        if matches!(client, Some(flakeid_protocol::Client::Known { .. })) {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(10), "{client:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(read().holder.is_some());

    let reader = Location::parse(&url).unwrap().broker_reader().unwrap();
    let found: HolderJson = reader.holder("default", flakeid_core::Id::from_u64(own)).unwrap();
    assert_eq!(found.node, parts.node);
    let leases = reader.leases("default").unwrap();
    assert_eq!((leases.nodes, leases.listing.rows.len()), (4, 1));
    assert_eq!(leases.listing.rows[0].grant, 1);
    let page = server.ask("GET", "/v1/default/leases?limit=1", &bearer());
    let page: LeasesJson<'_> = serde_json::from_slice(&page.body).unwrap();
    assert_eq!((page.block_bits, page.blocks), (2, 1));
}

#[test]
fn slow_history_queries_do_not_delay_other_requests() {
    let store = SlowStore::new();
    let (server, _) = serve(&store);
    let id = server.ask("POST", "/v1/default/ids", &bearer()).ids()[0];
    let path = format!("/v1/default/ids/{id}/holder");
    let wait_until = |condition: &dyn Fn() -> bool| {
        let started = Instant::now();
        while !condition() {
            assert!(started.elapsed() < Duration::from_secs(60), "the readers do not wait");
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    store.is_silent.store(true, Ordering::SeqCst);
    let headers = bearer();
    std::thread::scope(|scope| {
        // The number of readers exceeds both the number of runtime threads and the limit of two
        // concurrent readers.
        let readers: Vec<_> =
            (0..8).map(|_| scope.spawn(|| server.ask("GET", &path, &headers).status)).collect();
        wait_until(&|| store.waiting.load(Ordering::SeqCst) == 2);
        for _ in 0..50 {
            assert_eq!(server.ask("POST", "/v1/default/ids", &headers).status, 200);
        }
        wait_until(&|| readers.iter().filter(|reader| reader.is_finished()).count() == 6);
        assert_eq!(store.waiting.load(Ordering::SeqCst), 2, "the others must still be waiting");
        store.is_silent.store(false, Ordering::SeqCst);
        let statuses: Vec<_> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
        let count = |status| statuses.iter().filter(|one| **one == status).count();
        assert_eq!((count(200), count(503)), (2, 6), "{statuses:?}");
    });
    store.is_away.store(true, Ordering::SeqCst);
    let away = server.ask("GET", &path, &bearer());
    assert_eq!(away.status, 503, "{}", away.text());
    assert!(away.text().contains("FLAKEID_STORE_UNAVAILABLE"), "{}", away.text());
}

#[test]
fn invalid_holder_requests_return_specific_errors() {
    let (server, _) = serve(&SlowStore::new());
    for (path, headers, status, part) in [
        ("/v1/default/ids/17/holder", String::new(), 401, "HTTP_UNAUTHORIZED"),
        ("/v1/default/ids/x/holder", bearer(), 400, "FLAKEID_INVALID_ID"),
        ("/v1/default/ids/18446744073709551615/holder", bearer(), 400, "FLAKEID_INVALID_ID"),
        ("/v1/default/ids/17/holder?x=1", bearer(), 400, "unknown parameter"),
        ("/v1/other/ids/17/holder", bearer(), 404, "no namespace"),
        ("/v1/default/ids/17/holders", bearer(), 404, "unknown path"),
    ] {
        let reply = server.ask("GET", path, &headers);
        assert_eq!(reply.status, status, "{path}: {}", reply.text());
        assert!(reply.text().contains(part), "{path}: {}", reply.text());
    }
    let posted = server.ask("POST", "/v1/default/ids/17/holder", &bearer());
    assert_eq!((posted.status, posted.header("allow")), (405, Some("GET, HEAD")));
    let long_ago = server.ask("GET", "/v1/default/ids/17/holder", &bearer());
    assert!(long_ago.text().contains("\"holder\":null"), "{}", long_ago.text());
    assert!(long_ago.text().contains("the history of node 0 has no window"), "{}", long_ago.text());

    let of_nodes = TestServer::new(service(), ServeOptions::default());
    let reply = of_nodes.ask("GET", "/v1/default/ids/17/holder", "");
    assert_eq!(reply.status, 404, "{}", reply.text());
    assert!(reply.text().contains("grants no leases"), "{}", reply.text());
}
