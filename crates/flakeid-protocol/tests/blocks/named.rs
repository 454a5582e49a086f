//! Tests with random histories of two brokers on one store. `whois` must never return the wrong client.

use std::time::{Duration, Instant};

use flakeid_core::{Clock, Layout, ManualClock};
use flakeid_protocol::broker::Blocks;
use flakeid_protocol::store::Fault;
use flakeid_protocol::{
    Acquire, Client, Grant, Handover, MemoryContents, MemoryStore, Namespace, Owner, Renew,
    operations,
};
use proptest::prelude::*;

use crate::requests::{NOW, SPACE, block_request, bounds, namespace, release, renewal, request};

const BLOCK_WINDOW_MS: u64 = 300;
const WINDOW_MS: u64 = 100;

#[derive(Clone, Debug)]
enum Step {
    Pass(u64),
    Lease {
        broker: usize,
    },
    /// A broker renews a block. If the response is lost, the next renewal repeats the same request.
    Renew {
        broker: usize,
        block: usize,
        is_answered: bool,
        most: usize,
    },
    ReleaseBlock {
        broker: usize,
        block: usize,
        most: usize,
    },
    Crash {
        broker: usize,
    },
    /// Clients request nodes one after another. Every client except the last client releases its node immediately.
    Acquire {
        broker: usize,
        times: usize,
        late: u64,
        used: u64,
    },
    Extend {
        holder: usize,
        more: u64,
    },
    Release {
        holder: usize,
        used: u64,
    },
    Backup,
    Restore,
    /// Grants that ended at least the given number of milliseconds ago are pruned from the history.
    Prune(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let broker = || 0..2_usize;
    let index = any::<usize>;
    let most = prop_oneof![4 => Just(256_usize), 1 => 0..3_usize];
    let times = prop_oneof![8 => Just(1_usize), 2 => 2..6_usize, 1 => 260..600_usize];
    prop_oneof![
        4 => (0..200_u64).prop_map(Step::Pass),
        3 => broker().prop_map(|broker| Step::Lease { broker }),
        8 => (broker(), index(), prop::bool::weighted(0.7), most)
            .prop_map(|(broker, block, is_answered, most)| Step::Renew { broker, block, is_answered, most }),
        1 => (broker(), index(), 0..400_usize)
            .prop_map(|(broker, block, most)| Step::ReleaseBlock { broker, block, most }),
        1 => broker().prop_map(|broker| Step::Crash { broker }),
        8 => (broker(), times, 0..500_u64, 0..3_u64)
            .prop_map(|(broker, times, late, used)| Step::Acquire { broker, times, late, used }),
        4 => (index(), 1..300_u64).prop_map(|(holder, more)| Step::Extend { holder, more }),
        3 => (index(), 0..150_u64).prop_map(|(holder, used)| Step::Release { holder, used }),
        1 => Just(Step::Backup),
        1 => Just(Step::Restore),
        1 => (0..1_000_i64).prop_map(Step::Prune),
    ]
}

/// A broker's grant of a block, and the renewal that still awaits a response.
struct Held {
    grant: Grant,
    sent: Option<Renew>,
}

struct Broker {
    blocks: Blocks,
    held: Vec<Held>,
}

struct Holder {
    broker: usize,
    grant: Grant,
    /// The first tick after all ticks that the holder may have used.
    end: u64,
}

struct History {
    clock: ManualClock,
    store: MemoryStore,
    copy: Option<MemoryContents>,
    brokers: [Broker; 2],
    holders: Vec<Holder>,
    counter: u64,
    /// The number of ticks for which `whois` returned a client.
    named: usize,
    /// The number of ticks for which `whois` returned no client.
    unnamed: usize,
}

impl History {
    fn new() -> Self {
        let clock = ManualClock::new(NOW);
        let mut store = MemoryStore::on(clock.clone());
        operations::init(&mut store, &Self::space()).unwrap();
        let broker = || Broker { blocks: Self::blocks(), held: Vec::new() };
        Self {
            clock,
            store,
            copy: None,
            brokers: [broker(), broker()],
            holders: Vec::new(),
            counter: 0,
            named: 0,
            unnamed: 0,
        }
    }

    fn space() -> Namespace {
        Namespace { bounds: bounds(BLOCK_WINDOW_MS, 500, 20, 400), ..namespace() }
    }

    fn blocks() -> Blocks {
        Blocks::new(&Self::space(), WINDOW_MS, 200).recorded()
    }

