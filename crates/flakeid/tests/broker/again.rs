//! Tests of a broker to which the store grants a block of nodes that the broker still appears to hold. This happens
//! when the store responds after the block's lease has expired.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flakeid::broker::{Broker, BrokerOptions};
use flakeid_conformance::HookedStore;
use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_protocol::{MemoryStore, Namespace, Row, State, operations};

use crate::requests::{SPACE, bounds, namespace, renewal, request};

const BLOCK_WINDOW_MS: u64 = 200;
const MAX_SKEW_MS: u64 = 50;
/// A delay that is longer than the lease of a block, in milliseconds.
const SLOW_MS: u64 = BLOCK_WINDOW_MS + MAX_SKEW_MS + 100;

fn only_row(store: &MemoryStore) -> Row {
    let rows = operations::list(&mut store.clone(), SPACE).unwrap().rows;
    assert_eq!(rows.len(), 1, "the broker leases one block");
    rows[0].clone()
}

/// Checks that the broker keeps the rows of a block's later grant when the broker detects that an earlier grant of the
/// block was lost. Without these rows, the broker would release the block with a fence below the windows of the
/// block's holders (I13).
#[test]
fn later_block_grant_survives_loss_of_an_earlier_grant() {
    let mut store = MemoryStore::new();
    let bounds = bounds(BLOCK_WINDOW_MS, 2_000, MAX_SKEW_MS, 900);
    operations::init(&mut store, &Namespace { bounds, ..namespace() }).unwrap();
    let delay_ms = Arc::new(AtomicU64::new(0));
    let mut options = BrokerOptions::new(SPACE, Layout::TWITTER, "http://a");
    options.window_ms = 50;
    options.ttl_ms = 60_000;
    options.max_wait = Duration::from_secs(10);
    let open = {
        let (store, delay_ms) = (store.clone(), Arc::clone(&delay_ms));
        move || {
            let delay_ms = Arc::clone(&delay_ms);
            Ok(HookedStore::connect(&store, move || {
                std::thread::sleep(Duration::from_millis(delay_ms.load(Ordering::SeqCst)));
                Ok(())
            }))
        }
    };
    let broker = Broker::start_on("memory", open, options, Arc::new(SystemClock)).unwrap();
    let asked = |number| {
        let grant = broker.acquire(&request(number, SystemClock.unix_ms(), 50), Instant::now());
        grant.unwrap()
    };
    let first = [asked(1), asked(2)];
    assert_eq!(first.map(|grant| grant.node), [0, 1]);
    let before = only_row(&store);

    delay_ms.store(SLOW_MS, Ordering::SeqCst);
    let third = asked(3);
    delay_ms.store(0, Ordering::SeqCst);
    assert!(only_row(&store).grant > before.grant, "the broker got the block again");
    assert!(third.node <= 1 && third.start >= before.fence);

    // After this pause, the renewal of the earlier grant is due.
    std::thread::sleep(Duration::from_millis(BLOCK_WINDOW_MS));
    let again = renewal(&third, 4, third.fence, SystemClock.unix_ms());
    let renewed = broker.renew_here(&again, Instant::now());
    let blocks = broker.status().unwrap().blocks;
    broker.close(Duration::from_secs(5));
    let row = only_row(&store);
    assert_eq!(row.state, State::Free);
    assert!(row.fence >= third.fence, "{} is below {}", row.fence, third.fence);
    renewed.unwrap().expect("the broker holds the block");
    assert_eq!(blocks, 1);
}
