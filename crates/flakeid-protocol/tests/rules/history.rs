//! A namespace that undergoes random operations, and the set of all ticks that were granted in the namespace.

use std::collections::{HashMap, HashSet};

use flakeid_core::{Layout, ManualClock};
use flakeid_protocol::store::{Continuity, Fault};
use flakeid_protocol::{
    Acquire, Bounds, Grant, Identity, MemoryStore, Namespace, Owner, Release, Renew, Row, State,
    Token, operations,
};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::{EPOCH, SPACE, check_error};

const NODES: u64 = 3;

#[derive(Clone, Debug)]
pub enum Step {
    /// The store's clock advances by the given number of quarter ticks.
    Pass(u64),
    /// A client acquires a node. `off` is the error of the client's clock in quarter ticks, and `window` is the
    /// length of the window in ticks.
    Acquire {
        identity: Identity,
        off: i64,
        window: u64,
        after: u64,
    },
    /// A holder renews its grant up to `more` ticks above its fence, or repeats its last renewal.
    Renew {
        holder: Index,
        more: u64,
        again: bool,
    },
    /// A holder releases its node after `used` ticks.
    Release {
        holder: Index,
        used: u64,
    },
    Repair {
        node: u64,
        repair: operations::Repair,
    },
    Backup,
    Restore,
    /// The store loses all data, and the namespace is recreated with the given bounds, in ticks.
    Lose(Bounds),
}

pub fn step() -> impl Strategy<Value = Step> {
    let identity = prop_oneof![
        Just(Identity::Any),
        Just(Identity::Name("worker".into())),
        (0..NODES).prop_map(Identity::Node),
    ];
    let repair = prop_oneof![
        Just(operations::Repair::Release),
        Just(operations::Repair::Quarantine),
        Just(operations::Repair::Lift),
    ];
    prop_oneof![
        4 => (0u64..40).prop_map(Step::Pass),
        4 => (identity, -6i64..7, 1u64..8, 0u64..30).prop_map(|(identity, off, window, after)| {
            Step::Acquire { identity, off, window, after }
        }),
        6 => (any::<Index>(), 0u64..9, any::<bool>())
            .prop_map(|(holder, more, again)| Step::Renew { holder, more, again }),
        2 => (any::<Index>(), 0u64..8).prop_map(|(holder, used)| Step::Release { holder, used }),
        1 => (0..NODES, repair).prop_map(|(node, repair)| Step::Repair { node, repair }),
        1 => Just(Step::Backup),
        1 => Just(Step::Restore),
        1 => (2u64..20, 0u64..20, 1u64..6).prop_map(|(max_window_ms, max_ahead_ms, max_skew_ms)| {
            Step::Lose(Bounds { max_window_ms, max_ahead_ms, max_skew_ms, quiet_ms: 0 })
        }),
    ]
}

pub fn units() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1u64), Just(10), Just(1000), Just(7000), Just(3_600_000)]
}

type Restoration = Box<dyn Fn(&MemoryStore)>;

/// A namespace under test, with a record of all its grants.
pub struct History {
    store: MemoryStore,
    clock: ManualClock,
    unit: u64,
    bounds: Bounds,
    /// The largest value that each bound of the namespace has had so far.
    widest: Bounds,
    layout: Layout,
    tokens: u128,
    /// Every grant, with the token and the fence of its last renewal.
    holders: Vec<Grant>,
    /// The last renewal of each holder.
    renewals: HashMap<usize, Renew>,
    /// The holder of each granted tick, by node and tick.
    owners: HashMap<(u64, u64), usize>,
    /// The holders that have released their nodes.
    closed: HashSet<usize>,
    /// A function that restores the saved copy of the namespace, or `None` if no copy is saved.
    backup: Option<Restoration>,
}

impl History {
    pub fn new(unit: u64) -> Self {
        let layout =
            Layout::builder().time(40).node(2).sequence(8).epoch(EPOCH).unit_ms(unit).build();
        let layout = layout.unwrap();
        let bounds = Bounds {
            max_window_ms: 5 * unit,
            max_ahead_ms: 6 * unit,
            max_skew_ms: unit,
            quiet_ms: 9 * unit,
        };
        let clock = ManualClock::new(EPOCH + 100);
        let mut store = MemoryStore::on(clock.clone());
        let namespace = Namespace { bounds, ..Namespace::new(SPACE, layout) };
        operations::init(&mut store, &namespace).unwrap();
        Self {
            store,
            clock,
            unit,
            bounds,
            widest: bounds,
            layout,
            tokens: 0,
            holders: Vec::new(),
            renewals: HashMap::new(),
            owners: HashMap::new(),
            closed: HashSet::new(),
            backup: None,
        }
    }

