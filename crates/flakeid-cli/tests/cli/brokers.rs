//! Tests of brokers that are killed while in use, run behind a proxy, or crash repeatedly.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flakeid::Generator;
use flakeid_core::{ErrorKind, Id, Layout};
use flakeid_test_servers::{Proxy, free_port};

use crate::run::scratch;
use crate::serve::{serve, serve_at};

const CLIENTS: usize = 60;

/// Runs one client, which generates 100 IDs per second until `stop` is set. Returns the IDs and the
/// longest time between two consecutive IDs.
fn issue(url: &str, stop: &AtomicBool) -> (Vec<Id>, Duration) {
    let builder = Generator::lease(url, Layout::TWITTER).unwrap();
    // A generator with an observer does not share its lease with other generators in the process.
    let generator = builder.observer(|_| {}).max_wait(Duration::from_secs(10)).open().unwrap();
    let (mut ids, mut longest, mut last) = (Vec::new(), Duration::ZERO, Instant::now());
    while !stop.load(Ordering::Relaxed) {
        ids.push(generator.next_id().unwrap());
        longest = longest.max(last.elapsed());
        last = Instant::now();
        std::thread::sleep(Duration::from_millis(10));
    }
    (ids, longest)
}

/// The combined results of all clients that used one URL during a test.
struct Fleet {
    ids: usize,
    /// The number of clients that generated IDs on more than one node.
    moved: usize,
    longest: Duration,
}

impl Fleet {
    /// Runs the clients until `happen` returns. Panics if an ID is issued twice, or if a client
    /// fails, for example because no node is free.
    fn run(clients: usize, url: &str, happen: impl FnOnce()) -> Self {
        let stop = AtomicBool::new(false);
        let clients = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..clients).map(|_| scope.spawn(|| issue(url, &stop))).collect();
            happen();
            stop.store(true, Ordering::Relaxed);
            clients.into_iter().map(|client| client.join().unwrap()).collect::<Vec<_>>()
        });
        let mut seen = HashSet::new();
        let mut moved = 0;
        for (ids, _) in &clients {
            assert!(ids.iter().all(|id| seen.insert(*id)), "an ID was issued twice");
            let nodes: HashSet<u64> =
                ids.iter().map(|id| Layout::TWITTER.unpack(*id).unwrap().node).collect();
            moved += usize::from(nodes.len() > 1);
        }
        let longest = clients.iter().map(|(_, longest)| *longest).max().unwrap();
        println!("{} IDs, {moved} clients moved, longest gap {longest:?}", seen.len());
        Self { ids: seen.len(), moved, longest }
    }
}

/// After a broker is killed, the broker's clients lease other nodes before the clients' windows
/// end, and no ID is issued twice.
#[test]
fn clients_switch_nodes_before_lease_expiry_when_their_broker_dies() {
    let (_, store) = scratch("brokers");
    let (mut killed, one) = serve(&["--store", &store]);
    let (other_server, other) = serve(&["--store", &store]);
    let url = format!("{one},{}", other.strip_prefix("http://").unwrap());
    let fleet = Fleet::run(CLIENTS, &url, || {
        std::thread::sleep(Duration::from_secs(4));
        killed.kill();
        std::thread::sleep(Duration::from_secs(7));
    });
    drop(other_server);
    let moved = fleet.moved;
    assert!((CLIENTS / 4..CLIENTS).contains(&moved), "{moved} of {CLIENTS} took another node");
    // The clients' windows last 4 s, so a client that waited for the end of its window would exceed
    // the limit of 3 s.
    assert!(fleet.longest < Duration::from_secs(3), "{:?} without an ID", fleet.longest);
}

fn port_of(url: &str) -> u16 {
    url.rsplit_once(':').unwrap().1.parse().unwrap()
}

/// The proxy distributes connections to the two brokers in turn, but renewals go to the broker that
/// granted the node. Therefore, no client loses its node.
#[test]
fn clients_keep_their_nodes_behind_a_round_robin_proxy() {
    let (_, store) = scratch("brokers-proxied");
    let (_first, one) = serve(&["--store", &store]);
    let (_second, other) = serve(&["--store", &store]);
    let proxy = Proxy::to_each(vec![port_of(&one), port_of(&other)]);
    let url = format!("http://127.0.0.1:{}", proxy.port());
    // Windows last 4 s, so each client renews its lease several times.
    let fleet = Fleet::run(30, &url, || std::thread::sleep(Duration::from_secs(7)));
    assert!(fleet.ids > 30 * 100, "{} IDs", fleet.ids);
    assert_eq!(fleet.moved, 0, "the number of clients that leased another node");
    assert!(fleet.longest < Duration::from_secs(3), "{:?} without an ID", fleet.longest);
}

/// When a killed broker restarts, its old blocks are not free yet, so the broker must lease other
/// blocks. The other blocks contain enough nodes for all of the broker's clients.
#[test]
fn clients_switch_nodes_while_their_broker_crashes_repeatedly() {
    const CRASHES: usize = 3;
    let (_, store) = scratch("brokers-crashing");
    let address = format!("127.0.0.1:{}", free_port());
    let (mut broker, url) = serve_at(&address, &["--store", &store]);
    let fleet = Fleet::run(30, &url, || {
        std::thread::sleep(Duration::from_secs(2));
        for _ in 0..CRASHES {
            broker.kill();
            broker = serve_at(&address, &["--store", &store]).0;
            std::thread::sleep(Duration::from_secs(3));
        }
    });
    assert!(fleet.ids > 30 * 100, "{} IDs", fleet.ids);
    assert_eq!(fleet.moved, 30, "the number of clients that leased another node");
    assert!(fleet.longest < Duration::from_secs(4), "{:?} without an ID", fleet.longest);
}

/// Simulates a Kubernetes Service whose brokers advertise the addresses of their pods.
#[test]
fn client_sends_token_only_to_hosts_in_its_url() {
    const TOKEN: &str = "correct-horse-battery-staple";
    let (folder, store) = scratch("brokers-token");
    let tokens = folder.join("tokens");
    std::fs::write(&tokens, format!("{TOKEN}\n")).unwrap();
    let (_server, direct) = serve(&["--store", &store, "--token-file", tokens.to_str().unwrap()]);
    let port = port_of(&direct);
    let proxy = Proxy::to(port);
    let url = format!("http://:{TOKEN}@127.0.0.1:{}", proxy.port());
    let client = |url: &str| {
        let builder = Generator::lease(url, Layout::TWITTER).unwrap();
        builder.observer(|_| {}).open().unwrap()
    };
    let stays = client(&url);
    let follows = client(&format!("{url}?brokers=127.0.0.1:{port}"));
    // From now on, the broker can be reached only at the address that it advertises.
    proxy.cut();
    proxy.reset();
    std::thread::sleep(Duration::from_secs(6));
    follows.next_id().unwrap();
    assert_eq!(follows.lease_status().unwrap().grants, 1, "the client renewed its node");
    let error = stays.next_id().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LeaseExpired, "{error}");
}
