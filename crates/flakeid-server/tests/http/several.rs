//! Tests of clients that use two brokers, one of which cannot serve them. No client may be without
//! an ID for longer than a second.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
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

const SECOND: Duration = Duration::from_secs(1);
/// The timeout for clients to recover from an outage. The timeout is long, because the machine may be busy and the
/// test does not measure delays.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(60);
/// A duration that exceeds the window of a block plus the window of a node.
const LONGER_THAN_WINDOWS: Duration = Duration::from_secs(16);

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

/// A broker that serves HTTP and uses the default windows.
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
        let options = BrokerOptions::new("default", layout, &format!("http://{address}"));
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
    let builder = Generator::lease(url, layout).unwrap();
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

/// Runs eight clients while `happen` runs.
///
/// Returns the longest time for which a client was without an ID, minus the longest delay that the machine itself
/// caused. Also returns all IDs that the clients generated.
fn longest_gap(url: &str, layout: Layout, happen: impl FnOnce()) -> (Duration, Vec<Id>) {
    const CLIENTS: usize = 8;
    const PAUSE: Duration = Duration::from_millis(10);
    let (is_over, started) = (AtomicBool::new(false), Barrier::new(CLIENTS + 1));
    let (gap, stall) = (Mutex::new(Duration::ZERO), Mutex::new(Duration::ZERO));
    let mut ids = Vec::new();
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(|| {
                    let generator = client(url, layout);
                    started.wait();
                    let (mut ids, mut last) = (Vec::new(), Instant::now());
                    let (mut longest, mut error) = (Duration::ZERO, None);
                    let mut late = Duration::ZERO;
                    while !is_over.load(Ordering::Relaxed) {
                        match generator.next_id() {
                            Ok(id) => {
                                ids.push(id);
                                longest = longest.max(last.elapsed());
                                last = Instant::now();
                            }
                            Err(failed) => error = Some(failed),
                        }
                        let asleep = Instant::now();
                        thread::sleep(PAUSE);
                        late = late.max(asleep.elapsed().saturating_sub(PAUSE));
                    }
                    longest = longest.max(last.elapsed());
                    if longest >= SECOND {
                        eprintln!("{longest:?} without an ID: {error:?}");
                    }
                    let mut gap = gap.lock().unwrap();
                    *gap = longest.max(*gap);
                    let mut stall = stall.lock().unwrap();
                    *stall = late.max(*stall);
                    ids
                })
            })
            .collect();
        started.wait();
        let guard = SetOnDrop(&is_over);
        happen();
        drop(guard);
        for client in clients {
            ids.extend(client.join().unwrap());
        }
    });
    (gap.into_inner().unwrap().saturating_sub(stall.into_inner().unwrap()), ids)
}

/// Measures the gaps between IDs up to three times, because a busy machine may delay a client. In at least one
/// measurement, no client may be without an ID for a second or longer.
fn check_gaps(measure: impl Fn() -> (Duration, Vec<Id>)) {
    let mut gaps = Vec::new();
    for _ in 0..3 {
        let (gap, ids) = measure();
        let distinct: HashSet<Id> = ids.iter().copied().collect();
        assert_eq!(distinct.len(), ids.len(), "an ID was issued twice");
        if gap < SECOND {
            return;
        }
        gaps.push(gap);
    }
    panic!("{gaps:?} without an ID");
}

/// Checks that new clients get an ID within two seconds, even if the first broker in their list cannot grant a node.
/// The check tolerates two slower clients, because the machine may be busy.
fn check_new_clients(count: usize, url: &str, layout: Layout) {
    let slow: Vec<_> = (0..count)
        .map(|_| {
            let started = Instant::now();
            let client = client(url, layout);
            client.next_id().unwrap();
            let elapsed = started.elapsed();
            client.close();
            elapsed
        })
        .filter(|elapsed| *elapsed > SECOND * 2)
        .collect();
    assert!(slow.len() < 3, "{slow:?} until the clients got an ID");
}

/// A draining broker signals its holders to move to another broker, so that no holder waits for a node after the
/// broker has ended.
#[test]
fn clients_move_to_another_broker_while_their_broker_drains() {
    check_gaps(|| {
        let (store, layout) = store(10, 4);
        let (one, other) = (Served::new(&store, layout), Served::new(&store, layout));
        let url = url([&one, &other]);
        longest_gap(&url, layout, || {
            thread::sleep(SECOND);
            // Holders move in the first half of the drain. The second half allows for delays on a busy machine.
            let drain = SECOND * 10;
            one.broker.drain(drain);
            thread::sleep(drain);
            assert_eq!(one.broker.status().unwrap().holders, 0, "all holders must have moved");
            drop(one);
            thread::sleep(SECOND * 5);
        })
    });
}

