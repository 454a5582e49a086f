//! Tests of `prune`. After `prune`, `whois` must return the same holders as before. For ticks before the first
//! remaining grant, `whois` may instead return no holder.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use flakeid_conformance::HookedStore;
use flakeid_core::{Clock, Layout, ManualClock};
use flakeid_protocol::broker::Blocks;
use flakeid_protocol::operations::{self, PastHolder, Pruned};
use flakeid_protocol::store::{Fault, Ledger, Store};
use flakeid_protocol::{
    Acquire, Bounds, Client, Grant, Handover, Identity, MemoryContents, MemoryStore, Namespace,
    Owner, Record, SubGrant,
};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::requests::{NOW, SPACE, block_request, bounds, namespace, release, renewal, request};

const BOUNDS: Bounds =
    Bounds { max_window_ms: 300, max_ahead_ms: 500, max_skew_ms: 20, quiet_ms: 400 };
const WINDOW_MS: u64 = 100;
const TTL_MS: u64 = 200;
/// The number of rows that the tests can lease.
const ROWS: u64 = 3;

#[derive(Clone, Debug)]
enum Step {
    Pass(u64),
    /// A process leases a row from the store: a block, or a node in a namespace without blocks.
    Lease {
        row: Option<u64>,
        off: i64,
    },
    /// A process renews its row and hands over at most `most` sub-grants. The response may get lost.
    Renew {
        held: Index,
        most: usize,
        is_answered: bool,
    },
    Release {
        held: Index,
    },
    /// The broker is killed, and loses the sub-grants that it has not handed over.
    Crash,
    /// A client leases a node from the broker. Only a namespace of blocks has brokers.
    Acquire {
        off: i64,
        ahead: u64,
    },
    /// A client releases its node after `used` ticks.
    Return {
        client: Index,
        used: u64,
    },
    Backup,
    Restore,
    /// Grants that ended at least `ago` milliseconds ago are pruned from the history. If `at` is given, the limit is
    /// instead at or shortly after the time of a grant. The first attempt uses a store that fails after the given
    /// number of transactions.
    Prune {
        ago: i64,
        at: Option<Index>,
        transactions: u32,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    let row = prop::option::weighted(0.9, 0..ROWS);
    prop_oneof![
        14 => (0..300_u64).prop_map(Step::Pass),
        6 => (row, -15..15_i64).prop_map(|(row, off)| Step::Lease { row, off }),
        10 => (index(), 0..4_usize, prop::bool::weighted(0.9))
            .prop_map(|(held, most, is_answered)| Step::Renew { held, most, is_answered }),
        2 => index().prop_map(|held| Step::Release { held }),
        1 => Just(Step::Crash),
        16 => (-15..15_i64, 0..100_u64).prop_map(|(off, ahead)| Step::Acquire { off, ahead }),
        10 => (index(), 0..50_u64).prop_map(|(client, used)| Step::Return { client, used }),
        1 => Just(Step::Backup),
        1 => Just(Step::Restore),
        2 => (-300..2_000_i64, prop::option::of(index()), 0..8_u32)
            .prop_map(|(ago, at, transactions)| Step::Prune { ago, at, transactions }),
    ]
}

/// A namespace, and the processes that lease its rows.
struct History {
    clock: ManualClock,
    store: MemoryStore,
    namespace: Namespace,
    copy: Option<MemoryContents>,
    broker: Blocks,
    /// The milliseconds by which the broker's clock is ahead of the store's clock.
    skew: i64,
    held: Vec<Grant>,
    clients: Vec<Grant>,
    counter: u64,
    /// The numbers of records and sub-grants that were removed.
    pruned: Pruned,
}

impl History {
    fn new(block_bits: u32, skew: i64) -> Self {
        let clock = ManualClock::new(NOW);
        let mut store = MemoryStore::on(clock.clone());
        let namespace = Namespace { bounds: BOUNDS, block_bits, ..namespace() };
        operations::init(&mut store, &namespace).unwrap();
        let broker = Blocks::new(&namespace, WINDOW_MS, TTL_MS).recorded();
        Self {
            clock,
            store,
            namespace,
            copy: None,
            broker,
            skew,
            held: Vec::new(),
            clients: Vec::new(),
            counter: 0,
            pruned: Pruned::default(),
        }
    }

