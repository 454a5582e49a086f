//! One process: the product's keeper, a generator reduced to its word and limit, and what is on its way
//! between the keeper and the store.

use std::time::Duration;

use flakeid_protocol::keeper::{
    Begin, Demand, GeneratorState, Input, Keeper, KeeperOptions, Output, Reading, Reply, Report,
};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Grant, Holder, Refusal, Release, Renew, Renewed, Token};

use super::keepers;
use super::mutant::Mutant;
use crate::store::{LAYOUT, no_answer};

pub const WINDOW: u64 = 2;

/// A generator: it issues positions from its word up to the limit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// In rising order. With several, positions count tick, node and sequence.
    pub nodes: Vec<u64>,
    /// The next free position.
    pub word: u64,
    /// The tick that may not be used any more; 0 in a forked child.
    pub limit: u64,
    pub closed: bool,
}

impl Cell {
    fn new(begin: &Begin) -> Self {
        let mut nodes = begin.nodes.clone();
        nodes.sort_unstable();
        let word = begin.start * nodes.len() as u64 * LAYOUT.ids_per_tick();
        Self { nodes, word, limit: begin.fence, closed: false }
    }

    /// How many IDs there are in a tick.
    pub fn per_tick(&self) -> u64 {
        self.nodes.len() as u64 * LAYOUT.ids_per_tick()
    }

    /// Positions where IDs of a node begin, from the word on.
    pub fn beginnings(&self) -> impl Iterator<Item = u64> + use<> {
        let (word, per_node) = (self.word, LAYOUT.ids_per_tick());
        std::iter::once(word).chain((word / per_node + 1..).map(move |node| node * per_node))
    }

    /// The node of a position, and its place among that node's IDs.
    pub fn id(&self, position: u64) -> (u64, u64) {
        let per_node = LAYOUT.ids_per_tick();
        let node = self.nodes[(position / per_node) as usize % self.nodes.len()];
        (node, position / self.per_tick() * per_node + position % per_node)
    }
}

/// On its way, in either direction. Clocks and refusals are told only as far as they matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Message {
    Acquire {
        token: Token,
        now: i64,
        after: u64,
    },
    Renew {
        node: u64,
        start: u64,
        token: Token,
        next: Token,
        confirmed: u64,
        wanted: u64,
    },
    /// `used` is the tick after the last one that the process used of the node; `None` if it may still
    /// use the node.
    Release {
        node: u64,
        token: Token,
        used_until: u64,
        used: Option<u64>,
    },
    Granted {
        node: u64,
        start: u64,
        fence: u64,
        token: Token,
    },
    NotGranted {
        token: Token,
    },
    Renewed {
        next: Token,
        fence: u64,
    },
    NotRenewed {
        next: Token,
        fenced_off: bool,
        restored: bool,
    },
}

impl Message {
    /// Returns a demand as a message; `used` is the field of a [release](Self::Release).
    fn request(demand: Demand, used: Option<u64>) -> Self {
        match demand {
            Demand::Acquire { request, .. } => {
                Self::Acquire { token: request.token, now: request.now, after: request.after }
            }
            Demand::Renew(Renew { node, start, token, next, confirmed, wanted, .. }) => {
                Self::Renew { node, start, token, next, confirmed, wanted }
            }
            Demand::Release(Release { node, token, used_until }) => {
                Self::Release { node, token, used_until, used }
            }
        }
    }

    pub fn is_request(&self) -> bool {
        matches!(self, Self::Acquire { .. } | Self::Renew { .. } | Self::Release { .. })
    }

    /// The fence that an answer promises.
    pub fn fence(&self) -> Option<u64> {
        match *self {
            Self::Granted { fence, .. } | Self::Renewed { fence, .. } => Some(fence),
            _ => None,
        }
    }

    pub fn tokens(&self) -> [Option<Token>; 2] {
        match *self {
            Self::Renew { token, next, .. } => [Some(token), Some(next)],
            Self::Acquire { token, .. }
            | Self::Release { token, .. }
            | Self::Granted { token, .. }
            | Self::NotGranted { token } => [Some(token), None],
            Self::Renewed { next, .. } | Self::NotRenewed { next, .. } => [Some(next), None],
        }
    }

    pub fn tokens_mut(&mut self) -> [Option<&mut Token>; 2] {
        match self {
            Self::Renew { token, next, .. } => [Some(token), Some(next)],
            Self::Acquire { token, .. }
            | Self::Release { token, .. }
            | Self::Granted { token, .. }
            | Self::NotGranted { token } => [Some(token), None],
            Self::Renewed { next, .. } | Self::NotRenewed { next, .. } => [Some(next), None],
        }
    }

