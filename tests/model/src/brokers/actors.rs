//! Brokers and those who lease nodes from them, and what they send.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeid_protocol::broker::Blocks;
use flakeid_protocol::keeper::{Keeper, Reading};
use flakeid_protocol::{Acquire, Grant, Holder, Refusal, Release, Renew, Renewed, Token};

/// A broker in one process: the product's [`Blocks`], and a [`Keeper`] for each block.
#[derive(Clone, Debug)]
pub struct Broker {
    pub blocks: Blocks,
    pub keepers: Vec<Keeper>,
    /// The block of each keeper, once it has one.
    pub owned: Vec<Option<u64>>,
    /// Requests to the store and its answers, on their way.
    pub messages: Vec<Message>,
    /// What the store confirmed of each block, and what was granted of it.
    pub confirmed: BTreeMap<u64, Confirmed>,
    /// Whether this process was forked from one that has a broker, whose memory it has.
    pub is_forked: bool,
    /// Blocks that it lost. Nothing depends on it.
    pub lost: Vec<u64>,
}

impl Broker {
    pub fn holder(&self, slot: usize) -> &Holder {
        &self.keepers[slot].holders[0]
    }

    pub fn holders(&self) -> impl Iterator<Item = &Holder> {
        self.keepers.iter().flat_map(|keeper| &keeper.holders)
    }
}

/// Returns the readings of a broker's thread whose clock reads `clock`.
pub fn reading(clock: i64) -> Reading {
    Reading { unix_ms: Ok(clock), passed: Duration::ZERO, next: None, jitter: 1.0 }
}

/// What a broker may use of a block.
#[derive(Clone, Copy, Debug)]
pub struct Confirmed {
    pub start: u64,
    pub fence: u64,
    /// The highest fence that was granted in it.
    pub used_until: u64,
}

/// Between the holder of a block and the store.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    Acquire { slot: usize, token: Token, now: i64 },
    Renew { slot: usize, renew: Renew },
    Release(Release),
    Granted { slot: usize, grant: Grant },
    NotGranted { slot: usize, token: Token },
    Renewed { slot: usize, next: Token, answer: Renewed },
    NotRenewed { slot: usize, next: Token, refusal: Refusal },
}

impl Message {
    pub const fn is_request(&self) -> bool {
        matches!(self, Self::Acquire { .. } | Self::Renew { .. } | Self::Release(_))
    }
}

/// A process that leases one node at a time from a broker.
#[derive(Clone, Debug, Default)]
pub struct Member {
    pub cell: Option<Cell>,
    /// The token of a request for a node that was not answered, and the broker.
    pub asked: Option<(usize, Token)>,
}

/// A node that is in use, as a generator has it.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub broker: usize,
    pub node: u64,
    pub start: u64,
    pub token: Token,
    /// The tick of the next ID at the least.
    pub word: u64,
    /// The first tick that must not be issued.
    pub limit: u64,
    /// Whether the broker said that the node is another's: it may be used up, never renewed.
    pub is_fenced_off: bool,
    /// A renewal that was sent and of which no answer was heard.
    pub renewal: Option<Renew>,
    /// The fence in the answer that is on its way.
    pub answer: Option<u64>,
}

/// What a member sends to a broker.
#[derive(Clone, Debug)]
pub enum Request {
    Acquire(Acquire),
    Renew(Renew),
    Release(Release),
}

/// How a request reaches the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    Once,
    /// Now, and once more at any later time.
    Twice,
    /// At any later time, or never, when nobody waits for an answer.
    Late,
}

/// What becomes of a broker's request to the store, where that is one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Answered,
    /// It is done, and the answer is lost.
    Unheard,
    /// It is lost.
    Lost,
    /// It is not one step: request and answer are under way for a while.
    UnderWay,
}