    fn take(&mut self, step: &Step) {
        self.counter += 1;
        let (number, now) = (self.counter, self.clock.unix_ms());
        let broker_now = now + self.skew;
        let owner = Owner { pid: number as u32, ..Owner::default() };
        let pick =
            |list: &[Grant], index: Index| (!list.is_empty()).then(|| index.index(list.len()));
        match *step {
            Step::Pass(ms) => self.clock.advance(Duration::from_millis(ms)),
            Step::Lease { row, off } => {
                let identity = row.map_or(Identity::Any, Identity::Node);
                let block_bits = self.namespace.block_bits;
                let base = block_request(number, now + off, BOUNDS.max_window_ms);
                let asked = Acquire { block_bits, to: ROWS - 1, identity, owner, ..base };
                if let Ok(grant) = operations::acquire(&mut self.store, SPACE, &asked) {
                    self.broker.add(&grant, broker_now);
                    self.held.retain(|held| held.node != grant.node);
                    self.held.push(grant);
                }
            }
            Step::Renew { held, most, is_answered } => {
                let Some(index) = pick(&self.held, held) else { return };
                self.renew(index, most, is_answered);
            }
            Step::Release { held } => {
                let Some(index) = pick(&self.held, held) else { return };
                let grant = self.held.swap_remove(index);
                let last = self.broker.hand_over_last(grant.node, 1_000);
                let used_until = self.broker.lose(grant.node);
                let release = release(&grant, used_until);
                operations::release_block(&mut self.store, SPACE, &release, &last).unwrap();
            }
            Step::Crash => {
                self.broker = Blocks::new(&self.namespace, WINDOW_MS, TTL_MS).recorded();
                self.held.clear();
            }
            Step::Acquire { .. } if self.namespace.block_bits == 0 => {}
            Step::Acquire { off, ahead } => {
                let asked = Acquire { owner, ..request(number, now + off, WINDOW_MS) };
                let after = self.tick(now + off) + ahead;
                if let Ok(grant) = self.broker.acquire(&Acquire { after, ..asked }, broker_now) {
                    self.clients.push(grant);
                }
            }
            Step::Return { client, used } => {
                let Some(index) = pick(&self.clients, client) else { return };
                let grant = self.clients.swap_remove(index);
                let used_until = (grant.start + used).min(grant.fence);
                self.broker.release(&release(&grant, used_until), broker_now);
            }
            Step::Backup => self.copy = Some(self.store.backup()),
            Step::Restore => {
                if let Some(copy) = self.copy.clone() {
                    self.store.restore(copy);
                }
            }
            Step::Prune { ago, at, transactions } => {
                let all = (0..ROWS).flat_map(|row| self.entries(row).0);
                let acquired: Vec<_> = all.map(|record| record.acquired).collect();
                let before = match at {
                    Some(at) if !acquired.is_empty() => {
                        acquired[at.index(acquired.len())] + ago.rem_euclid(20)
                    }
                    _ => now - ago,
                };
                self.prune_in_part(before, transactions);
                self.prune(before);
            }
        }
    }

