//! One process: the product's keeper, a generator reduced to its word and limit, and the messages in transit between
//! the keeper and the store.

use std::time::Duration;

use flakeid_core::Error;
use flakeid_protocol::keeper::{
    Begin, Demand, Driver, Input, Keeper, KeeperOptions, Output, Reading, Reply, Report,
};
use flakeid_protocol::{Holder, Release, Token};

use crate::message::{Message, renewal_of, tokens_of};
use crate::scenario::Mutant;
use crate::store::LAYOUT;

/// A generator that issues positions from its word up to its limit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// The nodes in increasing order. Positions increase by tick, then by node, then by sequence.
    pub nodes: Vec<u64>,
    /// The next free position.
    pub word: u64,
    /// The first tick that must not be used; 0 in a forked child.
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

    /// The number of IDs in a tick.
    pub fn per_tick(&self) -> u64 {
        self.nodes.len() as u64 * LAYOUT.ids_per_tick()
    }

    /// Returns the word and, above it, the first position of each node in each tick.
    pub fn beginnings(&self) -> impl Iterator<Item = u64> + use<> {
        let (word, per_node) = (self.word, LAYOUT.ids_per_tick());
        std::iter::once(word).chain((word / per_node + 1..).map(move |node| node * per_node))
    }

    /// Returns the node of a position, and the position's index among that node's IDs.
    pub fn id(&self, position: u64) -> (u64, u64) {
        let per_node = LAYOUT.ids_per_tick();
        let node = self.nodes[(position / per_node) as usize % self.nodes.len()];
        (node, position / self.per_tick() * per_node + position % per_node)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    pub keeper: Keeper,
    pub cell: Option<Cell>,
    /// The last position that this process issued.
    pub last: Option<u64>,
    /// The messages in transit, which arrive in any order and after any delay.
    pub in_transit: Vec<Message>,
}

impl Process {
    /// Creates a process without a node.
    pub fn new(keeper: Keeper) -> Self {
        Self { keeper, cell: None, last: None, in_transit: Vec::new() }
    }

    /// Passes an input to the keeper while the clock reads `clock`, and carries out the keeper's instructions.
    pub fn step(&mut self, options: &KeeperOptions, clock: i64, mutant: Mutant, input: Input) {
        let is_response = matches!(input, Input::Reply(Reply::Acquire { .. }));
        // If the keeper releases a grant at once, the grant was never used.
        let used = is_response.then_some(0);
        Step { process: self, options, clock, mutant, is_response, used }.follow(input);
    }

    pub fn holders(&self) -> &[Holder] {
        &self.keeper.holders
    }

    /// Whether this process would accept a response to a renewal.
    pub fn awaits(&self, request: &Message) -> bool {
        let Message::Renew(sent) = request else { return false };
        let mut renewals = self.holders().iter().filter_map(renewal_of);
        !self.keeper.is_closing() && renewals.any(|renewal| renewal.next == sent.next)
    }

    fn open_cell(&self) -> Option<&Cell> {
        self.cell.as_ref().filter(|cell| !cell.closed && cell.limit > 0)
    }

    /// The tick after the last one in which this process issued an ID.
    pub fn used_until(&self) -> u64 {
        let per_tick = self.holders().len() as u64 * LAYOUT.ids_per_tick();
        self.last.map_or(0, |last| last / per_tick + 1)
    }

    pub fn send(&mut self, message: Message) {
        let place = self.in_transit.partition_point(|other| *other < message);
        self.in_transit.insert(place, message);
    }

    /// Returns all tokens of this process and of its messages in transit.
    pub fn tokens(&self) -> impl Iterator<Item = Token> {
        let known = self.holders().iter().flat_map(tokens_of);
        known.chain(self.in_transit.iter().flat_map(Message::tokens))
    }
}

/// The driver of a process's keeper for one external input.
struct Step<'a> {
    process: &'a mut Process,
    options: &'a KeeperOptions,
    clock: i64,
    mutant: Mutant,
    /// Whether the input is the response to an acquire.
    is_response: bool,
    /// The second field of a [release](Message::Release) that the keeper sends in this step.
    used: Option<u64>,
}

impl Driver for Step<'_> {
    fn reading(&self) -> Reading {
        let next = self.process.open_cell().map(|cell| cell.word / cell.per_tick());
        Reading { unix_ms: Ok(self.clock), passed: Duration::ZERO, next, jitter: 1.0 }
    }

    fn handle(&mut self, reading: &Reading, input: Input) -> Vec<Output> {
        let outputs = self.process.keeper.handle(self.options, reading, input);
        if self.mutant == Mutant::Nothing {
            return outputs;
        }
        let too_short = outputs.contains(&Output::Report(Report::TooShort));
        outputs.into_iter().flat_map(|output| self.mistake(reading, too_short, output)).collect()
    }

    fn begin(&mut self, begin: &Begin) -> Result<(), Error> {
        self.process.cell = Some(Cell::new(begin));
        Ok(())
    }

    fn extend(&mut self, fence: u64) -> bool {
        let cell = self.process.cell.as_mut();
        if let Some(cell) = cell.filter(|cell| !cell.closed && cell.limit > 0) {
            cell.limit = cell.limit.max(fence);
        }
        true
    }

    fn end(&mut self) -> (u64, bool) {
        if let Some(cell) = &mut self.process.cell {
            cell.closed = true;
        }
        let used_until = self.process.used_until();
        (self.is_response, self.used) = (false, Some(used_until));
        (used_until, false)
    }

    fn report(&mut self, _: &Reading, report: Report) {
        if self.is_response && matches!(report, Report::Granted(_)) {
            self.used = None;
        }
    }

    fn send(&mut self, demand: Demand, _: Duration) -> Option<Reply> {
        let mut message = Message::request(demand, self.used);
        if let Message::Renew(renew) = &mut message {
            renew.now = 0;
        }
        self.process.send(message);
        None
    }
}

impl Step<'_> {
    /// Replaces an output of the product's keeper with the outputs of a keeper that makes the mutant's mistake.
    fn mistake(&mut self, reading: &Reading, too_short: bool, output: Output) -> Vec<Output> {
        let release = |release, used_until| {
            vec![Output::Demand(Demand::Release(Release { used_until, ..release }))]
        };
        match (self.mutant, output) {
            (Mutant::UseBeforePersist, Output::Demand(Demand::Renew(renew))) => {
                let fence = renew.wanted;
                vec![Output::Extend { fence }, Output::Demand(Demand::Renew(renew))]
            }
            (Mutant::BelowOwnLast, Output::Begin(begin)) => {
                let holds = self.process.holders().iter().filter_map(|of| of.hold.as_ref());
                let start = holds.map(|hold| hold.grant.start).max().unwrap_or(0);
                vec![Output::Begin(Begin { start, ..begin })]
            }
            (Mutant::ReleaseWithoutClosing, Output::End) => {
                let (used_until, keeps_fence) = (reading.next.unwrap_or(0), false);
                let ended = Input::Ended { used_until, keeps_fence };
                self.process.keeper.handle(self.options, reading, ended)
            }
            (Mutant::ReleasesAtLastTick, Output::Demand(Demand::Release(of))) => {
                release(of, of.used_until.saturating_sub(1))
            }
            (Mutant::UnusedUnlessBegun, Output::Demand(Demand::Release(of))) if too_short => {
                release(of, 0)
            }
            (_, output) => vec![output],
        }
    }
}
