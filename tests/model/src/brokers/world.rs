//! The state of the store, the brokers and the members, and the actions that change it.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use flakeid_protocol::broker::Blocks;
use flakeid_protocol::{Namespace, Token};

use super::actors::{Arrival, Broker, Cell, Member, Outcome, Request};
use crate::invariant::Invariant;
use crate::message::tokens_of;
use crate::scenario::{Event, Mutant, Scenario};
use crate::search;
use crate::store::{self, Contents, LAYOUT, NAMESPACE, run_and_proofs};

/// The length of a node's window in ticks.
pub const WINDOW: u64 = 2;
/// The time for which a node stays held without a renewal.
pub const TTL: u64 = 1;

#[derive(Clone)]
pub struct World {
    /// The reading of the store's clock.
    pub time: i64,
    /// The number of times that the store was restored.
    pub run: u8,
    pub contents: Contents,
    pub copy: Option<Contents>,
    pub brokers: [Arc<Broker>; 2],
    pub members: [Member; 2],
    /// A request that reaches a broker again or late.
    pub stray: Option<Request>,
    /// The tick, the node and the issuing member of one ID, which represents the set of all issued IDs.
    pub watched: Option<(u64, u64, usize)>,
    /// The highest fence that a broker granted in each block.
    pub highest: Vec<u64>,
    /// The number of accidents that may still happen.
    pub accidents: u8,
    pub broken: Option<Invariant>,
    /// The view by which the model distinguishes this world: all values that later steps can depend on.
    pub view: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Tick { time: i64 },
    // A broker's thread sends the request that is due. A keeper without a block requests `block`.
    Wake { broker: usize, slot: usize, block: u64, clock: i64, outcome: Outcome },
    // A broker's thread renews all blocks whose renewals are due, in one transaction.
    RenewTogether { broker: usize, clock: i64, outcome: Outcome },
    Deliver { broker: usize, message: usize, block: u64 },
    Receive { broker: usize, message: usize },
    LoseMessage { broker: usize, message: usize },
    TimeOut { broker: usize, slot: usize },
    ReleaseBlock { broker: usize, slot: usize, outcome: Outcome },
    // A broker is killed and restarted.
    Kill { broker: usize },
    // A forked child of the parent replaces the other broker, which ends.
    Fork { parent: usize },
    Acquire { member: usize, broker: usize, clock: i64, arrival: Arrival, is_received: bool },
    GiveUp { member: usize },
    Extend { member: usize, broker: usize, clock: i64, arrival: Arrival },
    ReceiveExtension { member: usize },
    LoseExtension { member: usize },
    // A member issues the ID that is watched from now on, or issues the watched ID again. Other IDs have no effect.
    Issue { member: usize, tick: u64 },
    // A member releases its node after it used the ticks before `used_until`.
    Release { member: usize, used_until: u64, clock: i64, arrival: Arrival },
    Stray { broker: usize, is_received: bool },
    Backup,
    Restore,
}

impl search::World for World {
    const MOST_STEPS_OF_MUTANTS: Option<usize> = None;
    type Action = Action;

    fn new(scenario: &Scenario) -> Self {
        let broker = || Arc::new(Broker::new(scenario));
        let mut world = Self {
            time: 0,
            run: 0,
            contents: Contents::new(scenario.bounds(), scenario.block_bits),
            copy: None,
            brokers: [broker(), broker()],
            members: [Member::default(), Member::default()],
            stray: None,
            watched: None,
            highest: vec![0; scenario.rows as usize],
            accidents: scenario.accidents,
            broken: None,
            view: Vec::new(),
        };
        world.look(scenario);
        world
    }

    fn actions(&self, scenario: &Scenario, actions: &mut Vec<Action>) {
        self.choices(scenario, actions);
    }

    fn after(&self, scenario: &Scenario, action: Action) -> Option<Self> {
        let mut next = self.clone();
        match action {
            Action::Tick { time } => {
                next.time = time;
                for broker in 0..2 {
                    next.broker(broker).blocks.expire(slowest(scenario, time));
                }
            }
            Action::Wake { .. }
            | Action::RenewTogether { .. }
            | Action::Deliver { .. }
            | Action::Receive { .. }
            | Action::LoseMessage { .. }
            | Action::TimeOut { .. }
            | Action::ReleaseBlock { .. } => next.lease(scenario, action),
            Action::Kill { broker } => {
                next.accidents -= 1;
                next.replace(broker, Broker::new(scenario));
            }
            Action::Fork { parent } => {
                next.accidents -= 1;
                let memory = Broker::clone(&next.brokers[parent]);
                let child = Broker {
                    keepers: vec![scenario.keeper(0); scenario.slots],
                    owned: vec![None; scenario.slots],
                    is_forked: true,
                    messages: Vec::new(),
                    ..memory
                };
                next.replace(1 - parent, child);
            }
            Action::Acquire { .. }
            | Action::GiveUp { .. }
            | Action::Extend { .. }
            | Action::ReceiveExtension { .. }
            | Action::LoseExtension { .. }
            | Action::Release { .. }
            | Action::Stray { .. } => next.serve(scenario, action),
            Action::Issue { member, tick } => next.issue(scenario, member, tick),
            Action::Backup => next.copy = Some(next.contents.clone()),
            Action::Restore => {
                next.contents = next.copy.take().expect("a copy exists");
                next.run += 1;
            }
        }
        next.check(scenario);
        next.look(scenario);
        (next.view != self.view).then_some(next)
    }

