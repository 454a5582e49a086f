//! Tests of a broker that loses a block while a caller waits for a node.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flakeid::broker::{Broker, BrokerOptions};
use flakeid_conformance::HookedStore;
use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_protocol::operations::{self, Repair};
use flakeid_protocol::{MemoryStore, Namespace};

use crate::requests::{SPACE, bounds, namespace, request};

/// A gate at which the transactions of a store wait while the gate is closed.
#[derive(Clone, Default)]
struct Gate {
    is_closed: Arc<AtomicBool>,
    is_waiting: Arc<AtomicBool>,
}

impl Gate {
    fn pass(&self) {
        while self.is_closed.load(Ordering::SeqCst) {
            self.is_waiting.store(true, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Checks that, when a broker loses a block, a waiting caller gets a node from another block. The broker must report an
/// error only to the holders of nodes in the lost block.
#[test]
fn waiting_caller_gets_a_node_despite_a_lost_block() {
    let mut store = MemoryStore::new();
    let wanted = Namespace { bounds: bounds(2_000, 4_000, 500, 4_000), ..namespace() };
    operations::init(&mut store, &wanted).unwrap();
    let gate = Gate::default();
    let mut options = BrokerOptions::new(SPACE, Layout::TWITTER, "http://a");
    options.window_ms = 300;
    options.ttl_ms = 60_000;
    options.max_wait = Duration::from_secs(10);
    let open = {
        let (gate, store) = (gate.clone(), store.clone());
        move || {
            let gate = gate.clone();
            Ok(HookedStore::connect(&store, move || {
                gate.pass();
                Ok(())
            }))
        }
    };
    let broker = Broker::start_on("memory", open, options, Arc::new(SystemClock)).unwrap();
    let ask = |number| broker.acquire(&request(number, SystemClock.unix_ms(), 300), Instant::now());
    assert_eq!([1, 2].map(|number| ask(number).unwrap().node), [0, 1], "the block is full");

    // The following steps make a caller wait while the renewal detects that the block is lost.
    operations::repair(&mut store, SPACE, 0, Repair::Quarantine).unwrap();
    gate.is_closed.store(true, Ordering::SeqCst);
    while !gate.is_waiting.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let third = std::thread::scope(|scope| {
        let third = scope.spawn(|| ask(3));
        std::thread::sleep(Duration::from_millis(100));
        gate.is_closed.store(false, Ordering::SeqCst);
        third.join().unwrap()
    });
    assert_eq!(third.map(|grant| grant.node), Ok(2));
}