    fn fresh(&mut self) -> Token {
        self.tokens += 1;
        // As with random tokens, any two of these tokens differ in both halves.
        Token::from_bits(self.tokens << 64 | self.tokens)
    }

    /// Whether a row belongs to the namespace's current incarnation.
    fn is_current(&mut self, row: &Row) -> bool {
        let listing = operations::list(&mut self.store, SPACE).unwrap();
        listing.namespace.incarnation == row.incarnation && listing.continuity == Continuity::Same
    }

    fn rows(&mut self) -> HashMap<u64, Row> {
        let listing = operations::list(&mut self.store, SPACE).unwrap();
        listing.rows.into_iter().map(|row| (row.node, row)).collect()
    }

    fn floor(&mut self) -> u64 {
        operations::list(&mut self.store, SPACE).unwrap().namespace.floor
    }

    fn own(&mut self, node: u64, ticks: std::ops::Range<u64>, holder: usize) {
        for tick in ticks {
            let before = self.owners.insert((node, tick), holder);
            assert!(before.is_none_or(|other| other == holder), "tick {tick} granted twice (I1)");
        }
    }

    pub fn take(&mut self, step: &Step) {
        let before = self.rows();
        let now = flakeid_core::Clock::unix_ms(&self.clock);
        let mut releases = None;
        match step {
            Step::Pass(quarters) => self.clock.set(now + (quarters * self.unit).div_ceil(4) as i64),
            Step::Acquire { identity, off, window, after } => {
                let request = Acquire {
                    identity: identity.clone(),
                    to: NODES - 1,
                    window_ms: window * self.unit,
                    ttl_ms: 3 * self.unit,
                    after: *after,
                    owner: Owner { name: "worker".into(), ..Owner::default() },
                    ..Acquire::any_node(self.layout, self.fresh(), now + off * self.unit as i64 / 4)
                };
                let floor = self.floor();
                match operations::acquire(&mut self.store, SPACE, &request) {
                    Ok(grant) => {
                        let old = before.get(&grant.node);
                        let fence = old.map_or(0, |row| row.fence);
                        assert!(grant.start >= fence.max(floor).max(*after), "I4");
                        assert!(old.is_none_or(|row| row.state != State::Quarantined), "I10");
                        assert!(grant.fence >= grant.start + 2);
                        self.holders.push(grant);
                        self.own(grant.node, grant.start..grant.fence, self.holders.len() - 1);
                    }
                    Err(fault) => self.refused(&fault),
                }
            }
            Step::Renew { holder, more, again } => {
                let Some(holder) = self.pick(*holder) else { return };
                self.renew(&before, holder, *more, *again);
            }
            Step::Release { holder, used } => {
                let Some(holder) = self.pick(*holder) else { return };
                let Grant { node, token, start, fence, .. } = self.holders[holder];
                let used_until = (start + used).min(fence);
                let release = Release { node, token, used_until };
                self.closed.insert(holder);
                operations::release(&mut self.store, SPACE, &release).unwrap();
                releases = Some((node, token));
                if let Some(row) = self.rows().get(&node).filter(|row| **row != before[&node]) {
                    assert!(
                        row.fence >= start.max(used_until),
                        "the fence fell below the used ticks"
                    );
                    assert_eq!(row.token, None);
                    let back = row.fence;
                    self.owners
                        .retain(|(of, tick), own| *of != node || *own != holder || *tick < back);
                    self.holders[holder].fence = back;
                }
            }
            Step::Repair { node, repair } => {
                operations::repair(&mut self.store, SPACE, *node, *repair).unwrap();
            }
            Step::Backup => {
                let copy = self.store.backup();
                self.backup = Some(Box::new(move |store| store.restore(copy.clone())));
            }
            Step::Restore => {
                if let Some(restore) = &self.backup {
                    restore(&self.store);
                    // A restore may lower fences, so the rows are not compared until the next step.
                    return;
                }
            }
            Step::Lose(ticks) => return self.lose(*ticks),
        }
        self.compare(&before, releases);
    }

