//! Tests of a broker that renews several blocks in one transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flakeid::broker::{Broker, BrokerOptions};
use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_protocol::store::{Fault, Ledger, Store};
use flakeid_protocol::{MemoryStore, Namespace, Row, operations};

use crate::requests::{SPACE, bounds, namespace, request};

const BLOCKS: u64 = 4;

/// A memory store that applies transactions and loses every second response, if `loses_responses` is set.
#[derive(Clone, Default)]
struct LossyStore {
    store: MemoryStore,
    loses_responses: Arc<AtomicBool>,
    transactions: Arc<AtomicU64>,
}

impl Store for LossyStore {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.store.transact(namespace, work)?;
        let number = self.transactions.fetch_add(1, Ordering::SeqCst);
        if self.loses_responses.load(Ordering::SeqCst) && number.is_multiple_of(2) {
            return Err(Fault::Unavailable("the response was lost".into()));
        }
        Ok(())
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        self.store.prepare()
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        self.store.namespaces()
    }
}

impl LossyStore {
    fn rows(&self) -> Vec<Row> {
        operations::list(&mut self.store.clone(), SPACE).unwrap().rows
    }

    /// Waits until the rows meet a condition.
    fn wait_for_rows(&self, condition: &str, is_met: impl Fn(&[Row]) -> bool) -> Vec<Row> {
        let began = Instant::now();
        loop {
            let rows = self.rows();
            if is_met(&rows) {
                return rows;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "{condition}: {rows:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Starts a broker with four full blocks of two nodes.
    fn broker(&self) -> Broker {
        let wanted = Namespace { bounds: bounds(600, 2_000, 50, 900), ..namespace() };
        operations::init(&mut self.store.clone(), &wanted).unwrap();
        let mut options = BrokerOptions::new(SPACE, Layout::TWITTER, "http://a");
        options.window_ms = 200;
        options.ttl_ms = 60_000;
        options.max_wait = Duration::from_secs(10);
        let store = self.clone();
        let open = move || Ok(Box::new(store.clone()) as _);
        let broker = Broker::start_on("memory", open, options, Arc::new(SystemClock)).unwrap();
        for number in 0..2 * BLOCKS {
            let request = request(number + 1, SystemClock.unix_ms(), 200);
            broker.acquire(&request, Instant::now()).unwrap();
            // The blocks are leased at different times.
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(self.rows().len() as u64, BLOCKS);
        broker
    }
}

/// Checks that the renewals of blocks that were leased at different times meet in one transaction, and stay together
/// from then on.
#[test]
fn broker_renews_all_its_blocks_in_one_transaction() {
    let store = LossyStore::default();
    let broker = store.broker();
    let mut renewed = 0;
    for _ in 0..4 {
        let rows = store.wait_for_rows("no common renewal", |rows| {
            rows[0].renewed > renewed && rows.iter().all(|row| row.renewed == rows[0].renewed)
        });
        assert!(rows.iter().all(|row| row.grant == 1 && row.renewed > row.acquired), "{rows:?}");
        renewed = rows[0].renewed;
    }
    let status = broker.status().unwrap();
    assert_eq!((status.blocks as u64, status.last_error), (BLOCKS, None));
}

/// Checks that a broker repeats a batch with the same tokens if the response was lost. With other tokens, the store
/// would refuse the repetition, and the broker would lose its blocks.
#[test]
fn batch_without_a_response_is_repeated_with_the_same_tokens() {
    let store = LossyStore::default();
    let broker = store.broker();
    store.loses_responses.store(true, Ordering::SeqCst);
    for _ in 0..4 {
        let before = store.rows();
        store.wait_for_rows("a block is not renewed", |rows| {
            rows.iter().zip(&before).all(|(row, before)| row.renewed > before.renewed)
        });
    }
    store.loses_responses.store(false, Ordering::SeqCst);
    let rows = store.rows();
    assert!(rows.iter().all(|row| row.grant == 1), "a block was lost: {rows:?}");
    assert_eq!(broker.status().unwrap().blocks as u64, BLOCKS);
}

/// Checks that an invalid row of one block does not prevent the renewals of the other blocks.
#[test]
fn invalid_row_does_not_affect_the_other_blocks() {
    let store = LossyStore::default();
    let broker = store.broker();
    let damage = store.store.clone().transact(SPACE, &mut |ledger| {
        let row = ledger.row(2)?.expect("a row");
        ledger.put_row(Some(&row), &Row { start: row.fence + 1, ..row.clone() })
    });
    damage.unwrap();
    let damaged = store.rows();
    for _ in 0..3 {
        let before = store.rows();
        store.wait_for_rows("a valid row is not renewed", |rows| {
            let others = rows.iter().zip(&before).filter(|(row, _)| row.node != 2);
            others.into_iter().all(|(row, before)| row.renewed > before.renewed)
        });
    }
    assert_eq!(store.rows()[2], damaged[2]);
    let error = broker.status().unwrap().last_error.unwrap();
    assert!(error.to_string().contains("the row of node 2"), "{error}");
}
