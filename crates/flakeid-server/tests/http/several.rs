//! Tests of clients that use two brokers, one of which cannot serve them. The clients must switch to the other broker.
//! The simulation checks in virtual time that no client is without a window for longer than a second.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use flakeid::broker::{Broker, BrokerOptions};
use flakeid::{Generator, LeaseEvent};
use flakeid_conformance::HookedStore;
use flakeid_core::{Clock, ErrorKind, Id, Layout, SystemClock};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{MemoryStore, Namespace, operations};
use flakeid_server::{Listener, ServeOptions, Service};
use flakeid_test_servers::OtherService;

use crate::client::TestServer;

/// The timeout for an event. The timeout is long, because the machine may be busy and the tests do not measure delays.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The lengths of the windows of blocks and of nodes, in milliseconds. They are short, because many tests wait until
/// windows end.
const BLOCK_WINDOW_MS: u64 = 4_000;
const WINDOW_MS: u64 = 1_000;
/// The time after which all windows have ended that began before.
const WINDOWS: Duration = Duration::from_millis(BLOCK_WINDOW_MS + WINDOW_MS);
/// The number of clients in most tests.
const CLIENTS: usize = 8;

/// Builds a layout with the given number of node bits, and a store with a namespace for this layout. The namespace has
/// blocks of 2^`block_bits` nodes, and default values for all other settings.
fn store(node_bits: u32, block_bits: u32) -> (MemoryStore, Layout) {
    let mut store = MemoryStore::new();
    let layout = format!("t41.n{node_bits}.s12@1288834974657/1ms").parse().unwrap();
    let namespace = Namespace { block_bits, ..Namespace::new("default", layout) };
    operations::init(&mut store, &namespace).unwrap();
    (store, layout)
}

/// The simulated conditions under which a broker runs.
#[derive(Clone, Default)]
struct Conditions {
    /// Whether the broker is cut off from its store.
    is_cut_off: Arc<AtomicBool>,
    /// The number of milliseconds by which the broker's clock is ahead of the system clock. A negative number means
    /// that the broker's clock is behind.
    ahead_ms: Arc<AtomicI64>,
}

impl Clock for Conditions {
    fn unix_ms(&self) -> i64 {
        SystemClock.unix_ms() + self.ahead_ms.load(Ordering::Relaxed)
    }
}

/// A broker that serves HTTP.
struct Served {
    _server: TestServer,
    broker: Broker,
    address: SocketAddr,
    conditions: Conditions,
}

impl Served {
    fn new(store: &MemoryStore, layout: Layout) -> Self {
        Self::at("127.0.0.1:0".parse().unwrap(), store, layout)
    }

    fn at(address: SocketAddr, store: &MemoryStore, layout: Layout) -> Self {
        let listener = Listener::bound(address).unwrap();
        let address = listener.tcp_address().unwrap().unwrap();
        let mut options = BrokerOptions::new("default", layout, &format!("http://{address}"));
        (options.block_window_ms, options.window_ms) = (Some(BLOCK_WINDOW_MS), WINDOW_MS);
        let conditions = Conditions::default();
        let (store, is_cut_off) = (store.clone(), Arc::clone(&conditions.is_cut_off));
        let open = move || {
            let is_cut_off = Arc::clone(&is_cut_off);
            Ok(HookedStore::connect(&store, move || {
                let is_cut_off = is_cut_off.load(Ordering::Relaxed);
                if is_cut_off {
                    Err(Fault::Unavailable("the store is cut off".into()))
                } else {
                    Ok(())
                }
            }))
        };
        let clock = Arc::new(conditions.clone());
        let broker = Broker::start_on("memory", open, options, clock).unwrap();
        let service = Service::new([].into()).brokers([broker.clone()]);
        let server = TestServer::on(&listener, service, ServeOptions::default());
        Self { _server: server, broker, address, conditions }
    }

    fn holders(&self) -> usize {
        self.broker.status().unwrap().holders
    }

    /// Waits until exactly the given number of clients hold nodes of this broker.
    fn wait_for_holders(&self, count: usize) {
        eventually(&format!("{count} holders"), || self.holders() == count);
    }

    /// Ends the broker as `kill -9` would, so that the broker does not release its blocks.
    fn kill(self) -> SocketAddr {
        self.conditions.is_cut_off.store(true, Ordering::Relaxed);
        let Self { _server: server, broker, address, .. } = self;
        drop(server);
        broker.close(Duration::ZERO);
        address
    }
}