    /// Renews a holder's grant up to `more` ticks above its fence, or repeats its last renewal.
    fn renew(&mut self, before: &HashMap<u64, Row>, holder: usize, more: u64, again: bool) {
        let grant = self.holders[holder];
        let fresh = Renew {
            node: grant.node,
            start: grant.start,
            token: grant.token,
            next: self.fresh().of_grant(grant.token),
            confirmed: grant.fence,
            wanted: grant.fence + more,
            ttl_ms: 9 * self.unit,
            now: flakeid_core::Clock::unix_ms(&self.clock),
            waited_ms: 0,
        };
        let old = self.renewals.get(&holder).copied();
        let renew = old.filter(|_| again).unwrap_or(fresh);
        let was_current = before.get(&grant.node).is_some_and(|row| self.is_current(row));
        match operations::renew(&mut self.store, SPACE, &renew) {
            Ok(answer) => {
                let row = &before[&grant.node];
                let kept = row.token.expect("the row is held");
                let applied = kept == renew.next && was_current;
                let continues = !was_current && kept.is_same_grant(renew.token);
                assert!(applied || continues || kept == renew.token, "I7");
                // A holder that continues after a restore may repeat an old renewal. The returned fence may then be
                // lower than the holder's fence, because more ticks were confirmed after that renewal.
                assert!(answer.fence >= grant.fence || continues && again);
                self.holders[holder].fence = answer.fence.max(grant.fence);
                self.holders[holder].token = renew.next;
                self.renewals.insert(holder, renew);
                // A holder issues no IDs after it releases its node, even if a late renewal is confirmed.
                if !self.closed.contains(&holder) {
                    self.own(grant.node, grant.start..answer.fence, holder);
                }
                // Repeating the same renewal returns the same response and does not change the rows.
                let rows = self.rows();
                let twice = operations::renew(&mut self.store, SPACE, &renew);
                assert_eq!(twice, Ok(answer));
                assert_eq!(self.rows(), rows);
                assert!(!applied || rows == *before);
            }
            Err(fault) => self.refused(&fault),
        }
    }

    fn lose(&mut self, ticks: Bounds) {
        let bounds = Bounds {
            max_window_ms: ticks.max_window_ms * self.unit,
            max_ahead_ms: ticks.max_ahead_ms * self.unit,
            max_skew_ms: ticks.max_skew_ms * self.unit,
            quiet_ms: 0,
        };
        let bounds = Bounds { quiet_ms: bounds.least_quiet_ms(&self.layout), ..bounds };
        self.store.restore(MemoryStore::new().backup());
        let wanted = Namespace { bounds, ..Namespace::new(SPACE, self.layout) };
        operations::create(&mut self.store, &wanted, Some(&self.widest)).unwrap();
        // The saved copy of the old namespace is dropped, because restoring the copy would also restore the old
        // bounds.
        (self.bounds, self.backup) = (bounds, None);
        self.widest = self.widest.fieldwise_max(&bounds);
    }

    fn pick(&self, holder: Index) -> Option<usize> {
        (!self.holders.is_empty()).then(|| holder.index(self.holders.len()))
    }

    fn refused(&self, fault: &Fault) {
        let Fault::Refused(refusal) = fault else { panic!("{fault:?}") };
        check_error(&refusal.to_error(SPACE, &self.layout), refusal);
    }

    fn compare(&mut self, before: &HashMap<u64, Row>, releases: Option<(u64, Token)>) {
        let now = flakeid_core::Clock::unix_ms(&self.clock);
        let latest = self.layout.tick_at(now + self.bounds.max_skew_ms as i64).unwrap();
        for (node, row) in self.rows() {
            assert!(row.start <= row.fence);
            let ticks = |ms: u64| ms.div_ceil(self.unit);
            let reach = ticks(self.bounds.max_window_ms) + ticks(self.bounds.max_ahead_ms);
            assert!(row.fence <= latest + reach + 1, "I9");
            if let Some(old) = before.get(&node).filter(|old| old.fence > row.fence) {
                assert_eq!(releases, old.token.map(|token| (node, token)), "I3");
            }
        }
        assert!(before.keys().all(|node| self.rows().contains_key(node)), "a row is missing");
    }
}