#[test]
fn clients_switch_brokers_when_their_broker_cannot_reach_its_store() {
    check_gaps(|| {
        let (store, layout) = store(10, 4);
        let (one, other) = (Served::new(&store, layout), Served::new(&store, layout));
        let url = url([&one, &other]);
        longest_gap(&url, layout, || {
            one.conditions.is_cut_off.store(true, Ordering::Relaxed);
            thread::sleep(LONGER_THAN_WINDOWS);
            check_new_clients(8, &url, layout);
        })
    });
}

/// `flakeid exec` passes the node number of its lease to the command that it starts. The command may use this number in
/// a generator, so the lease must never change to another node.
#[test]
fn lease_that_keeps_its_node_does_not_switch_brokers() {
    let (store, layout) = store(10, 4);
    let (one, other) = (Served::new(&store, layout), Served::new(&store, layout));
    let builder = Generator::lease(&url([&one, &other]), layout).unwrap();
    let generator = builder.keep_node().observer(|_| {}).open().unwrap();
    let brokers = [&one, &other];
    let holders = |served: &&Served| served.broker.status().unwrap().holders;
    let granter = brokers.into_iter().find(|served| holders(served) == 1).unwrap();
    granter.conditions.is_cut_off.store(true, Ordering::Relaxed);
    thread::sleep(LONGER_THAN_WINDOWS);
    let error = generator.next_id().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LeaseExpired, "{error}");
    assert_eq!(generator.lease_status().unwrap().grants, 1);
}

#[test]
fn clients_switch_brokers_when_the_clock_of_their_broker_is_wrong() {
    for ahead_ms in [1_500, -30_000, 30_000] {
        check_gaps(|| {
            let (store, layout) = store(10, 4);
            let (one, other) = (Served::new(&store, layout), Served::new(&store, layout));
            let url = url([&one, &other]);
            longest_gap(&url, layout, || {
                one.conditions.ahead_ms.store(ahead_ms, Ordering::Relaxed);
                thread::sleep(Duration::from_secs(6));
                check_new_clients(8, &url, layout);
                thread::sleep(Duration::from_secs(6));
            })
        });
    }
}

#[test]
fn clients_switch_brokers_when_another_service_takes_over_their_brokers_address() {
    thread::scope(|scope| {
        for other_service in OtherService::ALL {
            scope.spawn(move || {
                check_gaps(|| {
                    let (store, layout) = store(10, 4);
                    let (one, other) = (Served::new(&store, layout), Served::new(&store, layout));
                    let url = url([&one, &other]);
                    longest_gap(&url, layout, || {
                        let _other_service = other_service.listen_at(one.kill());
                        thread::sleep(Duration::from_secs(6));
                        check_new_clients(8, &url, layout);
                    })
                });
            });
        }
    });
}

#[test]
fn clients_switch_brokers_when_their_broker_restarts_with_a_restored_store() {
    check_gaps(|| {
        let (store, layout) = store(10, 4);
        let (one, other) = (Served::new(&store, layout), Served::new(&store, layout));
        let url = url([&one, &other]);
        // This client makes the other broker lease a block in advance, because a restored store grants no blocks
        // during its quiet period.
        let guest = client(&format!("http://{}", other.address), layout);
        let measured = longest_gap(&url, layout, || {
            let address = one.kill();
            store.restore(store.backup());
            let again = Served::at(address, &store, layout);
            thread::sleep(LONGER_THAN_WINDOWS);
            drop(again);
        });
        guest.close();
        measured
    });
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
    of_free.retain(|client| !blocks.insert(client.node() / 2) || blocks.len() > 6);
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
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let acquired = Arc::clone(&acquired);
            let builder = Generator::lease(&url, layout).unwrap();
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
    thread::sleep(LONGER_THAN_WINDOWS);
    // A client switches only to a broker whose block windows end later than those of its current broker, so each client
    // may switch at most once.
    let acquired = acquired.load(Ordering::Relaxed);
    assert!(acquired <= 16, "8 clients acquired {acquired} nodes");
    for broker in [&one, &other] {
        broker.conditions.is_cut_off.store(false, Ordering::Relaxed);
    }
    for client in &clients {
        let healed = Instant::now();
        while client.next_id().is_err() {
            assert!(
                healed.elapsed() < RECOVERY_TIMEOUT,
                "a client got no ID although the store responds again"
            );
        }
    }
    // Clients that moved to another broker must release their previous nodes.
    let held = || [&one, &other].map(|served| served.broker.status().unwrap().holders);
    let healed = Instant::now();
    while held().iter().sum::<usize>() > clients.len() {
        assert!(healed.elapsed() < RECOVERY_TIMEOUT, "{:?} nodes are held", held());
        thread::sleep(Duration::from_millis(50));
    }
}
