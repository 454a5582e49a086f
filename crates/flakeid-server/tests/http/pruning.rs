//! Tests of the history, which the server prunes while it serves requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_core::{Layout, SystemClock};
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{Acquire, Identity, MemoryStore, Namespace, Release, Token, operations};
use flakeid_server::{HistoryPruning, ServeOptions};

use crate::client::{TestServer, service};

/// Grants a node three times, one after the other, and returns the first tick of each grant.
fn grant_three_times(store: &mut MemoryStore) -> [u64; 3] {
    [1, 2, 3].map(|number| {
        let now = flakeid_core::Clock::unix_ms(&SystemClock);
        let token = Token::from_bits(number << 64 | number);
        let identity = Identity::Node(7);
        let asked = Acquire { identity, ..Acquire::any_node(Layout::TWITTER, token, now) };
        let grant = operations::acquire(store, "orders", &asked).unwrap();
        let release = Release { node: 7, token, used_until: grant.start + 1 };
        operations::release(store, "orders", &release).unwrap();
        sleep(Duration::from_millis(20));
        grant.start
    })
}

/// The store fails twice and hangs once. The server serves requests during the failures, and removes old grants from
/// the history afterwards.
#[test]
fn server_removes_old_grants_after_failures_of_the_store() {
    let mut store = MemoryStore::new();
    operations::init(&mut store, &Namespace::new("orders", Layout::TWITTER)).unwrap();
    let [first, _, last] = grant_three_times(&mut store);
    let attempts = Arc::new(AtomicU32::new(0));
    let opened = {
        let (store, attempts) = (store.clone(), Arc::clone(&attempts));
        move || -> Result<Box<dyn Store>, Fault> {
            match attempts.fetch_add(1, Ordering::SeqCst) {
                0 | 1 => Err(Fault::Unavailable("the store is down".into())),
                2 => {
                    sleep(Duration::from_millis(500));
                    Err(Fault::Unavailable("the store did not respond".into()))
                }
                _ => Ok(Box::new(store.clone())),
            }
        }
    };
    let short = Duration::from_millis(50);
    let pruning = HistoryPruning::new(Duration::from_millis(1), ["orders".to_owned()], opened)
        .schedule(short, short);
    let server = TestServer::new(service().prune_history(pruning), ServeOptions::default());
    let line = "flakeid_history_pruned_total{id_namespace=\"orders\",kind=\"record\"} ";
    let pruned = || {
        let metrics = server.ask("GET", "/metrics", "");
        let count = metrics.text().lines().find_map(|found| found.strip_prefix(line)).unwrap();
        count.parse::<u64>().unwrap()
    };
    assert_eq!(pruned(), 0, "the counter exists before the first pruning");
    let started = Instant::now();
    while pruned() == 0 {
        let asked = Instant::now();
        assert_eq!(server.ask("POST", "/v1/default/ids", "").status, 200);
        assert!(asked.elapsed() < Duration::from_millis(400), "{:?}", asked.elapsed());
        assert!(started.elapsed() < Duration::from_secs(20), "{attempts:?} attempts");
        sleep(Duration::from_millis(10));
    }
    assert_eq!(pruned(), 2);
    assert!(attempts.load(Ordering::SeqCst) > 3);
    let whois = |tick| operations::whois(&mut store.clone(), "orders", 7, tick).unwrap();
    assert_eq!(whois(first), None);
    assert_eq!(whois(last).map(|found| found.record.grant), Some(3));
}