    fn renew(&mut self, index: usize, most: usize, is_answered: bool) {
        let (number, now) = (self.counter, self.clock.unix_ms());
        let grant = self.held[index];
        let handover = self.broker.hand_over(grant.node, now + self.skew, most);
        let wanted = self.tick(now) + BOUNDS.max_window_ms;
        let asked = renewal(&grant, number, wanted, now);
        let renewed =
            operations::renew_block(&mut self.store, SPACE, &asked, Instant::now(), &handover);
        match renewed {
            Ok((renewed, history_until)) if is_answered => {
                self.broker.raise(grant.node, renewed.fence);
                self.broker.confirm_history(grant.node, history_until);
                let fence = grant.fence.max(renewed.fence);
                self.held[index] = Grant { fence, token: asked.next, ..grant };
            }
            Ok(_) => {}
            Err(Fault::Refused(_)) => {
                self.broker.lose(grant.node);
                self.held.swap_remove(index);
            }
            Err(fault) => panic!("{fault:?}"),
        }
    }

    fn tick(&self, unix_ms: i64) -> u64 {
        self.namespace.layout.tick_at(unix_ms).unwrap()
    }

    /// Returns all records of a row and all sub-grants of its nodes.
    fn entries(&mut self, row: u64) -> (Vec<Record>, Vec<SubGrant>) {
        let (from, to) = self.nodes(row);
        let mut entries = (Vec::new(), Vec::new());
        let read = &mut |ledger: &mut dyn Ledger| {
            let records = ledger.oldest_records(row, usize::MAX)?;
            entries = (records, ledger.oldest_sub_grants(from, to, usize::MAX)?);
            Ok(())
        };
        self.store.transact(SPACE, read).unwrap();
        entries
    }

    /// Returns the first and the last node of a row.
    fn nodes(&self, row: u64) -> (u64, u64) {
        let bits = self.namespace.block_bits;
        (row << bits, ((row + 1) << bits) - 1)
    }

    /// Returns the holder of each node of a row at every tick at which the holder may change.
    fn holders(&mut self, row: u64, ticks: &BTreeSet<u64>) -> Vec<(u64, u64, Option<PastHolder>)> {
        let (from, to) = self.nodes(row);
        let all = (from..=to).flat_map(|node| ticks.iter().map(move |tick| (node, *tick)));
        let whois = |(node, tick)| {
            let found = operations::whois(&mut self.store, SPACE, node, tick).unwrap();
            (node, tick, found)
        };
        all.map(whois).collect()
    }

    /// Removes old grants until the store fails after a number of transactions.
    fn prune_in_part(&mut self, before: i64, transactions: u32) {
        let left = AtomicU32::new(transactions);
        let fail = move || {
            let spent = left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err();
            if spent { Err(Fault::Unavailable("the store failed".into())) } else { Ok(()) }
        };
        let mut failing = HookedStore::connect(&self.store, fail);
        self.compare(before, |_| {
            // The outcome is ignored, because the history may require fewer transactions.
            drop(operations::prune(&mut *failing, SPACE, before));
        });
    }

    /// Removes old grants, and checks that no other grant can be removed.
    fn prune(&mut self, before: i64) {
        let removed = self.pruned;
        let mut pruned = Pruned::default();
        self.compare(before, |history| {
            pruned = operations::prune(&mut history.store, SPACE, before).unwrap();
        });
        assert_eq!(pruned.records, self.pruned.records - removed.records);
        assert_eq!(pruned.sub_grants, self.pruned.sub_grants - removed.sub_grants);
        let rows = operations::list(&mut self.store, SPACE).unwrap().rows;
        for row in &rows {
            let (records, sub_grants) = self.entries(row.node);
            self.check_minimal(&records, &sub_grants, before);
        }
        let again = operations::prune(&mut self.store, SPACE, before).unwrap();
        assert_eq!(again, Pruned::default());
    }

