//! Tests of a broker whose store is deleted while the broker runs.

use std::collections::HashMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use flakeid::broker::{Broker, BrokerOptions};
use flakeid_conformance::StoreUnderTest;
use flakeid_core::Layout;
use flakeid_protocol::{Acquire, Bounds, Identity, Namespace, operations};
use flakeid_stores::Location;

use crate::restorations::{SPACE, request};
use crate::store_under_test::{Sqlite, connect, persist};

/// Checks that a broker recreates its namespace with the same bounds, even after all files of the store are deleted.
#[test]
fn broker_recreates_a_deleted_namespace_with_the_same_bounds() {
    for removed in [&["", "-wal"][..], &["", "-wal", "-serial"]] {
        check_recreated(removed);
    }
}

fn check_recreated(removed: &[&str]) {
    let store = Sqlite::new();
    let bounds =
        Bounds { max_window_ms: 2_500, max_ahead_ms: 1_000, max_skew_ms: 500, quiet_ms: 2_000 };
    let made = Namespace { block_bits: 3, bounds, ..Namespace::new(SPACE, Layout::TWITTER) };
    operations::init(&mut *store.connect(), &made).unwrap();
    let mut options = BrokerOptions::new(SPACE, Layout::TWITTER, "http://a");
    options.window_ms = 200;
    options.ttl_ms = 1_000;
    let broker = Broker::start(&Location::parse(&store.url()).unwrap(), options).unwrap();
    let mut fences: HashMap<u64, u64> = HashMap::new();
    let mut grant = || {
        let acquire = Acquire { identity: Identity::Any, window_ms: 200, ..request(0) };
        let granted = broker.acquire(&acquire, Instant::now())?;
        let fence = fences.insert(granted.node, granted.fence).unwrap_or(0);
        assert!(
            granted.start >= fence,
            "{granted:?} starts below the fence {fence} of the window before"
        );
        Ok(granted)
    };
    persist(&mut grant).unwrap();
    for suffix in removed {
        match fs::remove_file(store.beside(suffix)) {
            Err(error) if *suffix == "-wal" => println!("{error}: a closed store has no log"),
            removed => removed.unwrap(),
        }
    }
    let is_back = || operations::describe(&mut *connect(&store.url()).ok()?, SPACE).ok();
    let deadline = Instant::now() + Duration::from_secs(60);
    let back = loop {
        // This request may succeed or fail, because the broker grants nodes from its blocks only until the blocks'
        // windows end.
        drop(grant());
        if let Some(back) = store.file().exists().then(is_back).flatten() {
            break back;
        }
        assert!(Instant::now() < deadline, "the namespace was not recreated");
        thread::sleep(Duration::from_millis(5));
    };
    assert_eq!((back.block_bits, back.bounds), (made.block_bits, made.bounds));
    assert!(back.floor > 0, "earlier grants may still be in use");
    while !grant().is_ok_and(|granted| granted.start >= back.floor) {
        assert!(Instant::now() < deadline, "the broker grants nothing above the floor");
        thread::sleep(Duration::from_millis(5));
    }
}
