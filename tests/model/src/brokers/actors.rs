//! Brokers, the members that lease nodes from them, and the members' requests.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeid_protocol::broker::Blocks;
use flakeid_protocol::keeper::{Keeper, Reading};
use flakeid_protocol::{Acquire, Holder, Release, Renew, Token};

use crate::message::Message;
use crate::scenario::Scenario;

/// A broker in one process: the product's [`Blocks`], and a [`Keeper`] for each block.
#[derive(Clone, Debug)]
pub struct Broker {
    pub blocks: Blocks,
    pub keepers: Vec<Keeper>,
    /// The block of each keeper; `None` until the keeper has a block.
    pub owned: Vec<Option<u64>>,
    /// The requests from each keeper to the store and their responses, in transit.
    pub messages: Vec<(usize, Message)>,
    /// The confirmed part of each block, and its part granted to members.
    pub confirmed: BTreeMap<u64, Confirmed>,
    /// Whether this process is a forked child with a copy of another broker's memory.
    pub is_forked: bool,
    /// The blocks that this broker lost. Only the recorded events depend on this field.
    pub lost: Vec<u64>,
}

impl Broker {
    pub fn holder(&self, slot: usize) -> &Holder {
        &self.keepers[slot].holders[0]
    }

    /// Returns the slots whose blocks are due for renewal when the clock of the broker's thread reads `clock`.
    pub fn due_renewals(
        &self,
        scenario: &Scenario,
        clock: i64,
    ) -> impl Iterator<Item = usize> + use<'_> {
        let (options, margin) = (scenario.options(0), scenario.window);
        let is_due = move |keeper: &Keeper| {
            let is_held = keeper.holders[0].hold.as_ref().is_some_and(|hold| !hold.fenced_off);
            is_held && keeper.is_due(&options, &reading(clock), margin, 0)
        };
        (0..self.keepers.len()).filter(move |slot| is_due(&self.keepers[*slot]))
    }

    pub fn holders(&self) -> impl Iterator<Item = &Holder> {
        self.keepers.iter().flat_map(|keeper| &keeper.holders)
    }
}

/// Returns the readings of a broker's thread whose clock reads `clock`.
pub fn reading(clock: i64) -> Reading {
    Reading { unix_ms: Ok(clock), passed: Duration::ZERO, next: None, jitter: 1.0 }
}

/// The part of a block that a broker may use.
#[derive(Clone, Copy, Debug)]
pub struct Confirmed {
    pub start: u64,
    pub fence: u64,
    /// The highest fence that the broker granted in the block.
    pub used_until: u64,
}

/// A process that leases one node at a time from a broker.
#[derive(Clone, Debug, Default)]
pub struct Member {
    pub cell: Option<Cell>,
    /// The token of a request for a node without a response, and the broker to which the member sent it.
    pub requested: Option<(usize, Token)>,
}

/// A generator's state for a node in use.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub broker: usize,
    pub node: u64,
    pub start: u64,
    pub token: Token,
    /// The lowest possible tick of the next ID.
    pub word: u64,
    /// The first tick that must not be issued.
    pub limit: u64,
    /// Whether the broker reported that another member has the node. The window may be used up, but never renewed.
    pub is_fenced_off: bool,
    /// A renewal that was sent, and whose response has not arrived.
    pub renewal: Option<Renew>,
    /// The fence in the response that is in transit.
    pub response: Option<u64>,
}

/// A request from a member to a broker.
#[derive(Clone, Debug)]
pub enum Request {
    Acquire(Acquire),
    Renew(Renew),
    Release(Release),
}

/// The way in which a request reaches the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    Once,
    /// The request arrives now, and once more at any later time.
    Twice,
    /// The request arrives at any later time, or never. The member may have given up waiting by then.
    Late,
}

/// The outcome of a broker's request to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Responded,
    /// The store carries out the request, and the response is lost.
    ResponseLost,
    /// The request is lost.
    RequestLost,
    /// The request and the response are delayed, so that the exchange takes more than one step.
    Delayed,
}