    /// Calls a function that prunes the history, and compares the results of `whois` before and after.
    fn compare(&mut self, before: i64, prune: impl FnOnce(&mut Self)) {
        let rows = operations::list(&mut self.store, SPACE).unwrap().rows;
        let cut = self.tick(before);
        let mut ticks = BTreeSet::from([cut - 1, cut, cut + 1]);
        for row in &rows {
            let (records, sub_grants) = self.entries(row.node);
            self.pruned.records += records.len() as u64;
            self.pruned.sub_grants += sub_grants.len() as u64;
            let records = records.iter().flat_map(|record| [record.start, record.previous_until]);
            let starts = records.chain(sub_grants.iter().map(|sub| sub.start));
            let starts = starts.chain([row.fence, row.history_until]);
            ticks.extend(starts.flat_map(|tick| [tick.saturating_sub(1), tick, tick + 1]));
        }
        let answers: Vec<_> = rows.iter().map(|row| self.holders(row.node, &ticks)).collect();
        let firsts: Vec<_> =
            rows.iter().map(|row| self.entries(row.node).0.into_iter().next()).collect();
        prune(self);
        assert_eq!(operations::list(&mut self.store, SPACE).unwrap().rows, rows);
        for ((row, answers), first) in rows.iter().zip(answers).zip(firsts) {
            let (records, sub_grants) = self.entries(row.node);
            // By the instant `before`, the grant of the first remaining record had ended all removed grants.
            let is_new = records.first() != first.as_ref();
            assert!(!is_new || records[0].acquired < before && records[0].start <= cut);
            self.pruned.records -= records.len() as u64;
            self.pruned.sub_grants -= sub_grants.len() as u64;
            let first_record = records.first().map_or(u64::MAX, |record| record.start);
            let now = self.holders(row.node, &ticks);
            for ((node, tick, earlier), (.., now)) in answers.into_iter().zip(now) {
                let context = format!("node {node}, tick {tick}, cut {cut}");
                if tick < first_record {
                    assert_eq!(now, None, "{context}");
                    assert!(earlier.is_none() || tick < cut, "{context}: {earlier:?}");
                    continue;
                }
                if now == earlier {
                    continue;
                }
                // Only the broker's client may be missing from the result, and only for ticks before the node's first
                // remaining sub-grant.
                let (Some(earlier), Some(now)) = (earlier, now) else { panic!("{context}") };
                assert_eq!((&now.record, now.fence), (&earlier.record, earlier.fence), "{context}");
                assert_eq!(now.client, Some(Client::Unrecorded), "{context}");
                let first = sub_grants.iter().find(|sub| sub.node == node);
                assert!(first.is_some_and(|sub| tick < sub.start) && tick < cut, "{context}");
            }
        }
    }