    /// Returns an answer as the keeper's input.
    pub fn reply(&self) -> Option<Reply> {
        Some(match *self {
            Self::Granted { node, start, fence, token } => {
                let (max_ahead_ms, max_window_ms, expires) = (0, WINDOW, 0);
                let grant =
                    Grant { node, start, fence, token, max_ahead_ms, max_window_ms, expires };
                Reply::Acquire { token, result: Ok(grant) }
            }
            Self::NotGranted { token } => Reply::Acquire { token, result: Err(no_answer()) },
            Self::Renewed { next, fence } => {
                Reply::Renew { next, result: Ok(Renewed { fence, expires: 0, renewed: 0 }) }
            }
            Self::NotRenewed { next, fenced_off, restored } => {
                let refusal = match (fenced_off, restored) {
                    (true, _) => Refusal::FencedOff,
                    (_, true) => Refusal::Restored { retry_after_ms: 0 },
                    _ => Refusal::TooFarAhead { by_ms: 0 },
                };
                Reply::Renew { next, result: Err(Fault::Refused(refusal)) }
            }
            _ => return None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    pub keeper: Keeper,
    pub cell: Option<Cell>,
    /// The last position issued in this process's life.
    pub last: Option<u64>,
    /// A multiset: in any order, and for as long as it likes.
    pub mail: Vec<Message>,
}

impl Process {
    pub fn new(options: &KeeperOptions) -> Self {
        let keeper = Keeper::new(options, GeneratorState::Ended { used_until: 0 });
        Self { keeper, cell: None, last: None, mail: Vec::new() }
    }

    /// Passes an input to the keeper, while the clock reads `clock`, and carries out the outputs.
    pub fn step(&mut self, options: &KeeperOptions, clock: i64, mutant: Mutant, input: Input) {
        let reading = Reading {
            unix_ms: Ok(clock),
            passed: Duration::ZERO,
            next: self.open_cell().map(|cell| cell.word / cell.per_tick()),
            jitter: 1.0,
        };
        let (ended, answers) = match &input {
            Input::Ended { used_until, .. } => (Some(*used_until), false),
            Input::Reply(Reply::Acquire { .. }) => (None, true),
            _ => (None, false),
        };
        let outputs = keepers::handle(mutant, &mut self.keeper, options, &reading, input);
        let takes =
            outputs.iter().any(|output| matches!(output, Output::Event(Report::Granted(_))));
        // A grant that the keeper releases at once was never used.
        let used = if answers && !takes { Some(0) } else { ended };
        for output in outputs {
            match output {
                Output::Begin(begin) => {
                    self.cell = Some(Cell::new(&begin));
                    self.step(options, clock, mutant, Input::Began { begin, result: Ok(()) });
                }
                Output::Extend { fence } => self.raise(fence),
                Output::End => {
                    if let Some(cell) = &mut self.cell {
                        cell.closed = true;
                    }
                    let (used_until, keeps_fence) = (self.used_until(), false);
                    self.step(options, clock, mutant, Input::Ended { used_until, keeps_fence });
                }
                Output::Event(_) => {}
                Output::Demand(demand) => self.send(Message::request(demand, used)),
            }
        }
    }

    pub fn holders(&self) -> &[Holder] {
        &self.keeper.holders
    }

    /// Whether it waits for the answer to a renewal, or would still take it.
    pub fn awaits(&self, request: &Message) -> bool {
        let Message::Renew { next: sent, .. } = *request else { return false };
        let mut renewals = self.holders().iter().filter_map(renewal_of);
        !self.keeper.is_closing() && renewals.any(|renewal| renewal.next == sent)
    }

    fn raise(&mut self, fence: u64) {
        if let Some(cell) = self.cell.as_mut().filter(|cell| !cell.closed && cell.limit > 0) {
            cell.limit = cell.limit.max(fence);
        }
    }

    fn open_cell(&self) -> Option<&Cell> {
        self.cell.as_ref().filter(|cell| !cell.closed && cell.limit > 0)
    }

    /// The tick after the last one in which it issued an ID.
    pub fn used_until(&self) -> u64 {
        let per_tick = self.holders().len() as u64 * LAYOUT.ids_per_tick();
        self.last.map_or(0, |last| last / per_tick + 1)
    }

    pub fn send(&mut self, message: Message) {
        let place = self.mail.partition_point(|other| *other < message);
        self.mail.insert(place, message);
    }

    /// All tokens that it knows, or that are on their way.
    pub fn tokens(&self) -> impl Iterator<Item = Token> {
        let known = self.holders().iter().flat_map(|holder| {
            let held = holder.hold.as_ref().map(|hold| hold.grant.token);
            let renewal = renewal_of(holder).map(|renewal| [renewal.token, renewal.next]);
            held.into_iter().chain(renewal.into_iter().flatten()).chain(holder.acquiring)
        });
        known.chain(self.mail.iter().flat_map(Message::tokens).flatten())
    }
}

/// The renewal that a holder has sent, and not heard of.
pub fn renewal_of(holder: &Holder) -> Option<Renew> {
    holder.hold.as_ref()?.renewal
}
