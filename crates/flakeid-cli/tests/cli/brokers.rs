//! Brokers as processes: killed under their clients, behind a proxy, and crashing again and again.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flakeid::LeasedGenerator;
use flakeid_core::{ErrorKind, Id, Layout};
use flakeid_test_servers::{Proxy, free_port};

use crate::run::scratch;
use crate::serve::{serve, serve_at};

const CLIENTS: usize = 60;

/// One client: 100 IDs a second until it is told to stop. Returns them, and the longest time between
/// two of them.
fn issue(url: &str, stop: &AtomicBool) -> (Vec<Id>, Duration) {
    let builder = LeasedGenerator::builder(url, Layout::TWITTER).unwrap();
    // With an observer a lease is shared with nobody.
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

/// Clients of a URL while something happens to their brokers.
struct Fleet {
    ids: usize,
    /// How many took another node.
    moved: usize,
    longest: Duration,
}

impl Fleet {
    /// Runs the clients until `happen` returns. No ID may be issued twice, and no client may fail, as it
    /// would if no node were free for it.
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

/// Its clients have another node before their windows end, and what was issued is issued once.
#[test]
fn clients_of_a_killed_broker_lease_other_nodes_in_time() {
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
    // The windows of clients are 4 s; who had to wait for the end of one would be over this.
    assert!(fleet.longest < Duration::from_secs(3), "{:?} without an ID", fleet.longest);
}

fn port_of(url: &str) -> u16 {
    url.rsplit_once(':').unwrap().1.parse().unwrap()
}

/// Each connection through the proxy reaches the other broker than the one before it, but renewals go to
/// the broker that granted the node. So nobody loses a node.
#[test]
fn clients_keep_their_nodes_behind_a_round_robin_proxy() {
    let (_, store) = scratch("brokers-proxied");
    let (_first, one) = serve(&["--store", &store]);
    let (_second, other) = serve(&["--store", &store]);
    let proxy = Proxy::to_each(vec![port_of(&one), port_of(&other)]);
    let url = format!("http://127.0.0.1:{}", proxy.port());
    // Windows are 4 s, so each client renews several times.
    let fleet = Fleet::run(30, &url, || std::thread::sleep(Duration::from_secs(7)));
    assert!(fleet.ids > 30 * 100, "{} IDs", fleet.ids);
    assert_eq!(fleet.moved, 0, "clients that took another node");
    assert!(fleet.longest < Duration::from_secs(3), "{:?} without an ID", fleet.longest);
}

/// A broker that is killed and started again leases other blocks until its old ones are free. Clients go on
/// with other nodes, and there are enough of them.
#[test]
fn clients_continue_with_other_nodes_while_their_broker_crashes_repeatedly() {
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
    assert_eq!(fleet.moved, 30, "clients that took another node");
    assert!(fleet.longest < Duration::from_secs(4), "{:?} without an ID", fleet.longest);
}

/// As behind a Service of Kubernetes, whose brokers advertise their pods.
#[test]
fn client_sends_its_token_only_to_hosts_in_the_url() {
    const TOKEN: &str = "correct-horse-battery-staple";
    let (folder, store) = scratch("brokers-token");
    let tokens = folder.join("tokens");
    std::fs::write(&tokens, format!("{TOKEN}\n")).unwrap();
    let (_server, direct) = serve(&["--store", &store, "--token-file", tokens.to_str().unwrap()]);
    let port = port_of(&direct);
    let proxy = Proxy::to(port);
    let url = format!("http://:{TOKEN}@127.0.0.1:{}", proxy.port());
    let client = |url: &str| {
        let builder = LeasedGenerator::builder(url, Layout::TWITTER).unwrap();
        builder.observer(|_| {}).open().unwrap()
    };
    let stays = client(&url);
    let follows = client(&format!("{url}?brokers=127.0.0.1:{port}"));
    // From now on the broker is reached only where it advertises itself.
    proxy.cut();
    proxy.reset();
    std::thread::sleep(Duration::from_secs(6));
    follows.next_id().unwrap();
    assert_eq!(follows.lease().grants, 1, "it renewed its node");
    let error = stays.next_id().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LeaseExpired, "{error}");
}