fn url(brokers: [&Served; 2]) -> String {
    format!("http://{},{}", brokers[0].address, brokers[1].address)
}

fn client(url: &str, layout: Layout) -> Generator {
    let builder = flakeid::lease(url, layout).unwrap();
    // A client with an observer does not share a lease with other clients in this process.
    builder.observer(|_| {}).open().unwrap()
}

/// A guard that stops the client threads when it is dropped, so that the test also ends if a check fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Waits until a condition is met.
fn eventually(condition: &str, mut is_met: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_met() {
        assert!(started.elapsed() < TIMEOUT, "timeout while waiting for {condition}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Runs [`CLIENTS`] clients while `happen` runs. Checks that each client gets an ID afterwards, and that no ID is issued
/// twice.
fn run_clients(url: &str, layout: Layout, happen: impl FnOnce()) {
    let (is_over, started) = (AtomicBool::new(false), Barrier::new(CLIENTS + 1));
    let run_client = || {
        let generator = client(url, layout);
        started.wait();
        let mut ids = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            ids.extend(generator.next_id());
            thread::sleep(Duration::from_millis(10));
        }
        let count = ids.len();
        eventually("an ID after the fault", || {
            ids.extend(generator.next_id());
            ids.len() > count
        });
        ids
    };
    let ids: Vec<Id> = thread::scope(|scope| {
        let clients = [(); CLIENTS].map(|()| scope.spawn(run_client));
        started.wait();
        let guard = SetOnDrop(&is_over);
        happen();
        drop(guard);
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let distinct: HashSet<&Id> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "an ID was issued twice");
}

/// Checks that new clients get an ID, even if the first broker in their list cannot grant a node.
fn check_new_clients(count: usize, url: &str, layout: Layout) {
    for _ in 0..count {
        let client = client(url, layout);
        client.next_id().unwrap();
        client.close();
    }
}

/// A draining broker signals its holders to move to another broker, so that no holder waits for a node after the
/// broker has ended.
#[test]
fn clients_move_to_another_broker_while_their_broker_drains() {
    let (store, layout) = store(10, 4);
    let (one, other) = (Served::new(&store, layout), Served::new(&store, layout));
    run_clients(&url([&one, &other]), layout, || {
        // A draining broker continues to renew leases, so its holders leave only because it signals them to move.
        one.broker.drain(Duration::from_secs(2));
        one.wait_for_holders(0);
        assert_eq!(other.holders(), CLIENTS);
        drop(one);
    });
}

#[test]
fn clients_switch_brokers_when_their_broker_cannot_reach_its_store() {
    let (store, layout) = store(10, 4);
    let (one, other) = (Served::new(&store, layout), Served::new(&store, layout));
    let url = url([&one, &other]);
    run_clients(&url, layout, || {
        one.conditions.is_cut_off.store(true, Ordering::Relaxed);
        other.wait_for_holders(CLIENTS);
        check_new_clients(CLIENTS, &url, layout);
    });
}

/// `flakeid exec` passes the node number of its lease to the command that it starts. The command may use this number in
/// a generator, so the lease must never change to another node.
#[test]
fn lease_that_keeps_its_node_does_not_switch_brokers() {
    let (store, layout) = store(10, 4);
    let (one, other) = (Served::new(&store, layout), Served::new(&store, layout));
    let builder = flakeid::lease(&url([&one, &other]), layout).unwrap();
    let generator = builder.keep_node().observer(|_| {}).open().unwrap();
    let granter = if one.holders() == 1 { &one } else { &other };
    granter.conditions.is_cut_off.store(true, Ordering::Relaxed);
    // A lease that does not keep its node requests another node before its window ends.
    let mut error = None;
    eventually("the end of the window", || {
        error = generator.next_id().err();
        error.is_some()
    });
    assert_eq!(error.unwrap().kind(), ErrorKind::LeaseExpired);
    assert_eq!(flakeid::Lease::of(&generator).unwrap().status().grants, 1);
}

/// The clients of a broker whose clock is more than `max_skew` wrong need not switch, because renewals still succeed.
#[test]
fn clients_switch_brokers_when_the_clock_of_their_broker_is_wrong() {
    thread::scope(|scope| {
        for (ahead_ms, must_switch) in [(1_500, false), (-30_000, true), (30_000, true)] {
            scope.spawn(move || {
                let (store, layout) = store(10, 4);
                let (one, other) = (Served::new(&store, layout), Served::new(&store, layout));
                let url = url([&one, &other]);
                run_clients(&url, layout, || {
                    one.conditions.ahead_ms.store(ahead_ms, Ordering::Relaxed);
                    thread::sleep(WINDOWS);
                    check_new_clients(CLIENTS, &url, layout);
                    if must_switch {
                        other.wait_for_holders(CLIENTS);
                    }
                });
            });
        }
    });
}

#[test]
fn clients_switch_brokers_when_another_service_takes_over_their_brokers_address() {
    thread::scope(|scope| {
        for other_service in OtherService::ALL {
            scope.spawn(move || {
                let (store, layout) = store(10, 4);
                let (one, other) = (Served::new(&store, layout), Served::new(&store, layout));
                let url = url([&one, &other]);
                run_clients(&url, layout, || {
                    let _other_service = other_service.listen_at(one.kill());
                    other.wait_for_holders(CLIENTS);
                    check_new_clients(CLIENTS, &url, layout);
                });
            });
        }
    });
}

#[test]
fn clients_switch_brokers_when_their_broker_restarts_with_a_restored_store() {
    let (store, layout) = store(10, 4);
    let (one, other) = (Served::new(&store, layout), Served::new(&store, layout));
    let url = url([&one, &other]);
    // This client makes the other broker lease a block in advance, because a restored store grants no blocks during
    // its quiet period.
    let guest = client(&format!("http://{}", other.address), layout);
    run_clients(&url, layout, || {
        let address = one.kill();
        store.restore(store.backup());
        let _again = Served::at(address, &store, layout);
        other.wait_for_holders(CLIENTS + 1);
    });
    guest.close();
}

#[test]
fn new_clients_get_a_node_from_the_broker_with_free_nodes() {
    let (store, layout) = store(4, 1);
    let (full, free) = (Served::new(&store, layout), Served::new(&store, layout));
    let at = |broker: &Served| client(&format!("http://{}", broker.address), layout);
    let of_full: Vec<_> = (0..2).map(|_| at(&full)).collect();
    let mut of_free: Vec<_> = (0..14).map(|_| at(&free)).collect();
    // One node in each of six blocks becomes free. No block is entirely free, so no block is
    // released to the store.
    let mut blocks = HashSet::new();
    of_free.retain(|client| !blocks.insert(client.node().unwrap() / 2) || blocks.len() > 6);
    let url = url([&full, &free]);
    check_new_clients(12, &url, layout);
    drop((of_full, of_free));
}

#[test]
fn clients_acquire_at_most_two_nodes_during_store_outages() {
    let (store, layout) = store(10, 4);
    let (one, other) = (Served::new(&store, layout), Served::new(&store, layout));
    let url = url([&one, &other]);
    let acquired = Arc::new(AtomicI64::new(0));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let acquired = Arc::clone(&acquired);
            let builder = flakeid::lease(&url, layout).unwrap();
            let count = move |event: &LeaseEvent| {
                let is_acquired = matches!(event, LeaseEvent::Acquired { .. });
                acquired.fetch_add(is_acquired.into(), Ordering::Relaxed);
            };
            builder.observer(count).open().unwrap()
        })
        .collect();
    for broker in [&one, &other] {
        broker.conditions.is_cut_off.store(true, Ordering::Relaxed);
    }
    // Both brokers grant nothing after the ends of their blocks' windows, which are the ends of the clients' windows.
    let is_served = |client: &Generator| client.try_next_id().is_ok();
    eventually("the end of all windows", || !clients.iter().any(is_served));
    // A client switches only to a broker whose block windows end later than those of its current broker, so each client
    // may switch at most once.
    let acquired = acquired.load(Ordering::Relaxed);
    assert!(acquired <= 16, "8 clients acquired {acquired} nodes");
    for broker in [&one, &other] {
        broker.conditions.is_cut_off.store(false, Ordering::Relaxed);
    }
    for client in &clients {
        eventually("an ID after the outage", || client.next_id().is_ok());
    }
    // Clients that moved to another broker must release their previous nodes.
    eventually("released nodes", || one.holders() + other.holders() <= CLIENTS);
}
