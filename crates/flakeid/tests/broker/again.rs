//! A broker that gets a block again which it believes to hold still, because the store is slower than the
//! block's lease is long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flakeid::broker::{Broker, BrokerOptions};
use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_protocol::store::{Fault, Ledger, Store};
use flakeid_protocol::{MemoryStore, Namespace, Row, State, operations};

use crate::requests::{SPACE, bounds, namespace, renewal, request};

const BLOCK_WINDOW_MS: u64 = 200;
const MAX_SKEW_MS: u64 = 50;
/// Longer than a block is kept for its broker.
const SLOW_MS: u64 = BLOCK_WINDOW_MS + MAX_SKEW_MS + 100;

/// A store whose answers take their time.
#[derive(Clone)]
struct Slow {
    store: MemoryStore,
    delay_ms: Arc<AtomicU64>,
}

impl Store for Slow {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        std::thread::sleep(Duration::from_millis(self.delay_ms.load(Ordering::SeqCst)));
        self.store.transact(namespace, work)
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        self.store.namespaces()
    }
}

fn only_row(store: &MemoryStore) -> Row {
    let rows = operations::list(&mut store.clone(), SPACE).unwrap().rows;
    assert_eq!(rows.len(), 1, "one block is enough");
    rows[0].clone()
}

/// I13. The loss of the earlier grant is found out when the later one is in use already: it must not take
/// that one's rows with it, or the block would be given back below the windows of its holders.
#[test]
fn later_grant_of_a_block_survives_the_loss_of_the_earlier_one() {
    let mut store = MemoryStore::new();
    let bounds = bounds(BLOCK_WINDOW_MS, 2_000, MAX_SKEW_MS, 900);
    operations::init(&mut store, &Namespace { bounds, ..namespace() }).unwrap();
    let slow = Slow { store: store.clone(), delay_ms: Arc::default() };
    let mut options = BrokerOptions::new(SPACE, Layout::TWITTER, "http://a");
    options.window_ms = 50;
    options.ttl_ms = 60_000;
    options.max_wait = Duration::from_secs(10);
    let open = {
        let slow = slow.clone();
        move || Ok(Box::new(slow.clone()) as _)
    };
    let broker = Broker::start_on("memory", open, options, Arc::new(SystemClock)).unwrap();
    let asked = |number| {
        let grant = broker.acquire(&request(number, SystemClock.unix_ms(), 50), Instant::now());
        grant.unwrap()
    };
    let first = [asked(1), asked(2)];
    assert_eq!(first.map(|grant| grant.node), [0, 1]);
    let before = only_row(&store);

    slow.delay_ms.store(SLOW_MS, Ordering::SeqCst);
    let third = asked(3);
    slow.delay_ms.store(0, Ordering::SeqCst);
    assert!(only_row(&store).grant > before.grant, "it got the block again");
    assert!(third.node <= 1 && third.start >= before.fence);

    // The earlier grant's renewal is due.
    std::thread::sleep(Duration::from_millis(BLOCK_WINDOW_MS));
    let again = renewal(&third, 4, third.fence, SystemClock.unix_ms());
    let renewed = broker.renew_here(&again, Instant::now());
    let blocks = broker.status().unwrap().blocks;
    broker.close(Duration::from_secs(5));
    let row = only_row(&store);
    assert_eq!(row.state, State::Free);
    assert!(row.fence >= third.fence, "{} is below {}", row.fence, third.fence);
    renewed.unwrap().expect("it holds the block");
    assert_eq!(blocks, 1);
}