    /// Checks that the oldest remaining entries of a row were still in force at the instant `before`, or began later.
    fn check_minimal(&self, records: &[Record], sub_grants: &[SubGrant], before: i64) {
        let is_after = |start: u64, acquired: i64| {
            acquired < before && self.namespace.layout.unix_ms_at(start) <= before
        };
        if let [_, second, ..] = records {
            assert!(!is_after(second.start, second.acquired), "{records:?}");
        }
        for of_node in sub_grants.chunk_by(|one, other| one.node == other.node) {
            assert!(of_node[0].block_grant >= records[0].grant, "{of_node:?}");
            if let [first, second, ..] = of_node
                && (first.block_grant, second.block_grant) == (records[0].grant, records[0].grant)
            {
                assert!(!is_after(second.start, second.acquired), "{of_node:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whois_never_returns_a_wrong_holder_after_pruning(
        block_bits in prop_oneof![Just(0), Just(1)],
        skew in -15..15_i64,
        steps in prop::collection::vec(step(), 1..200),
    ) {
        let mut history = History::new(block_bits, skew);
        for step in &steps {
            history.take(step);
        }
        history.prune(history.clock.unix_ms());
    }
}

/// Checks that pruning removes enough grants in random histories to make the property test meaningful.
#[test]
fn random_histories_contain_many_ended_grants() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let steps = prop::collection::vec(step(), 200);
    let mut pruned = Pruned::default();
    for _ in 0..40 {
        let mut history = History::new(1, 0);
        for step in steps.new_tree(&mut runner).unwrap().current() {
            history.take(&step);
        }
        pruned.records += history.pruned.records;
        pruned.sub_grants += history.pruned.sub_grants;
    }
    println!("{pruned:?}");
    assert!(pruned.records > 100 && pruned.sub_grants > 100, "{pruned:?}");
}

/// Checks that `prune` removes a long history in several transactions.
#[test]
fn prune_removes_histories_that_exceed_one_transaction() {
    const GRANTS: u64 = 1_203;
    let layout = Layout::builder().time(41).node(14).sequence(8).build().unwrap();
    let clock = ManualClock::new(NOW);
    let mut store = MemoryStore::on(clock.clone());
    let bounds = bounds(10_000, 20_000, 1_000, 15_000);
    let namespace = Namespace { block_bits: 7, bounds, ..Namespace::new(SPACE, layout) };
    operations::init(&mut store, &namespace).unwrap();
    let lease = |store: &mut MemoryStore, number: u64| {
        let now = clock.unix_ms();
        let base = block_request(number, now, 2_000);
        let asked = Acquire { layout, block_bits: 7, to: 7, identity: Identity::Node(1), ..base };
        operations::acquire(store, SPACE, &asked).unwrap()
    };
    for number in 1..=GRANTS {
        let grant = lease(&mut store, number);
        operations::release(&mut store, SPACE, &release(&grant, grant.start + 1)).unwrap();
        clock.advance(Duration::from_millis(2));
    }
    // The last holder of the block hands over sub-grants of 128 nodes. One of the nodes has more sub-grants than one
    // transaction reads.
    let last = lease(&mut store, GRANTS + 1);
    let sub = |node: u64, grant: u64| SubGrant {
        node,
        start: last.start + grant,
        block_grant: 0,
        grant,
        owner: Owner::default(),
        acquired: clock.unix_ms() + grant.cast_signed(),
    };
    let numbers = |node: u64| if node == 130 { 1..=1_300 } else { 1..=5 };
    let nodes = 128..256_u64;
    let all = nodes.clone().flat_map(|node| numbers(node).map(move |grant| sub(node, grant)));
    let handover = Handover { sub_grants: all.collect(), until: last.fence };
    let count = handover.sub_grants.len() as u64;
    // A renewal makes the history complete only up to `max_skew` after its own time.
    clock.advance(Duration::from_millis(1_400));
    let asked = renewal(&last, GRANTS + 2, last.fence + 1, clock.unix_ms());
    operations::renew_block(&mut store, SPACE, &asked, Instant::now(), &handover).unwrap();

    // Only the block's latest grant and the latest sub-grant of each node remain.
    clock.advance(Duration::from_secs(10));
    let pruned = operations::prune(&mut store, SPACE, clock.unix_ms()).unwrap();
    assert_eq!(pruned, Pruned { records: GRANTS, sub_grants: count - 128 });
    for node in nodes.clone() {
        let newest = *numbers(node).end();
        let found = operations::whois(&mut store, SPACE, node, last.start + newest).unwrap();
        let client = found.and_then(|found| found.client);
        assert!(
            matches!(client, Some(Client::Known { sub_grant, .. }) if sub_grant.grant == newest)
        );
    }

    // Once a grant of the block is no longer in the history, all sub-grants under that grant are removed, too.
    lease(&mut store, GRANTS + 3);
    clock.advance(Duration::from_secs(10));
    let pruned = operations::prune_older(&mut store, SPACE, 60_000).unwrap();
    assert_eq!(pruned, Pruned::default(), "no grant has ended that long ago");
    let pruned = operations::prune_older(&mut store, SPACE, 0).unwrap();
    assert_eq!(pruned, Pruned { records: 1, sub_grants: 128 });
    let found = operations::whois(&mut store, SPACE, 130, last.start + 1_300).unwrap();
    assert_eq!(found, None);
}