    fn now(&self) -> i64 {
        self.clock.unix_ms()
    }

    fn fresh(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    fn take(&mut self, step: &Step) {
        let now = self.now();
        match *step {
            Step::Pass(ms) => self.clock.advance(Duration::from_millis(ms)),
            Step::Lease { broker } => {
                let asked = block_request(self.fresh(), now, BLOCK_WINDOW_MS);
                if let Ok(grant) = operations::acquire(&mut self.store, SPACE, &asked) {
                    self.brokers[broker].blocks.add(&grant, now);
                    self.brokers[broker].held.retain(|held| held.grant.node != grant.node);
                    self.brokers[broker].held.push(Held { grant, sent: None });
                }
            }
            Step::Renew { broker, block, is_answered, most } => {
                self.renew(broker, block, is_answered, most);
            }
            Step::ReleaseBlock { broker, block, most } => {
                let Broker { blocks, held } = &mut self.brokers[broker];
                if !held.is_empty() {
                    let Held { grant, sent } = held.swap_remove(block % held.len());
                    let last = blocks.hand_over_last(grant.node, most);
                    let used_until = blocks.lose(grant.node);
                    let token = sent.map_or(grant.token, |sent| sent.next);
                    let release = release(&Grant { token, ..grant }, used_until);
                    operations::release_block(&mut self.store, SPACE, &release, &last).unwrap();
                }
            }
            Step::Crash { broker } => {
                self.brokers[broker] = Broker { blocks: Self::blocks(), held: Vec::new() };
            }
            Step::Acquire { broker, times, late, used } => {
                for left in (0..times).rev() {
                    self.acquire(broker, late, (left > 0).then_some(used));
                }
            }
            Step::Extend { holder, more } => {
                let number = self.fresh();
                if self.holders.is_empty() {
                    return;
                }
                let index = holder % self.holders.len();
                let Holder { broker, grant, end } = &mut self.holders[index];
                let asked = renewal(grant, number, grant.fence + more, now);
                if let Ok(renewed) = self.brokers[*broker].blocks.renew(&asked, now) {
                    *grant = Grant { fence: renewed.fence, token: asked.next, ..*grant };
                    *end = renewed.fence;
                }
            }
            Step::Release { holder, used } => {
                if !self.holders.is_empty() {
                    self.release(holder % self.holders.len(), used);
                }
            }
            Step::Backup => self.copy = Some(self.store.backup()),
            Step::Restore => {
                if let Some(copy) = self.copy.clone() {
                    self.store.restore(copy);
                }
            }
            Step::Prune(ago) => {
                operations::prune(&mut self.store, SPACE, now - ago).unwrap();
            }
        }
    }

    fn renew(&mut self, broker: usize, block: usize, is_answered: bool, most: usize) {
        let (number, now) = (self.fresh(), self.now());
        let Broker { blocks, held } = &mut self.brokers[broker];
        if held.is_empty() {
            return;
        }
        let index = block % held.len();
        let Held { grant, sent } = &mut held[index];
        let tick = Layout::TWITTER.tick_at(now).unwrap();
        let asked = match sent {
            Some(sent) => Renew { now, ..*sent },
            None => renewal(grant, number, tick + BLOCK_WINDOW_MS, now),
        };
        *sent = Some(asked);
        let handover: Handover = blocks.hand_over(grant.node, now, most);
        let read = Instant::now();
        match operations::renew_block(&mut self.store, SPACE, &asked, read, &handover) {
            Ok((renewed, until)) if is_answered => {
                blocks.raise(grant.node, renewed.fence);
                blocks.confirm_history(grant.node, until);
                grant.fence = grant.fence.max(renewed.fence);
                (grant.token, *sent) = (asked.next, None);
            }
            Ok(_) => {}
            Err(Fault::Refused(_)) => {
                blocks.lose(grant.node);
                held.swap_remove(index);
            }
            Err(fault) => panic!("{fault:?}"),
        }
    }

    /// Acquires a node for a client that read its clock `late` milliseconds ago. If `used` is given, the client then
    /// uses that number of ticks and releases the node.
    fn acquire(&mut self, broker: usize, late: u64, used: Option<u64>) {
        let (number, now) = (self.fresh(), self.now());
        let pid = self.holders.len() as u32;
        let owner = Owner { pid, ..Owner::default() };
        let now_then = now - late.cast_signed();
        let asked = Acquire { owner, waited_ms: late, ..request(number, now_then, WINDOW_MS) };
        if let Ok(grant) = self.brokers[broker].blocks.acquire(&asked, now) {
            self.holders.push(Holder { broker, grant, end: grant.fence });
            if let Some(used) = used {
                self.release(self.holders.len() - 1, used);
            }
        }
    }

    fn release(&mut self, index: usize, used: u64) {
        let now = self.now();
        let Holder { broker, grant, end } = &mut self.holders[index];
        let used_until = (grant.start + used).min(*end);
        self.brokers[*broker].blocks.release(&release(grant, used_until), now);
        *end = used_until;
    }

    /// Checks the first and the last tick of each holder. For both ticks, `whois` must return either the right client
    /// or no client.
    fn check(&mut self) {
        for (pid, holder) in self.holders.iter().enumerate() {
            let Holder { grant, end, .. } = holder;
            for tick in [grant.start, end.saturating_sub(1)] {
                if !(grant.start..*end).contains(&tick) {
                    continue;
                }
                let found = operations::whois(&mut self.store, SPACE, grant.node, tick).unwrap();
                match found.and_then(|found| found.client) {
                    Some(Client::Known { sub_grant, fence }) => {
                        assert_eq!(sub_grant.owner.pid as usize, pid, "tick {tick} of {grant:?}");
                        assert!(fence > tick && sub_grant.start == grant.start);
                        self.named += 1;
                    }
                    Some(Client::Nobody) => {
                        panic!("tick {tick} of {grant:?} is reported as unused")
                    }
                    // The store may not have received the record of the grant yet, may have lost the record in a
                    // restore, or may have pruned it.
                    Some(Client::Unrecorded) | None => self.unnamed += 1,
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn whois_never_returns_the_wrong_client(steps in prop::collection::vec(step(), 1..100)) {
        let mut history = History::new();
        for (number, step) in steps.iter().enumerate() {
            history.take(step);
            if number % 10 == 0 {
                history.check();
            }
        }
        history.check();
    }
}

/// Checks a broker whose store is restored from a copy that was saved before an earlier handover. The response that
/// would reveal the restore is lost, so the broker does not detect the restore. The last handover must therefore not
/// mark the history as complete.
#[test]
fn last_handover_after_an_undetected_restore_leaves_history_incomplete() {
    let renew = |is_answered| Step::Renew { broker: 0, block: 0, is_answered, most: 256 };
    let acquire = Step::Acquire { broker: 0, times: 1, late: 0, used: 0 };
    let mut history = History::new();
    for step in [
        Step::Lease { broker: 0 },
        renew(true),
        Step::Backup,
        acquire.clone(),
        acquire,
        renew(true),
        Step::Pass(21),
        Step::Restore,
        renew(false),
        Step::ReleaseBlock { broker: 0, block: 0, most: 256 },
    ] {
        history.take(&step);
        history.check();
    }
    assert!(history.unnamed > 0, "no tick was checked");
}

/// Checks that random histories contain many ticks with a known client and many ticks without a known client.
#[test]
fn random_histories_contain_ticks_of_known_and_unknown_clients() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let steps = prop::collection::vec(step(), 100);
    let (mut named, mut unnamed) = (0, 0);
    for _ in 0..20 {
        let mut history = History::new();
        for step in steps.new_tree(&mut runner).unwrap().current() {
            history.take(&step);
        }
        history.check();
        named += history.named;
        unnamed += history.unnamed;
    }
    println!("{named} ticks with a client, {unnamed} without");
    assert!(named > 500 && unnamed > 500, "{named} ticks with a client, {unnamed} without");
}

/// Checks that the broker hands over its grants again after each restore, even if the store has reported an
/// incomplete history since the first restore.
#[test]
fn broker_hands_over_sub_grants_again_after_each_restore() {
    let renew = || Step::Renew { broker: 0, block: 0, is_answered: true, most: 256 };
    let mut history = History::new();
    for step in [
        Step::Lease { broker: 0 },
        Step::Backup,
        Step::Acquire { broker: 0, times: 1, late: 0, used: 0 },
        Step::Pass(21),
        renew(),
        Step::Restore,
        renew(),
        Step::Restore,
        renew(),
        Step::Restore,
        renew(),
        renew(),
    ] {
        history.take(&step);
        history.check();
    }
    assert!(history.named > 0, "the store must have the grant in the end");
}
