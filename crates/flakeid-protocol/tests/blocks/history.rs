//! Tests with random histories of two brokers and their holders on one store. No tick of a node may be granted twice.

use std::collections::HashMap;
use std::time::Duration;

use flakeid_core::{Layout, ManualClock};
use flakeid_protocol::broker::Blocks;
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Grant, MemoryContents, MemoryStore, Namespace, operations};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::requests::{NOW, SPACE, block_request, bounds, namespace, release, renewal, request};

const BLOCK_WINDOW_MS: u64 = 300;
const WINDOW_MS: u64 = 100;
const TTL_MS: u64 = 200;

#[derive(Clone, Debug)]
enum Step {
    Pass(u64),
    /// A broker leases another block.
    Lease {
        broker: usize,
    },
    /// A broker renews a block. The response is lost unless `is_answered` is `true`.
    Renew {
        broker: usize,
        block: Index,
        is_answered: bool,
    },
    ReleaseBlock {
        broker: usize,
        block: Index,
    },
    /// A broker process is killed and restarted.
    Crash {
        broker: usize,
    },
    /// A holder requests a node. The holder's clock is wrong by `off` milliseconds, and the grant must start at least
    /// `after` ticks after the current tick.
    Acquire {
        broker: usize,
        off: i64,
        window: u64,
        after: u64,
    },
    /// A holder requests a fence that is `more` ticks above its current fence.
    Extend {
        holder: Index,
        more: u64,
        off: i64,
    },
    /// A holder releases its node after `used` ticks.
    Release {
        holder: Index,
        used: u64,
    },
    Backup,
    Restore,
}

fn step() -> impl Strategy<Value = Step> {
    let broker = || 0..2_usize;
    let index = any::<Index>;
    prop_oneof![
        4 => (0..400_u64).prop_map(Step::Pass),
        4 => broker().prop_map(|broker| Step::Lease { broker }),
        6 => (broker(), index(), prop::bool::weighted(0.8))
            .prop_map(|(broker, block, is_answered)| Step::Renew { broker, block, is_answered }),
        2 => (broker(), index()).prop_map(|(broker, block)| Step::ReleaseBlock { broker, block }),
        1 => broker().prop_map(|broker| Step::Crash { broker }),
        8 => (broker(), -20..20_i64, 2..400_u64, 0..300_u64)
            .prop_map(|(broker, off, window, after)| Step::Acquire { broker, off, window, after }),
        8 => (index(), 1..400_u64, -20..20_i64)
            .prop_map(|(holder, more, off)| Step::Extend { holder, more, off }),
        3 => (index(), 0..150_u64).prop_map(|(holder, used)| Step::Release { holder, used }),
        1 => Just(Step::Backup),
        1 => Just(Step::Restore),
    ]
}

/// A broker, and the store's grants of blocks to this broker.
struct Broker {
    blocks: Blocks,
    grants: Vec<Grant>,
}

/// A holder's grant, and the index of the broker that made the grant.
#[derive(Clone, Copy)]
struct Holder {
    broker: usize,
    grant: Grant,
}

struct History {
    clock: ManualClock,
    store: MemoryStore,
    copy: Option<MemoryContents>,
    brokers: [Broker; 2],
    holders: Vec<Holder>,
    /// The windows of each node. Each window consists of the holder's number, the first tick and the fence.
    windows: HashMap<u64, Vec<(usize, u64, u64)>>,
    counter: u64,
    /// The total number of granted windows.
    granted: usize,
}

impl History {
    fn new() -> Self {
        let clock = ManualClock::new(NOW);
        let mut store = MemoryStore::on(clock.clone());
        let bounds = bounds(BLOCK_WINDOW_MS, 500, 20, 400);
        operations::init(&mut store, &Namespace { bounds, ..namespace() }).unwrap();
        let broker = || Broker { blocks: Self::blocks(), grants: Vec::new() };
        Self {
            clock,
            store,
            copy: None,
            brokers: [broker(), broker()],
            holders: Vec::new(),
            windows: HashMap::new(),
            counter: 0,
            granted: 0,
        }
    }

    fn blocks() -> Blocks {
        let bounds = bounds(BLOCK_WINDOW_MS, 500, 20, 400);
        Blocks::new(&Namespace { bounds, ..namespace() }, WINDOW_MS, TTL_MS)
    }

    fn now(&self) -> i64 {
        use flakeid_core::Clock;
        self.clock.unix_ms()
    }

    fn tick(&self) -> u64 {
        Layout::TWITTER.tick_at(self.now()).unwrap()
    }

