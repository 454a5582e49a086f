//! Runs the conformance tests for lessors on a store and on a broker.
#![allow(clippy::unwrap_used, reason = "tests only")]

use std::sync::Arc;

use flakeid::broker::{Broker, BrokerOptions};
use flakeid_conformance::lessors::{self, LessorUnderTest};
use flakeid_core::{Layout, SystemClock};
use flakeid_protocol::store::Store;
use flakeid_protocol::{Bounds, Lessor, MemoryStore, Namespace, operations};

fn store(block_bits: u32) -> (MemoryStore, Namespace) {
    let mut store = MemoryStore::new();
    let bounds =
        Bounds { max_window_ms: 4_000, max_ahead_ms: 4_000, max_skew_ms: 1_000, quiet_ms: 6_100 };
    let new = Namespace::new("orders", Layout::TWITTER);
    let namespace = operations::init(&mut store, &Namespace { block_bits, bounds, ..new }).unwrap();
    (store, namespace)
}

struct Stored(MemoryStore, Namespace);

impl LessorUnderTest for Stored {
    fn connect(&self) -> Box<dyn Lessor> {
        Box::new(Box::new(self.0.clone()) as Box<dyn Store>)
    }

    fn namespace(&self) -> &Namespace {
        &self.1
    }
}

struct Brokered(Broker);

impl LessorUnderTest for Brokered {
    fn connect(&self) -> Box<dyn Lessor> {
        Box::new(self.0.clone())
    }

    fn namespace(&self) -> &Namespace {
        self.0.namespace()
    }
}

#[test]
fn store_passes_the_conformance_tests_for_lessors() {
    let (store, namespace) = store(0);
    lessors::run(&Stored(store, namespace));
}

#[test]
fn broker_passes_the_conformance_tests_for_lessors() {
    let (store, namespace) = store(4);
    let mut options = BrokerOptions::new(&namespace.name, Layout::TWITTER, "http://a");
    options.window_ms = 400;
    options.ttl_ms = 2_000;
    let open = move || Ok(Box::new(store.clone()) as _);
    let broker = Broker::start_on("memory", open, options, Arc::new(SystemClock)).unwrap();
    lessors::run(&Brokered(broker));
}
