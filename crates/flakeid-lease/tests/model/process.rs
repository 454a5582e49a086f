//! One process: the product's holder, a generator reduced to its word and limit, and what is on
//! its way between it and the store.

use flakeid_lease::protocol::{
    Effect, Event, Grant, Holder, Plan, Refusal, Release, Renew, Renewed, Token,
};

use crate::contents::LAYOUT;
use crate::mutant::Mutant;

pub const WINDOW: u64 = 2;
pub const TTL_MS: u64 = 1;

/// A generator: it issues positions from its word up to the limit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    pub node: u64,
    /// The next free position.
    pub word: u64,
    /// The tick that may not be used any more; 0 in a forked child.
    pub limit: u64,
    pub closed: bool,
}

/// On its way, in either direction. Clocks and refusals are told only as far as they matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Message {
    Acquire { token: Token, now: i64, after: u64 },
    Renew { node: u64, start: u64, token: Token, next: Token, wanted: u64 },
    Release { node: u64, token: Token, used_until: u64 },
    Granted { node: u64, start: u64, fence: u64, token: Token },
    NotGranted { token: Token },
    Renewed { next: Token, fence: u64 },
    NotRenewed { next: Token, fenced_off: bool, restored: bool },
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

    /// The answer as the holder hears it.
    pub fn event(&self) -> Option<Event> {
        Some(match *self {
            Self::Granted { node, start, fence, token } => {
                let max_ahead_ms = 0;
                Event::Granted(Grant { node, start, fence, token, max_ahead_ms, expires: 0 })
            }
            Self::NotGranted { token } => Event::NotGranted { token },
            Self::Renewed { next, fence } => {
                Event::Renewed { next, answer: Renewed { fence, expires: 0 } }
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

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Process {
    pub holder: Holder,
    pub cell: Option<Cell>,
    /// The last position issued in this process's life.
    pub last: Option<u64>,
    /// A multiset: in any order, and for as long as it likes.
    pub mail: Vec<Message>,
}

impl Process {
    pub fn step(&mut self, plan: &Plan, clock: i64, mutant: Mutant, event: Event) {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            let (next, effects) = self.holder.step(plan, &event);
            self.holder = next;
            // In this order, as the holder says.
            for effect in effects {
                events.extend(self.act(clock, mutant, &effect));
            }
        }
    }

    fn act(&mut self, clock: i64, mutant: Mutant, effect: &Effect) -> Option<Event> {
        match *effect {
            Effect::Acquire { token } => {
                self.send(Message::Acquire { token, now: clock, after: self.used_until() });
            }
            Effect::Renew(renew) => {
                let Renew { node, start, token, next, wanted, .. } = renew;
                self.send(Message::Renew { node, start, token, next, wanted });
                if mutant == Mutant::UseBeforePersist {
                    self.raise(wanted);
                }
            }
            Effect::Install(ref grant) => return self.install(grant, mutant),
            Effect::Raise { fence } => self.raise(fence),
            Effect::End => {
                if let Some(cell) = &mut self.cell {
                    cell.closed |= mutant != Mutant::ReleaseWithoutClosing;
                }
                return Some(Event::Ended { used_until: self.used_until() });
            }
            Effect::Release(Release { node, token, used_until }) => {
                let lower = u64::from(mutant == Mutant::PastHighWater);
                let used_until = used_until.saturating_sub(lower);
                self.send(Message::Release { node, token, used_until });
            }
        }
        None
    }

    fn install(&mut self, grant: &Grant, mutant: Mutant) -> Option<Event> {
        let mut start = grant.start.max(self.used_until());
        if mutant == Mutant::BelowOwnLast {
            start = grant.start;
        }
        if let Some(cell) = &mut self.cell {
            cell.closed = true;
        }
        // The shortest window that a generator takes.
        if start + 2 > grant.fence {
            return Some(Event::Unusable);
        }
        let (node, word) = (grant.node, start * LAYOUT.ids_per_tick());
        self.cell = Some(Cell { node, word, limit: grant.fence, closed: false });
        None
    }

    fn raise(&mut self, fence: u64) {
        if let Some(cell) = self.cell.as_mut().filter(|cell| !cell.closed && cell.limit > 0) {
            cell.limit = cell.limit.max(fence);
        }
    }

    /// The tick after the last one in which it issued an ID.
    pub fn used_until(&self) -> u64 {
        self.last.map_or(0, |last| last / LAYOUT.ids_per_tick() + 1)
    }

    pub fn next_tick(&self) -> u64 {
        let open = self.cell.as_ref().filter(|cell| !cell.closed && cell.limit > 0);
        open.map_or(0, |cell| cell.word / LAYOUT.ids_per_tick())
    }

    pub fn send(&mut self, message: Message) {
        let place = self.mail.partition_point(|other| *other < message);
        self.mail.insert(place, message);
    }

    pub fn knows(&self, token: Token) -> bool {
        let hold = self.holder.hold.as_ref();
        hold.is_some_and(|hold| {
            hold.grant.token == token
                || hold
                    .renewal
                    .is_some_and(|renewal| renewal.token == token || renewal.next == token)
        }) || self.holder.acquiring == Some(token)
            || self.mail.iter().any(|message| message.tokens().contains(&Some(token)))
    }
}
