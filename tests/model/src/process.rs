//! One process: the product's holders, one for each node of its lease, a generator reduced to its
//! word and limit, and what is on its way between it and the store.

use flakeid_protocol::{
    Effect, Event, Grant, Holder, HolderOptions, Refusal, Release, Renew, Renewed, Token,
};

use crate::contents::LAYOUT;
use crate::mutant::Mutant;

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

    /// The answer as a holder hears it whose next ID would be of the tick `next`.
    pub fn event(&self, next: u64) -> Option<Event> {
        Some(match *self {
            Self::Granted { node, start, fence, token } => {
                let (max_ahead_ms, max_window_ms, expires) = (0, 0, 0);
                let grant =
                    Grant { node, start, fence, token, max_ahead_ms, max_window_ms, expires };
                Event::Granted { grant, next }
            }
            Self::NotGranted { token } => Event::NotGranted { token },
            Self::Renewed { next, fence } => {
                Event::Renewed { next, answer: Renewed { fence, expires: 0, renewed: 0 } }
            }
            Self::NotRenewed { next, fenced_off, restored } => {
                let refusal = match (fenced_off, restored) {
                    (true, _) => Refusal::FencedOff,
                    (_, true) => Refusal::Restored { retry_after_ms: 0 },
                    _ => Refusal::TooFarAhead { by_ms: 0 },
                };
                Event::NotRenewed { next, refusal }
            }
            _ => return None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// One for each node of the lease.
    pub holders: Vec<Holder>,
    pub cell: Option<Cell>,
    /// The last position issued in this process's life.
    pub last: Option<u64>,
    /// A multiset: in any order, and for as long as it likes.
    pub mail: Vec<Message>,
}

impl Process {
    pub fn new(nodes: usize) -> Self {
        Self { holders: vec![Holder::new(); nodes], cell: None, last: None, mail: Vec::new() }
    }

    pub fn step(
        &mut self,
        options: &HolderOptions,
        member: usize,
        clock: i64,
        mutant: Mutant,
        event: Event,
    ) {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            let (next, effects) = self.holders[member].step(options, &event);
            self.holders[member] = next;
            // In this order, as the holder says.
            for effect in effects {
                let used = match event {
                    // A grant that is released at once is never installed.
                    Event::Granted { .. } => Some(0),
                    Event::Ended { used_until } => Some(used_until),
                    _ => None,
                };
                events.extend(self.act(clock, mutant, &effect, used));
            }
        }
    }

    /// An answer as this process hears it now.
    pub fn heard(&self, answer: &Message) -> Option<Event> {
        answer.event(self.next_tick())
    }

    /// Whose answer this is; anybody may hear one that nobody waits for.
    pub fn member_of(&self, answer: &Message) -> usize {
        let waits = |holder: &Holder| match *answer {
            Message::Granted { token, .. } | Message::NotGranted { token } => {
                holder.acquiring == Some(token)
            }
            Message::Renewed { next, .. } | Message::NotRenewed { next, .. } => {
                renewal_of(holder).is_some_and(|renewal| renewal.next == next)
            }
            _ => false,
        };
        self.holders.iter().position(waits).unwrap_or(0)
    }

    /// Whether it waits for the answer to a renewal, or would still take it.
    pub fn awaits(&self, request: &Message) -> bool {
        let Message::Renew { next: sent, .. } = *request else { return false };
        let mut renewals = self.holders.iter().filter_map(renewal_of);
        !self.closing() && renewals.any(|renewal| renewal.next == sent)
    }

    pub fn closing(&self) -> bool {
        self.holders.iter().any(|holder| holder.closing)
    }

    /// Carries out an effect; `used` is that of a [release](Message::Release).
    fn act(
        &mut self,
        clock: i64,
        mutant: Mutant,
        effect: &Effect,
        used: Option<u64>,
    ) -> Option<Event> {
        match *effect {
            Effect::Acquire { token, .. } => {
                let open = self.open_cell().map(|cell| cell.word / cell.per_tick() + 1);
                let after = open.unwrap_or_else(|| self.used_until());
                self.send(Message::Acquire { token, now: clock, after });
            }
            Effect::Renew(renew) => {
                let Renew { node, start, token, next, confirmed, wanted, .. } = renew;
                self.send(Message::Renew { node, start, token, next, confirmed, wanted });
                if mutant == Mutant::UseBeforePersist {
                    self.raise(wanted);
                }
            }
            Effect::Install(_) => {
                if let Some(cell) = &mut self.cell {
                    cell.closed = true;
                }
                return self.begin(mutant);
            }
            Effect::Raise { fence, .. } => {
                if self.open_cell().is_none() {
                    return self.begin(mutant);
                }
                self.raise(self.window_fence().unwrap_or(fence));
            }
            Effect::End => {
                if let Some(cell) = &mut self.cell {
                    cell.closed |= mutant != Mutant::ReleaseWithoutClosing;
                }
                return Some(Event::Ended { used_until: self.used_until() });
            }
            Effect::Release(Release { node, token, used_until }) => {
                let lower = u64::from(mutant == Mutant::PastHighWater);
                let used_until = used_until.saturating_sub(lower);
                self.send(Message::Release { node, token, used_until, used });
            }
        }
        None
    }

    /// A generator in what is common to the windows granted, as the keeper begins one.
    fn begin(&mut self, mutant: Mutant) -> Option<Event> {
        let (start, fence) = (self.window_start(mutant)?, self.window_fence()?);
        let mut nodes: Vec<u64> = self.grants().map(|grant| grant.node).collect();
        if nodes.len() < self.holders.len() {
            return None;
        }
        // The shortest window that a generator takes.
        if start + 2 > fence {
            let used_until = self.used_until();
            return match mutant {
                Mutant::UnusedUnlessBegun => Some(Event::Unusable { used_until: 0 }),
                _ => (nodes.len() == 1).then_some(Event::Unusable { used_until }),
            };
        }
        nodes.sort_unstable();
        let word = start * nodes.len() as u64 * LAYOUT.ids_per_tick();
        self.cell = Some(Cell { nodes, word, limit: fence, closed: false });
        None
    }

    fn grants(&self) -> impl Iterator<Item = &Grant> {
        self.holders.iter().filter_map(|holder| holder.hold.as_ref()).map(|hold| &hold.grant)
    }

    fn window_start(&self, mutant: Mutant) -> Option<u64> {
        let start = self.grants().map(|grant| grant.start).max()?;
        Some(if mutant == Mutant::BelowOwnLast { start } else { start.max(self.used_until()) })
    }

    fn window_fence(&self) -> Option<u64> {
        self.grants().map(|grant| grant.fence).min()
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
        let per_tick = self.holders.len() as u64 * LAYOUT.ids_per_tick();
        self.last.map_or(0, |last| last / per_tick + 1)
    }

    /// The tick of the next ID, or where the next generator would begin.
    pub fn next_tick(&self) -> u64 {
        let open = self.open_cell().map(|cell| cell.word / cell.per_tick());
        open.or_else(|| self.window_start(Mutant::Nothing)).unwrap_or(0)
    }

    pub fn send(&mut self, message: Message) {
        let place = self.mail.partition_point(|other| *other < message);
        self.mail.insert(place, message);
    }

    /// All tokens that it knows, or that are on their way.
    pub fn tokens(&self) -> impl Iterator<Item = Token> {
        let known = self.holders.iter().flat_map(|holder| {
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

/// The half of the grant, and that of the renewal.
pub fn halves(token: Token) -> [u128; 2] {
    [token.to_bits() >> 64, token.to_bits() & u128::from(u64::MAX)]
}
