//! The state of everything, and what happens to it.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use flakeid_protocol::broker::Blocks;
use flakeid_protocol::{Namespace, Token};

use super::actors::{Arrival, Broker, Cell, Member, Message, Outcome, Request};
use super::scenario::{Event, Mutant, Scenario, TTL, WINDOW};
use crate::invariant::Invariant;
use crate::store::{self, Contents, LAYOUT, NAMESPACE, run_and_proofs};

#[derive(Clone)]
pub struct World {
    /// What the store's clock reads.
    pub time: i64,
    /// How often the store was restored.
    pub run: u8,
    pub contents: Contents,
    pub copy: Option<Contents>,
    pub brokers: [Arc<Broker>; 2],
    pub members: [Member; 2],
    /// A request that reaches a broker again, or late.
    pub stray: Option<Request>,
    /// The tick and node of one ID that was issued, and by whom: one ID stands for the set of all.
    pub watched: Option<(u64, u64, usize)>,
    /// The highest fence that a broker granted in each block.
    pub highest: Vec<u64>,
    /// How many accidents may still happen.
    pub mischief: u8,
    pub broken: Option<Invariant>,
    /// What this world is to the model: everything that anything can depend on.
    pub view: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Tick {
        time: i64,
    },
    /// A broker's thread looks what is due; without a block it asks for this one.
    Wake {
        broker: usize,
        slot: usize,
        block: u64,
        clock: i64,
        outcome: Outcome,
    },
    Deliver {
        broker: usize,
        message: usize,
        block: u64,
    },
    Hear {
        broker: usize,
        message: usize,
    },
    LoseMessage {
        broker: usize,
        message: usize,
    },
    TimeOut {
        broker: usize,
        slot: usize,
    },
    GiveBack {
        broker: usize,
        slot: usize,
        outcome: Outcome,
    },
    /// A broker is killed and started again.
    Kill {
        broker: usize,
    },
    /// The other broker ends, and a forked child of this one is in its place.
    Fork {
        parent: usize,
    },
    Ask {
        member: usize,
        broker: usize,
        clock: i64,
        arrival: Arrival,
        is_heard: bool,
    },
    GiveUp {
        member: usize,
    },
    Extend {
        member: usize,
        broker: usize,
        clock: i64,
        arrival: Arrival,
    },
    HearExtended {
        member: usize,
    },
    MissExtended {
        member: usize,
    },
    /// The ID that is watched from now on, or the same again: no other makes a difference.
    Issue {
        member: usize,
        tick: u64,
    },
    /// Having used all ticks before this one.
    Release {
        member: usize,
        used_until: u64,
        clock: i64,
        arrival: Arrival,
    },
    Stray {
        broker: usize,
        is_heard: bool,
    },
    Backup,
    Restore,
}

