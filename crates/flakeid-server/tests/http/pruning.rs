//! Tests of how the server prunes the history while it serves requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_core::{Clock, Layout, ManualClock, SystemClock};
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{Acquire, Identity, MemoryStore, Namespace, Release, Token, operations};
use flakeid_server::{HistoryPruning, ServeOptions};

use crate::client::{TestServer, service};

/// Grants a node three times in succession, and returns the first tick of each grant. `clock` is the store's clock.
fn grant_three_times(store: &mut MemoryStore, clock: &impl Clock) -> [u64; 3] {
    [1, 2, 3].map(|number| {
        let now = clock.unix_ms();
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

/// The number of records that the server removed from the history, according to its metrics.
fn pruned_records(server: &TestServer) -> u64 {
    let line = "flakeid_history_pruned_total{id_namespace=\"orders\",kind=\"record\"} ";
    let metrics = server.ask("GET", "/metrics", "");
    let count = metrics.text().lines().find_map(|found| found.strip_prefix(line)).unwrap();
    count.parse().unwrap()
}

/// The store fails twice and hangs once. The server serves requests during the failures, and removes old grants from
/// the history afterwards.
#[test]
fn server_still_removes_old_grants_after_store_failures() {
    let mut store = MemoryStore::new();
    operations::init(&mut store, &Namespace::new("orders", Layout::TWITTER)).unwrap();
    let [first, _, last] = grant_three_times(&mut store, &SystemClock);
    let attempts = Arc::new(AtomicU32::new(0));
    let is_silent = Arc::new(AtomicBool::new(true));
    let opened = {
        let (store, attempts) = (store.clone(), Arc::clone(&attempts));
        let is_silent = Arc::clone(&is_silent);
        move || -> Result<Box<dyn Store>, Fault> {
            match attempts.fetch_add(1, Ordering::SeqCst) {
                0 | 1 => Err(Fault::Unavailable("the store is down".into())),
                2 => {
                    while is_silent.load(Ordering::SeqCst) {
                        sleep(Duration::from_millis(1));
                    }
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
    let pruned = || pruned_records(&server);
    assert_eq!(pruned(), 0, "the counter exists before the first pruning");
    let started = Instant::now();
    while pruned() == 0 {
        if attempts.load(Ordering::SeqCst) == 3 {
            // The pruning waits for the store, but requests do not.
            for _ in 0..10 {
                assert_eq!(server.ask("POST", "/v1/default/ids", "").status, 200);
            }
            is_silent.store(false, Ordering::SeqCst);
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{attempts:?} attempts");
        sleep(Duration::from_millis(10));
    }
    assert_eq!(pruned(), 2);
    assert!(attempts.load(Ordering::SeqCst) > 3);
    let whois = |tick| operations::whois(&mut store.clone(), "orders", 7, tick).unwrap();
    assert_eq!(whois(first), None);
    assert_eq!(whois(last).map(|found| found.record.grant), Some(3));
}

/// The server's clock is a year ahead of the store's clock. If the age of a grant were determined by the server's
/// clock, the server would remove grants that ended a moment ago.
#[test]
fn server_keeps_recent_grants_although_its_clock_is_ahead_of_the_store() {
    const YEAR_MS: i64 = 365 * 24 * 60 * 60 * 1_000;
    let clock = ManualClock::new(SystemClock.unix_ms() - YEAR_MS);
    let mut store = MemoryStore::on(clock.clone());
    operations::init(&mut store, &Namespace::new("orders", Layout::TWITTER)).unwrap();
    let [first, ..] = grant_three_times(&mut store, &clock);
    let attempts = Arc::new(AtomicU32::new(0));
    let opened = {
        let (store, attempts) = (store.clone(), Arc::clone(&attempts));
        move || -> Result<Box<dyn Store>, Fault> {
            attempts.fetch_add(1, Ordering::SeqCst);
            Ok(Box::new(store.clone()))
        }
    };
    let keep = Duration::from_secs(90 * 24 * 60 * 60);
    let pruning = HistoryPruning::new(keep, ["orders".to_owned()], opened)
        .schedule(Duration::ZERO, Duration::from_millis(10));
    let server = TestServer::new(service().prune_history(pruning), ServeOptions::default());
    let wait_for_attempts = |count| {
        let target = attempts.load(Ordering::SeqCst) + count;
        let started = Instant::now();
        while attempts.load(Ordering::SeqCst) < target {
            assert!(started.elapsed() < Duration::from_secs(20), "{attempts:?} attempts");
            sleep(Duration::from_millis(10));
        }
    };
    // When the third attempt begins, the second is complete.
    wait_for_attempts(3);
    assert_eq!(pruned_records(&server), 0);
    let whois = |tick| operations::whois(&mut store.clone(), "orders", 7, tick).unwrap();
    assert_eq!(whois(first).map(|found| found.record.grant), Some(1));

    clock.set(SystemClock.unix_ms());
    wait_for_attempts(3);
    assert_eq!(pruned_records(&server), 2, "the grants ended a year ago");
    assert_eq!(whois(first), None);
}
