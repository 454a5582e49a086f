//! Tests of a broker and its thread on a store that can become unavailable, and of generators that lease from that
//! broker.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flakeid::broker::{Broker, BrokerOptions};
use flakeid::{Generator, LeaseBuilder};
use flakeid_conformance::HookedStore;
use flakeid_core::{Clock, ErrorKind, Id, Layout, SystemClock};
use flakeid_protocol::store::{Fault, Ledger, Store};
use flakeid_protocol::{MemoryStore, Namespace, State, operations};

use crate::requests::{SPACE, bounds, namespace};

/// A memory store that can be made unavailable.
#[derive(Clone)]
struct InterruptedStore {
    store: MemoryStore,
    is_away: Arc<AtomicBool>,
}

impl InterruptedStore {
    fn new(block_bits: u32) -> Self {
        let mut store = MemoryStore::new();
        let wanted = Namespace { block_bits, bounds: bounds(600, 2_000, 50, 900), ..namespace() };
        operations::init(&mut store, &wanted).unwrap();
        Self { store, is_away: Arc::default() }
    }

    fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    fn check(&self) -> Result<(), Fault> {
        let is_away = self.is_away.load(Ordering::SeqCst);
        if is_away { Err(Fault::Unavailable("the server is down".into())) } else { Ok(()) }
    }

    fn broker(&self, address: &str) -> Broker {
        let mut options = BrokerOptions::new(SPACE, Layout::TWITTER, address);
        options.window_ms = 200;
        options.ttl_ms = 300;
        options.max_wait = Duration::from_millis(700);
        let store = self.clone();
        let open = move || store.check().map(|()| Box::new(store.clone()) as _);
        Broker::start_on("memory", open, options, Arc::new(SystemClock)).unwrap()
    }

    fn rows(&self) -> Vec<flakeid_protocol::Row> {
        operations::list(&mut self.store.clone(), SPACE).unwrap().rows
    }
}

impl Store for InterruptedStore {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.check()?;
        self.store.transact(namespace, work)
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        self.check()
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        self.store.namespaces()
    }
}

fn generator(broker: &Broker) -> Generator {
    LeaseBuilder::from_broker(broker).max_wait(Duration::from_secs(3)).open().unwrap()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "timeout while waiting for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn holders_of_two_brokers_get_distinct_nodes_and_ids() {
    let store = InterruptedStore::new(2);
    let brokers = [store.broker("http://a"), store.broker("http://b")];
    assert!(store.rows().is_empty(), "no node was requested yet");
    let generators: Vec<_> = (0..24).map(|number| generator(&brokers[number % 2])).collect();
    let nodes: HashSet<u64> = generators.iter().filter_map(Generator::node).collect();
    assert_eq!(nodes.len(), 24);
    assert_eq!(store.rows().len(), 6, "24 nodes in blocks of 4");

    let mut ids: HashSet<Id> = HashSet::new();
    let renewals = |generator: &Generator| flakeid::Lease::of(generator).unwrap().status().renewals;
    wait_until("renewals", || {
        for generator in &generators {
            assert!(ids.insert(generator.next_id().unwrap()), "an ID was issued twice");
        }
        generators.iter().all(|generator| renewals(generator) >= 4)
    });
    assert!(
        generators
            .iter()
            .all(|generator| flakeid::Lease::of(generator).unwrap().status().grants == 1)
    );

    let status = brokers[0].status().unwrap();
    assert_eq!((status.blocks, status.holders), (3, 12));
    assert_eq!(status.last_error, None);
    let first = &brokers[0].rows(0, 1).unwrap()[0];
    assert_eq!(first.owner.pid, std::process::id());

    // Released nodes become free immediately, and the broker releases blocks that remain empty.
    generators[12..].iter().for_each(Generator::close);
    drop(generators);
    wait_until("the release of all blocks but one per broker", || {
        let held = store.rows().iter().filter(|row| row.state == State::Held).count();
        held == brokers.len()
    });
    brokers[1].close(Duration::from_secs(5));
    let ended = LeaseBuilder::from_broker(&brokers[1]).max_wait(Duration::ZERO).open();
    assert!(ended.unwrap_err().to_string().contains("use another broker"));
    drop(brokers);
    wait_until("the release of all blocks", || {
        store.rows().iter().all(|row| row.state == State::Free)
    });
}

#[test]
fn holder_issues_ids_during_an_outage_until_the_fence_of_its_block() {
    let store = InterruptedStore::new(2);
    let broker = store.broker("http://a");
    let generator = generator(&broker);
    let mut ids = HashSet::new();
    store.set_away(true);
    let error = loop {
        match generator.try_next_id() {
            Ok(id) => assert!(ids.insert(id)),
            Err(error) if error.kind() == ErrorKind::SequenceExhausted => {}
            Err(error) => break error,
        }
    };
    assert!(error.kind().is_retryable(), "{error}");
    // The holder's last window ends with the window of its block.
    let fence = store.rows()[0].fence;
    let tick = |id: &Id| Layout::TWITTER.unpack(*id).unwrap().tick;
    assert!(ids.iter().all(|id| tick(id) < fence), "an ID is above the block's fence");
    assert_eq!(flakeid::Lease::of(&generator).unwrap().status().fence, fence);
    let now = Layout::TWITTER.tick_at(SystemClock.unix_ms()).unwrap();
    assert!(now >= fence, "the holder stopped before the block's fence");
    wait_until("the store's error", || {
        let last = flakeid::Lease::of(&generator).unwrap().status().last_error;
        last.is_some_and(|error| {
            error.kind() == ErrorKind::StoreUnavailable && error.to_string().contains("is down")
        })
    });
    assert!(broker.status().unwrap().last_error.is_some());
    let asked = LeaseBuilder::from_broker(&broker).max_wait(Duration::ZERO).open().unwrap_err();
    assert_eq!(asked.kind(), ErrorKind::StoreUnavailable, "{asked}");

    store.set_away(false);
    wait_until("another ID", || generator.try_next_id().is_ok_and(|id| ids.insert(id)));
}