impl World {
    pub fn new(scenario: &Scenario) -> Self {
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
            highest: vec![0; scenario.blocks as usize],
            mischief: scenario.mischief,
            broken: None,
            view: Vec::new(),
        };
        world.look(scenario);
        world
    }

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
            for holder in broker.holders() {
                holder.acquiring.into_iter().for_each(&mut *see);
                if let Some(hold) = &holder.hold {
                    see(hold.grant.token);
                    hold.renewal.iter().for_each(|renewal| see(renewal.next));
                }
            }
            for message in &broker.messages {
                match message {
                    Message::Acquire { token, .. } | Message::NotGranted { token, .. } => {
                        see(*token);
                    }
                    Message::Renew { renew, .. } => {
                        [renew.token, renew.next].into_iter().for_each(&mut *see);
                    }
                    Message::Release(release) => see(release.token),
                    Message::Granted { grant, .. } => see(grant.token),
                    Message::Renewed { next, .. } | Message::NotRenewed { next, .. } => see(*next),
                }
            }
        }
        for member in &self.members {
            member.asked.iter().for_each(|(_, token)| see(*token));
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

    /// What it is afterwards; `None` if that is what it was.
    pub fn after(&self, scenario: &Scenario, action: Action) -> Option<Self> {
        let mut next = self.clone();
        match action {
            Action::Tick { time } => {
                next.time = time;
                for broker in 0..2 {
                    next.broker(broker).blocks.expire(scenario.slowest(time));
                }
            }
            Action::Wake { .. }
            | Action::Deliver { .. }
            | Action::Hear { .. }
            | Action::LoseMessage { .. }
            | Action::TimeOut { .. }
            | Action::GiveBack { .. } => next.lease(scenario, action),
            Action::Kill { broker } => {
                next.mischief -= 1;
                next.replace(broker, Broker::new(scenario));
            }
            Action::Fork { parent } => {
                next.mischief -= 1;
                let memory = Broker::clone(&next.brokers[parent]);
                let child = Broker {
                    keepers: vec![scenario.keeper(); scenario.slots],
                    owned: vec![None; scenario.slots],
                    is_forked: true,
                    messages: Vec::new(),
                    ..memory
                };
                next.replace(1 - parent, child);
            }
            Action::Ask { .. }
            | Action::GiveUp { .. }
            | Action::Extend { .. }
            | Action::HearExtended { .. }
            | Action::MissExtended { .. }
            | Action::Release { .. }
            | Action::Stray { .. } => next.serve(scenario, action),
            Action::Issue { member, tick } => next.issue(scenario, member, tick),
            Action::Backup => next.copy = Some(next.contents.clone()),
            Action::Restore => {
                next.contents = next.copy.take().expect("a copy");
                next.run += 1;
            }
        }
        next.check(scenario);
        next.look(scenario);
        (next.view != self.view).then_some(next)
    }

    /// The process of a broker ends; what it sent is on its way still.
    fn replace(&mut self, broker: usize, mut new: Broker) {
        let old = self.broker(broker);
        new.messages = std::mem::take(&mut old.messages);
        new.messages.retain(Message::is_request);
        *old = new;
    }

    fn issue(&mut self, scenario: &Scenario, member: usize, tick: u64) {
        let Some(cell) = &mut self.members[member].cell else { return };
        cell.word = tick + 1;
        let node = cell.node;
        self.break_if(self.watched.is_some(), Invariant::I1, scenario);
        self.watched.get_or_insert((tick, node, member));
    }

    /// What the store has against what brokers granted.
    fn check(&mut self, scenario: &Scenario) {
        if let Some((_, node, first)) = self.watched {
            let other = self.members[1 - first].cell;
            if other.is_some_and(|cell| cell.node == node && cell.word < cell.limit) {
                scenario.note(Event::TwoIssue);
            }
        }
        let restored = self.run > run_and_proofs(&self.contents.namespace().incarnation).0;
        for block in 0..scenario.blocks {
            let row = self.contents.row(block);
            // A restored store may have an older fence; nothing is granted below its floor.
            let reached = row.map_or(0, |row| row.fence).max(self.contents.floor());
            let highest = &mut self.highest[block as usize];
            let is_lower = !restored && reached < *highest;
            // Nothing under this grant or a later one can fall below its start.
            if self.run == scenario.restorations && row.is_some_and(|row| row.start >= *highest) {
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
            keepers: vec![scenario.keeper(); scenario.slots],
            owned: vec![None; scenario.slots],
            messages: Vec::new(),
            confirmed: BTreeMap::new(),
            is_forked: false,
            lost: Vec::new(),
        }
    }

    /// Whether it answers at all: a forked child does not (I15).
    pub fn answers(&self, scenario: &Scenario) -> bool {
        !self.is_forked || scenario.mutant == Mutant::ForkAnswers
    }
}

impl Cell {
    /// The token that the broker's row may have, for a release.
    pub fn latest_token(&self) -> Token {
        self.renewal.map_or(self.token, |renewal| renewal.next)
    }
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
