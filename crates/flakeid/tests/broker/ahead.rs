//! Tests of windows that are far ahead of the clock, for example after a restore of the store. The rows of these
//! windows expire several seconds before the clock approaches the fences, so each row must be renewed before it
//! expires.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use flakeid::broker::{Broker, BrokerOptions};
use flakeid::{Generator, LeaseBuilder};
use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_protocol::{MemoryStore, Namespace, operations};

use crate::requests::{SPACE, bounds, namespace};

/// The TTL of a holder's node, in milliseconds. The TTL of a block is 650 ms.
const TTL_MS: u64 = 300;

/// Starts a broker with blocks of two nodes on a store whose floor is 3.5 s ahead of the clock.
fn broker_ahead() -> (MemoryStore, Broker) {
    let mut store = MemoryStore::new();
    let wanted = Namespace { bounds: bounds(600, 4_000, 50, 900), ..namespace() };
    operations::init(&mut store, &wanted).unwrap();
    let now = Layout::TWITTER.tick_at(SystemClock.unix_ms()).unwrap();
    operations::fast_forward(&mut store, SPACE, now + 3_500).unwrap();
    let mut options = BrokerOptions::new(SPACE, Layout::TWITTER, "http://a");
    options.window_ms = 200;
    options.ttl_ms = TTL_MS;
    let opened = store.clone();
    let open = move || Ok(Box::new(opened.clone()) as _);
    let broker = Broker::start_on("memory", open, options, Arc::new(SystemClock)).unwrap();
    (store, broker)
}

fn builder(broker: &Broker) -> LeaseBuilder {
    LeaseBuilder::from_broker(broker).max_wait(Duration::from_secs(3))
}

fn pause() {
    std::thread::sleep(Duration::from_millis(1_400));
}

fn assert_kept(generators: &[Generator]) {
    for generator in generators {
        generator.next_id().unwrap();
        assert_eq!(flakeid::Lease::of(generator).unwrap().status().grants, 1, "the node was lost");
    }
}

#[test]
fn block_with_windows_ahead_of_the_clock_is_renewed_before_expiry() {
    let (mut store, broker) = broker_ahead();
    let open = || builder(&broker).ttl(Duration::from_millis(TTL_MS)).open().unwrap();
    let first = [open(), open()];
    pause();
    let other = open();
    let block = |generator: &Generator| generator.node().unwrap() >> 1;
    assert_ne!(block(&other), block(&first[0]));
    assert_ne!(block(&other), block(&first[1]));
    pause();
    assert_kept(&first);
    let rows = operations::list(&mut store, SPACE).unwrap().rows;
    assert_eq!(rows.iter().map(|row| row.grant).collect::<Vec<_>>(), [1, 1]);
}

/// Checks the renewal of nodes whose holders requested a TTL of one minute but got a shorter TTL.
#[test]
fn node_with_a_window_ahead_of_the_clock_is_renewed_before_expiry() {
    let (_, broker) = broker_ahead();
    let first = [(); 2].map(|()| builder(&broker).open().unwrap());
    pause();
    let others = [(); 2].map(|()| builder(&broker).open().unwrap());
    let nodes: HashSet<_> = first.iter().chain(&others).map(Generator::node).collect();
    assert_eq!(nodes.len(), 4, "nodes in use were granted again: {nodes:?}");
    // During these two pauses, the clock comes close to the fences.
    pause();
    pause();
    assert_kept(&first);
    assert_kept(&others);
}
