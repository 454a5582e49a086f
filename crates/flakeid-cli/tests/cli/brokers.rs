//! Tests of brokers that are killed while in use, run behind a proxy, or crash repeatedly.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flakeid_core::{ErrorKind, Id, Layout};
use flakeid_test_servers::{Proxy, free_port};

use crate::run::{run, scratch};
use crate::serve::{serve, serve_at};

/// The timeout for an event. It is long, because the machine may be busy and the tests do not measure delays.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until a condition is met.
fn eventually(condition: &str, mut is_met: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_met() {
        assert!(started.elapsed() < TIMEOUT, "timeout while waiting for {condition}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The progress of one client.
#[derive(Default)]
struct Progress {
    ids: AtomicU64,
    grants: AtomicU64,
    renewals: AtomicU64,
}

impl Progress {
    /// The number of IDs.
    fn ids(&self) -> u64 {
        self.ids.load(Ordering::Relaxed)
    }

    /// The number of nodes that the client was granted.
    fn grants(&self) -> u64 {
        self.grants.load(Ordering::Relaxed)
    }

    fn renewals(&self) -> u64 {
        self.renewals.load(Ordering::Relaxed)
    }
}

/// Runs one client, which generates 100 IDs per second until `stop` is set.
fn issue(url: &str, progress: &Progress, stop: &AtomicBool) -> Vec<Id> {
    let builder = flakeid::lease(url, Layout::TWITTER).unwrap();
    // A generator with an observer does not share its lease with other generators in the process.
    let generator = builder.observer(|_| {}).max_wait(TIMEOUT).open().unwrap();
    let mut ids = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        ids.push(generator.next_id().unwrap());
        let status = flakeid::Lease::of(&generator).unwrap().status();
        progress.renewals.store(status.renewals, Ordering::Relaxed);
        progress.grants.store(status.grants, Ordering::Relaxed);
        progress.ids.store(ids.len() as u64, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(10));
    }
    ids
}

/// A guard that stops the clients when it is dropped, so that the test also ends if a check fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs clients until `happen` returns. Panics if an ID is issued twice, or if a client fails, for example because no
/// node is free. Returns the number of clients that generated IDs on more than one node.
fn run_clients(count: usize, url: &str, happen: impl FnOnce(&[Progress])) -> usize {
    let stop = AtomicBool::new(false);
    let progress: Vec<Progress> = (0..count).map(|_| Progress::default()).collect();
    let clients = std::thread::scope(|scope| {
        let stop = &stop;
        let start = |client| scope.spawn(move || issue(url, client, stop));
        let clients: Vec<_> = progress.iter().map(start).collect();
        let guard = SetOnDrop(stop);
        eventually("IDs of all clients", || progress.iter().all(|client| client.ids() > 0));
        happen(&progress);
        drop(guard);
        clients.into_iter().map(|client| client.join().unwrap()).collect::<Vec<_>>()
    });
    let mut seen = HashSet::new();
    let mut moved = 0;
    for ids in &clients {
        assert!(ids.iter().all(|id| seen.insert(*id)), "an ID was issued twice");
        let nodes: HashSet<u64> =
            ids.iter().map(|id| Layout::TWITTER.unpack(*id).unwrap().node).collect();
        moved += usize::from(nodes.len() > 1);
    }
    moved
}

/// Waits until at least the given number of clients has been granted `grants` nodes or more.
fn wait_for_grants(progress: &[Progress], clients: usize, grants: u64) {
    let has_moved = |client: &&Progress| client.grants() >= grants;
    eventually("other nodes", || progress.iter().filter(has_moved).count() >= clients);
}

/// After a broker is killed, the broker's clients lease other nodes, and no ID is issued twice.
#[test]
fn clients_switch_nodes_when_their_broker_dies() {
    const CLIENTS: usize = 60;
    let (_, store) = scratch("brokers");
    let arguments = ["--store", &store, "--lease-window", "1s"];
    let (mut killed, one) = serve(&arguments);
    let (_other_server, other) = serve(&arguments);
    let url = format!("{one},{}", other.strip_prefix("http://").unwrap());
    let mut held = 0;
    let moved = run_clients(CLIENTS, &url, |progress| {
        // Among the broker's nodes is the node of the server itself.
        held = run(&["leases", "ls", "--store", &one]).quiet().json().len() - 1;
        killed.kill();
        wait_for_grants(progress, held, 2);
    });
    assert!((CLIENTS / 4..CLIENTS).contains(&held), "{held} of {CLIENTS} used the killed broker");
    assert!(moved >= held, "{moved} clients of {held} took another node");
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
    let moved = run_clients(30, &url, |progress| {
        eventually("renewals", || progress.iter().all(|client| client.renewals() >= 3));
    });
    assert_eq!(moved, 0, "the number of clients that leased another node");
}

/// When a killed broker restarts, its old blocks are not free yet, so the broker must lease other
/// blocks. The other blocks contain enough nodes for all of the broker's clients.
#[test]
fn clients_switch_nodes_while_their_broker_crashes_repeatedly() {
    const CRASHES: u64 = 3;
    let (_, store) = scratch("brokers-crashing");
    let address = format!("127.0.0.1:{}", free_port());
    let arguments = ["--store", &store, "--lease-window", "1s"];
    let (mut broker, url) = serve_at(&address, &arguments);
    let moved = run_clients(30, &url, |progress| {
        for crash in 1..=CRASHES {
            broker.kill();
            broker = serve_at(&address, &arguments).0;
            wait_for_grants(progress, 30, crash + 1);
        }
    });
    assert_eq!(moved, 30, "the number of clients that leased another node");
}

/// Simulates a Kubernetes Service whose brokers advertise the addresses of their pods.
#[test]
fn client_sends_token_only_to_hosts_in_its_url() {
    const TOKEN: &str = "correct-horse-battery-staple";
    let (folder, store) = scratch("brokers-token");
    let tokens = folder.join("tokens");
    std::fs::write(&tokens, format!("{TOKEN}\n")).unwrap();
    let tokens = tokens.to_str().unwrap();
    let (_server, direct) =
        serve(&["--store", &store, "--token-file", tokens, "--lease-window", "1s"]);
    let port = port_of(&direct);
    let proxy = Proxy::to(port);
    let url = format!("http://:{TOKEN}@127.0.0.1:{}", proxy.port());
    let client = |url: &str| {
        let builder = flakeid::lease(url, Layout::TWITTER).unwrap();
        builder.observer(|_| {}).open().unwrap()
    };
    let stays = client(&url);
    let follows = client(&format!("{url}?brokers=127.0.0.1:{port}"));
    // From now on, the broker can be reached only at the address that it advertises.
    proxy.cut();
    proxy.reset();
    let renewals = || flakeid::Lease::of(&follows).unwrap().status().renewals;
    let before = renewals();
    let mut error = None;
    eventually("the end of the window", || {
        error = stays.next_id().err();
        error.is_some()
    });
    assert_eq!(error.unwrap().kind(), ErrorKind::LeaseExpired);
    eventually("renewals", || renewals() >= before + 3);
    follows.next_id().unwrap();
    assert_eq!(
        flakeid::Lease::of(&follows).unwrap().status().grants,
        1,
        "the client renewed its node"
    );
}