    fn broken(&self) -> Option<Invariant> {
        self.broken
    }
}

impl World {
    pub fn break_if(&mut self, broken: bool, invariant: Invariant, scenario: &Scenario) {
        if broken && self.broken.is_none() && scenario.only.is_none_or(|only| only == invariant) {
            self.broken = Some(invariant);
        }
    }

    pub fn broker(&mut self, broker: usize) -> &mut Broker {
        Arc::make_mut(&mut self.brokers[broker])
    }

    pub fn fresh(&self) -> Token {
        let mut known = Vec::new();
        self.each_token(&mut |token| known.push(token));
        store::fresh(known.into_iter())
    }

    fn each_token(&self, see: &mut dyn FnMut(Token)) {
        let kept = self.contents.rows().chain(self.copy.iter().flat_map(Contents::rows));
        kept.filter_map(|row| row.token).for_each(&mut *see);
        for broker in &self.brokers {
            broker.blocks.rows(0).filter_map(|row| row.token).for_each(&mut *see);
            broker.holders().flat_map(tokens_of).for_each(&mut *see);
            broker.messages.iter().flat_map(|(_, sent)| sent.tokens()).for_each(&mut *see);
        }
        for member in &self.members {
            member.requested.iter().for_each(|(_, token)| see(*token));
            if let Some(cell) = &member.cell {
                see(cell.token);
                cell.renewal.iter().for_each(|renewal| see(renewal.next));
            }
        }
        match &self.stray {
            Some(Request::Acquire(acquire)) => see(acquire.token),
            Some(Request::Renew(renew)) => {
                [renew.token, renew.next].into_iter().for_each(&mut *see);
            }
            Some(Request::Release(release)) => see(release.token),
            None => {}
        }
    }

    /// Replaces the process of a broker. The requests that the old process sent stay in transit.
    fn replace(&mut self, broker: usize, mut new: Broker) {
        let old = self.broker(broker);
        new.messages = std::mem::take(&mut old.messages);
        new.messages.retain(|(_, message)| message.is_request());
        *old = new;
    }

    fn issue(&mut self, scenario: &Scenario, member: usize, tick: u64) {
        let Some(cell) = &mut self.members[member].cell else { return };
        cell.word = tick + 1;
        let node = cell.node;
        self.break_if(self.watched.is_some(), Invariant::I1, scenario);
        self.watched.get_or_insert((tick, node, member));
    }

    /// Checks the store's fences against the windows that brokers granted.
    fn check(&mut self, scenario: &Scenario) {
        if let Some((_, node, first)) = self.watched {
            let other = self.members[1 - first].cell;
            if other.is_some_and(|cell| cell.node == node && cell.word < cell.limit) {
                scenario.note(Event::TwoIssue);
            }
        }
        let restored = self.run > run_and_proofs(&self.contents.namespace().incarnation).0;
        for block in 0..scenario.rows {
            let row = self.contents.row(block);
            // A restored store may have an older fence, but it grants nothing below its floor.
            let reached = row.map_or(0, |row| row.fence).max(self.contents.floor());
            let highest = &mut self.highest[block as usize];
            let is_lower = !restored && reached < *highest;
            // Under this grant or a later one, the fence cannot fall below the start of this grant.
            if self.run == scenario.restores && row.is_some_and(|row| row.start >= *highest) {
                *highest = 0;
            }
            self.break_if(is_lower, Invariant::I13, scenario);
        }
    }
}

impl Broker {
    pub fn new(scenario: &Scenario) -> Self {
        let namespace = Namespace {
            block_bits: scenario.block_bits,
            bounds: scenario.bounds(),
            ..Namespace::new(NAMESPACE, LAYOUT)
        };
        Self {
            blocks: Blocks::new(&namespace, WINDOW, TTL),
            keepers: vec![scenario.keeper(0); scenario.slots],
            owned: vec![None; scenario.slots],
            messages: Vec::new(),
            confirmed: BTreeMap::new(),
            is_forked: false,
            lost: Vec::new(),
        }
    }

    /// Whether this broker responds to requests. A forked child does not respond (I15).
    pub fn responds(&self, scenario: &Scenario) -> bool {
        !self.is_forked || scenario.mutant == Mutant::ForkResponds
    }
}

impl Cell {
    /// The latest token that the broker's row may contain, for use in a release.
    pub fn latest_token(&self) -> Token {
        self.renewal.map_or(self.token, |renewal| renewal.next)
    }
}

/// Returns the lowest reading of a broker's clock.
pub fn slowest(scenario: &Scenario, time: i64) -> i64 {
    scenario.readings.iter().fold(time, |least, reading| least.min(reading.at(time)))
}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.view.hash(state);
    }
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        self.view == other.view
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("World").field(&self.view).finish()
    }
}
