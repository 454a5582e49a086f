//! Tests of a broker that loses a block while a caller waits for a node.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flakeid::broker::{Broker, BrokerOptions};
use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_protocol::operations::{self, Repair};
use flakeid_protocol::store::{Fault, Ledger, Store};
use flakeid_protocol::{MemoryStore, Namespace};

use crate::requests::{SPACE, bounds, namespace, request};

/// A store whose transactions wait while its gate is closed.
#[derive(Clone)]
struct Gated {
    store: MemoryStore,
    is_closed: Arc<AtomicBool>,
    is_waiting: Arc<AtomicBool>,
}

impl Store for Gated {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        while self.is_closed.load(Ordering::SeqCst) {
            self.is_waiting.store(true, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(1));
        }
        self.store.transact(namespace, work)
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        self.store.namespaces()
    }
}

/// Checks that a waiting caller gets a node of another block, because only the holders of the lost block need an error.
#[test]
fn waiting_caller_gets_a_node_of_another_block() {
    let mut store = MemoryStore::new();
    let wanted = Namespace { bounds: bounds(2_000, 4_000, 500, 4_000), ..namespace() };
    operations::init(&mut store, &wanted).unwrap();
    let gated =
        Gated { store: store.clone(), is_closed: Arc::default(), is_waiting: Arc::default() };
    let mut options = BrokerOptions::new(SPACE, Layout::TWITTER, "http://a");
    options.window_ms = 300;
    options.ttl_ms = 60_000;
    options.max_wait = Duration::from_secs(10);
    let open = {
        let gated = gated.clone();
        move || Ok(Box::new(gated.clone()) as _)
    };
    let broker = Broker::start_on("memory", open, options, Arc::new(SystemClock)).unwrap();
    let ask = |number| broker.acquire(&request(number, SystemClock.unix_ms(), 300), Instant::now());
    assert_eq!([1, 2].map(|number| ask(number).unwrap().node), [0, 1], "the block is full");

    // A caller is waiting when the renewal detects that the block is lost.
    operations::repair(&mut store, SPACE, 0, Repair::Quarantine).unwrap();
    gated.is_closed.store(true, Ordering::SeqCst);
    while !gated.is_waiting.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let third = std::thread::scope(|scope| {
        let third = scope.spawn(|| ask(3));
        std::thread::sleep(Duration::from_millis(100));
        gated.is_closed.store(false, Ordering::SeqCst);
        third.join().unwrap()
    });
    assert_eq!(third.map(|grant| grant.node), Ok(2));
}