    fn fresh(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// Records a holder's window, and checks that no other holder's window overlaps it.
    fn record(&mut self, holder: usize, grant: &Grant) {
        let windows = self.windows.entry(grant.node).or_default();
        for &(other, start, fence) in windows.iter().filter(|(other, ..)| *other != holder) {
            assert!(
                grant.fence <= start || fence <= grant.start,
                "holder {holder} has {} to {} of node {}, and holder {other} {start} to {fence}",
                grant.start,
                grant.fence,
                grant.node
            );
        }
        windows.retain(|(other, ..)| *other != holder);
        windows.push((holder, grant.start, grant.fence));
        self.granted += 1;
    }

    fn take(&mut self, step: &Step) {
        let number = self.fresh();
        let (now, tick) = (self.now(), self.tick());
        match *step {
            Step::Pass(ms) => self.clock.advance(Duration::from_millis(ms)),
            Step::Lease { broker } => {
                let asked = block_request(number, now, BLOCK_WINDOW_MS);
                if let Ok(grant) = operations::acquire(&mut self.store, SPACE, &asked) {
                    self.brokers[broker].blocks.add(&grant, now);
                    self.brokers[broker].grants.push(grant);
                }
            }
            Step::Renew { broker, block, is_answered } => {
                let Broker { blocks, grants } = &mut self.brokers[broker];
                if grants.is_empty() {
                    return;
                }
                let index = block.index(grants.len());
                let asked = renewal(&grants[index], number, tick + BLOCK_WINDOW_MS, now);
                match operations::renew(&mut self.store, SPACE, &asked) {
                    Ok(renewed) if is_answered => {
                        blocks.raise(grants[index].node, renewed.fence);
                        grants[index].fence = grants[index].fence.max(renewed.fence);
                        grants[index].token = asked.next;
                    }
                    // The response is lost. The next renewal will therefore contain an old token, and the broker will
                    // lose the block.
                    Ok(_) => {}
                    Err(Fault::Refused(_)) => {
                        blocks.lose(grants[index].node);
                        grants.swap_remove(index);
                    }
                    Err(fault) => panic!("{fault:?}"),
                }
            }
            Step::ReleaseBlock { broker, block } => {
                let Broker { blocks, grants } = &mut self.brokers[broker];
                if !grants.is_empty() {
                    let grant = grants.swap_remove(block.index(grants.len()));
                    let used_until = blocks.lose(grant.node);
                    operations::release(&mut self.store, SPACE, &release(&grant, used_until))
                        .unwrap();
                }
            }
            Step::Crash { broker } => {
                self.brokers[broker] = Broker { blocks: Self::blocks(), grants: Vec::new() };
            }
            Step::Acquire { broker, off, window, after } => {
                let mut asked = request(number, now + off, window);
                asked.after = tick + after;
                if let Ok(grant) = self.brokers[broker].blocks.acquire(&asked, now) {
                    self.holders.push(Holder { broker, grant });
                    self.record(self.holders.len() - 1, &grant);
                }
            }
            Step::Extend { holder, more, off } => {
                if self.holders.is_empty() {
                    return;
                }
                let index = holder.index(self.holders.len());
                let Holder { broker, grant } = self.holders[index];
                let asked = renewal(&grant, number, grant.fence + more, now + off);
                if let Ok(renewed) = self.brokers[broker].blocks.renew(&asked, now) {
                    let grant = Grant { fence: renewed.fence, token: asked.next, ..grant };
                    self.holders[index].grant = grant;
                    self.record(index, &grant);
                }
            }
            Step::Release { holder, used } => {
                if self.holders.is_empty() {
                    return;
                }
                let index = holder.index(self.holders.len());
                let Holder { broker, grant } = self.holders[index];
                let used_until = (grant.start + used).min(grant.fence);
                self.brokers[broker].blocks.release(&release(&grant, used_until), now);
                // After the release, the holder issues no IDs at or above this fence.
                let grant = Grant { fence: used_until, ..grant };
                self.holders[index].grant = grant;
                self.record(index, &grant);
            }
            Step::Backup => self.copy = Some(self.store.backup()),
            Step::Restore => {
                if let Some(copy) = self.copy.clone() {
                    self.store.restore(copy);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn brokers_never_grant_a_tick_twice(steps in prop::collection::vec(step(), 1..150)) {
        let mut history = History::new();
        for step in &steps {
            history.take(step);
        }
    }
}

/// Checks that random histories contain enough granted windows to make the test meaningful.
#[test]
fn random_histories_contain_many_granted_windows() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let steps = prop::collection::vec(step(), 150);
    let granted = (0..20).map(|_| {
        let mut history = History::new();
        for step in steps.new_tree(&mut runner).unwrap().current() {
            history.take(&step);
        }
        history.granted
    });
    let granted: usize = granted.sum();
    assert!(granted > 200, "{granted} windows in 20 histories");
}