#[test]
fn holders_resume_after_the_end_of_an_outage() {
    let store = InterruptedStore::new(2);
    let broker = store.broker("http://a");
    let generator = generator(&broker);
    let before = generator.next_id().unwrap();
    store.set_away(true);
    wait_until("the end of the window", || {
        generator.try_next_id().is_err_and(|error| error.kind() == ErrorKind::LeaseExpired)
    });
    store.set_away(false);
    wait_until("another ID", || generator.try_next_id().is_ok_and(|id| id > before));
}

/// Checks that no ID is issued twice after a restore of the store. Like a holder that leases directly from the store,
/// the broker must wait until the restored store grants nodes again.
#[test]
fn broker_holders_issue_unique_ids_after_a_store_restore() {
    let store = InterruptedStore::new(2);
    let broker = store.broker("http://a");
    let first = generator(&broker);
    let mut ids = HashSet::from([first.next_id().unwrap()]);
    let copy = store.store.backup();
    let second = generator(&broker);
    let mut third: Vec<Generator> = (0..4).map(|_| generator(&broker)).collect();
    assert!(ids.insert(second.next_id().unwrap()));
    store.store.restore(copy);
    third.push(second);
    third.push(first);
    for _ in 0..200 {
        for generator in &third {
            if let Ok(id) = generator.next_id() {
                assert!(ids.insert(id), "an ID was issued twice");
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let fresh = generator(&broker);
    assert!(ids.insert(fresh.next_id().unwrap()));
}

#[test]
fn leases_reject_broker_namespaces_and_brokers_reject_plain_namespaces() {
    let store = InterruptedStore::new(2);
    let opened = store.clone();
    let direct = LeaseBuilder::from_store(Layout::TWITTER, move || Ok(Box::new(opened.clone())))
        .namespace(SPACE)
        .open();
    let error = direct.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreRejected);
    assert!(error.to_string().contains("flakeid serve"), "{error}");

    let plain = InterruptedStore::new(0);
    let options = BrokerOptions::new(SPACE, Layout::TWITTER, "http://a");
    let open = move || Ok(Box::new(plain.clone()) as _);
    let error = Broker::start_on("memory", open, options, Arc::new(SystemClock)).unwrap_err();
    assert!(error.to_string().contains("--block-bits"), "{error}");
}

#[test]
fn broker_refuses_options_that_do_not_fit_the_namespace() {
    let store = InterruptedStore::new(2);
    for (window_ms, ttl_ms, block_window_ms, field) in [
        (251, 600, None, "window_ms"),
        (1, 600, None, "window_ms"),
        (200, 249, None, "ttl_ms"),
        (200, 600, Some(601), "block_window_ms"),
        (200, 600, Some(300), "window_ms"),
    ] {
        let mut options = BrokerOptions::new(SPACE, Layout::TWITTER, "http://a");
        options.window_ms = window_ms;
        options.ttl_ms = ttl_ms;
        options.block_window_ms = block_window_ms;
        let opened = store.clone();
        let open = move || Ok(Box::new(opened.clone()) as _);
        let error = Broker::start_on("memory", open, options, Arc::new(SystemClock)).unwrap_err();
        assert_eq!(error.field(), Some(field), "{error}");
    }
}

#[test]
fn observer_gets_the_duration_and_outcome_of_store_requests() {
    const DELAY: Duration = Duration::from_millis(20);
    let InterruptedStore { store, is_away } = InterruptedStore::new(4);
    let opened = (store, Arc::clone(&is_away));
    let open = move || {
        let (store, is_away) = opened.clone();
        Ok(HookedStore::connect(&store.clone(), move || {
            std::thread::sleep(DELAY);
            InterruptedStore { store: store.clone(), is_away: Arc::clone(&is_away) }.check()
        }))
    };
    let mut options = BrokerOptions::new(SPACE, Layout::TWITTER, "http://a");
    options.window_ms = 200;
    options.ttl_ms = 300;
    let broker = Broker::start_on("memory", open, options, Arc::new(SystemClock)).unwrap();
    let (sender, observed) = std::sync::mpsc::channel();
    broker.observe_store(move |took, has_responded| {
        sender.send((took, has_responded)).unwrap_or(());
    });
    let generator = LeaseBuilder::from_broker(&broker).open().unwrap();
    let (took, has_responded) = observed.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(has_responded, "the store has granted a block");
    assert!(took >= DELAY, "{took:?}");

    is_away.store(true, Ordering::SeqCst);
    let mut later = std::iter::from_fn(|| observed.recv_timeout(Duration::from_secs(10)).ok());
    let (took, _) = later.find(|(_, has_responded)| !has_responded).expect("a failed renewal");
    assert!(took >= DELAY, "{took:?}");
    is_away.store(false, Ordering::SeqCst);
    drop(generator);
    broker.close(Duration::from_secs(5));
}
