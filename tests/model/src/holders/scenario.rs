//! What is let loose, and how far: within these bounds every order of events is tried.

use flakeid_protocol::keeper::KeeperOptions;
use flakeid_protocol::{Acquire, Bounds, Identity, Owner, Token};

use super::mutant::Mutant;
use super::process::{Process, WINDOW};
use crate::invariant::Invariant;
use crate::store::{LAYOUT, MAX_SKEW_MS};

/// What a process's clock may read when its keeper looks.
#[derive(Clone, Copy, Debug)]
pub enum Reading {
    /// The epoch, as after a dead battery.
    FarBehind,
    /// So much more than the store's.
    Off(i64),
    /// The last tick of the layout.
    FarAhead,
}

impl Reading {
    pub fn at(self, store: i64) -> i64 {
        match self {
            Self::FarBehind => LAYOUT.epoch(),
            Self::Off(by) => store + by,
            Self::FarAhead => LAYOUT.horizon() - 1,
        }
    }
}

/// A thing that must happen in a scenario, because a scenario in which nothing happens proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Two processes issue.
    TwoIssue,
    /// Two processes hold a node.
    TwoHold,
    /// A renewal is confirmed after it timed out.
    LateConfirmation,
    /// A holder that was fenced off gets another grant.
    MovesOn,
    /// A holder whose renewals fail gets another grant.
    Moves,
    /// A renewal succeeds before another grant arrives.
    KeepsNode,
    /// A holder of a fixed node is ousted.
    Ousted,
    /// A node is released below what was granted.
    Released,
    /// A restored store grants.
    GrantsAfterRestoration,
    /// A restored store's grant is used.
    IssuesAfterRestoration,
    /// A held node is quarantined.
    Quarantined,
    /// A grant comes after the end.
    ClosedWhileAsking,
    /// Two nodes are held whose windows have at most a tick in common.
    WindowsDoNotMeet,
    /// A holder continues in a restored store.
    Continues,
    /// A holder has a last window in a restored store.
    HasLastWindow,
}

pub const NODES: u64 = 3;

#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a kind of accident")]
pub struct Scenario {
    pub name: &'static str,
    /// One process each.
    pub identities: Vec<Identity>,
    /// How many nodes the first process leases at a time; the others lease one.
    pub leased: usize,
    /// How many steps are tried at most; every order of events if `None`.
    pub steps: Option<usize>,
    pub nodes: u64,
    /// How far ahead of the clock a grant may start, in ticks.
    pub ahead: u64,
    /// What the store's clock reads, one after the other.
    pub times: Vec<i64>,
    pub readings: Vec<Reading>,
    /// How many messages of one process may be on their way.
    pub mail: usize,
    /// How many accidents there may be, of the kinds below up to the blank line.
    pub mischief: u8,
    pub crashes: bool,
    pub forks: bool,
    /// Requests reach the store more than once.
    pub repeats: bool,
    pub operates: bool,

    /// How often an older copy is put back.
    pub restorations: u8,
    /// How many copies are made at most.
    pub copies: usize,
    /// Whether rows have an age, so that their holders may go on after a restoration, and time passes
    /// before the last one.
    pub ages: bool,
    pub ttl: u64,
    pub max_window: u64,
    /// For how long a restored store grants nothing.
    pub quiet: u64,
    pub closes: bool,
    /// Whether a holder whose renewals fail asks for another node while it has its own.
    pub moves: bool,
    /// The store's clock may read less, as after a failover.
    pub slow_clock: bool,
    /// Whether all IDs of a tick are issued one by one, not only the first.
    pub fills_ticks: bool,
    pub mutant: Mutant,
    /// The one invariant that counts.
    pub only: Option<Invariant>,
    /// What must happen.
    pub happens: Vec<Event>,
}

impl Scenario {
    /// Two processes that want any node, clocks that agree, and no accidents.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            identities: vec![Identity::Any; 2],
            leased: 1,
            steps: None,
            nodes: 1,
            ahead: 1,
            times: vec![0, 1, 2],
            readings: vec![Reading::Off(0)],
            mail: 1,
            mischief: 0,
            crashes: false,
            forks: false,
            repeats: false,
            operates: false,
            restorations: 0,
            copies: 1,
            ages: false,
            ttl: 1,
            max_window: 2,
            quiet: 5,
            closes: false,
            moves: false,
            slow_clock: false,
            fills_ticks: false,
            mutant: Mutant::Nothing,
            only: None,
            happens: Vec::new(),
        }
    }
}

impl Scenario {
    pub const fn bounds(&self) -> Bounds {
        Bounds {
            max_window_ms: self.max_window,
            max_ahead_ms: self.ahead,
            max_skew_ms: MAX_SKEW_MS,
            quiet_ms: self.quiet,
        }
    }

    /// A process that knows nothing yet.
    pub fn process(&self, index: usize) -> Process {
        Process::new(&self.options(index))
    }

    /// Returns the options of a process's keeper.
    pub fn options(&self, index: usize) -> KeeperOptions {
        let identity = self.identities[index].clone();
        let moves = self.moves && !matches!(identity, Identity::Node(_));
        let acquire = Acquire {
            layout: LAYOUT,
            identity,
            from: 0,
            to: self.nodes - 1,
            rotation: 0,
            block_bits: 0,
            reuse: true,
            token: Token::from_bits(0),
            window_ms: WINDOW,
            ttl_ms: self.ttl,
            now: 0,
            waited_ms: 0,
            after: 0,
            owner: Owner::default(),
        };
        KeeperOptions { nodes: if index == 0 { self.leased } else { 1 }, acquire, moves }
    }

    /// Whether it makes no difference which process is which.
    pub fn is_symmetric(&self) -> bool {
        // Without a lease a process is its node.
        self.mutant != Mutant::Plain
            && self.leased == 1
            && self.identities.windows(2).all(|pair| pair[0] == pair[1])
    }
}
