//! The bounds of a search, within which every order of events is tried, and the mistakes of mutants.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use flakeid_protocol::keeper::{GeneratorState, Keeper, KeeperOptions};
use flakeid_protocol::{Acquire, Bounds, Identity, Owner, Token};

use crate::invariant::Invariant;
use crate::store::{LAYOUT, MAX_SKEW_MS};

/// The reading of a keeper's clock.
#[derive(Clone, Copy, Debug)]
pub enum Reading {
    /// The epoch, as after a failure of the clock's battery.
    FarBehind,
    /// The store's clock plus this offset.
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

/// An event that must occur in a scenario, because a scenario without events proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Two processes issue IDs, or two members issue IDs of one node.
    TwoIssue,
    /// Two processes hold a node.
    TwoHold,
    /// A renewal is confirmed after it timed out.
    LateConfirmation,
    /// A holder that was fenced off gets another grant.
    MovesOn,
    /// A holder whose renewals fail gets another grant.
    Moves,
    /// A holder whose granter is about to shut down gets another grant.
    Leaves,
    /// A renewal succeeds before another grant arrives.
    KeepsNode,
    /// A holder of a fixed node is displaced.
    Displaced,
    /// A release lowers the fence of a node below the granted fence.
    Released,
    /// A restored store grants a node or block.
    GrantsAfterRestore,
    /// A process uses a grant of a restored store.
    IssuesAfterRestore,
    /// A held node is quarantined.
    Quarantined,
    /// A grant arrives after the lease was closed.
    ClosedWhileAcquiring,
    /// The windows of two held nodes have at most one tick in common.
    WindowsDoNotMeet,
    /// A holder continues its lease in a restored store.
    Continues,
    /// A holder has a last window in a restored store.
    HasLastWindow,
    /// A broker gets a block of which the other broker has not detected the loss.
    TakenOver,
    /// A broker gets a block again after it lost or released the block.
    SameBlockAgain,
    /// A broker gets a block again before it has detected the block's loss.
    OwnBlockAgain,
    /// A broker releases a block in which a member may still issue IDs.
    ReleasedInUse,
    /// The store confirms some renewals of a batch and refuses the others.
    PartlyRefused,
    /// A window ends with the window of its block, although the request was for a longer one.
    CutShort,
    /// A member is fenced off.
    FencedOff,
    /// A repeated request for a node gets the same response.
    SameResponse,
    /// A forked child refuses a request that its parent would have granted.
    ForkRefuses,
    /// A process writes what it read before a restore.
    LateWrite,
}

/// The bounds of a search: the actors, the clocks and the accidents.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a kind of event")]
pub struct Scenario {
    pub name: &'static str,
    /// The requested node of each process.
    pub identities: Vec<Identity>,
    /// The number of nodes that the first process leases at a time. The others lease one node.
    pub leased: usize,
    /// The maximum number of steps; `None` means every order of events.
    pub steps: Option<usize>,
    /// The number of nodes or blocks in the store.
    pub rows: u64,
    /// The number of nodes in a block, as a power of two.
    pub block_bits: u32,
    /// The maximum number of blocks that a broker holds.
    pub slots: usize,
    /// The length of a window in ticks.
    pub window: u64,
    /// The maximum number of ticks from the clock to the start of a grant.
    pub ahead: u64,
    /// The readings of the store's clock, in increasing order.
    pub times: Vec<i64>,
    /// The possible readings of a keeper's clock.
    pub readings: Vec<Reading>,
    /// The maximum number of messages of one process that are in transit.
    pub in_transit: usize,
    /// The maximum number of accidents. The fields below, up to the blank line, enable kinds of accidents.
    pub accidents: u8,
    /// Whether processes are killed and restarted without their state.
    pub crashes: bool,
    pub forks: bool,
    /// Whether requests arrive twice or late.
    pub repeats: bool,
    pub operates: bool,

    /// The number of times that an older copy of the store is restored.
    pub restores: u8,
    /// The maximum number of copies of the store.
    pub copies: usize,
    /// Whether rows have an age, so that their holders may continue their leases after a restore, and time passes
    /// before the last restore.
    pub ages: bool,
    /// The time for which a row stays held without a renewal.
    pub ttl: u64,
    /// The time for which a restored store grants nothing.
    pub quiet: u64,
    /// Whether processes close their leases, or brokers release blocks.
    pub closes: bool,
    /// Whether members release nodes.
    pub releases: bool,
    /// Whether a holder whose renewals fail requests another node while it has its own.
    pub moves: bool,
    /// Whether the granter is about to shut down, so that each successful renewal tells the holder to leave.
    pub leaves: bool,
    /// Whether a process may be paused between its read of the store and the write that depends on it, while the store
    /// is restored to the contents that the process read. The condition of the write then still holds.
    pub pauses: bool,
    /// Whether the store's clock may be behind, as after a failover.
    pub slow_clock: bool,
    /// Whether messages between broker and store may be delayed. Otherwise, messages arrive at once or are lost.
    pub is_slow: bool,
    /// Whether processes issue all IDs of a tick, instead of only the first.
    pub fills_ticks: bool,
    pub mutant: Mutant,
    /// The only invariant that is checked; `None` means all invariants.
    pub only: Option<Invariant>,
    /// The events that must occur.
    pub happens: Vec<Event>,
    /// The events that occurred in a step of the search and that a world does not record.
    pub seen: Arc<AtomicU32>,
}

impl Scenario {
    /// Creates a scenario of two processes that request any node, with equal clocks and no accidents.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            identities: vec![Identity::Any; 2],
            leased: 1,
            steps: None,
            rows: 1,
            block_bits: 0,
            slots: 1,
            window: 2,
            ahead: 1,
            times: vec![0, 1, 2],
            readings: vec![Reading::Off(0)],
            in_transit: 1,
            accidents: 0,
            crashes: false,
            forks: false,
            repeats: false,
            operates: false,
            restores: 0,
            copies: 1,
            ages: false,
            ttl: 1,
            quiet: 5,
            closes: false,
            releases: false,
            moves: false,
            leaves: false,
            pauses: false,
            slow_clock: false,
            is_slow: false,
            fills_ticks: false,
            mutant: Mutant::Nothing,
            only: None,
            happens: Vec::new(),
            seen: Arc::default(),
        }
    }

    pub const fn bounds(&self) -> Bounds {
        Bounds {
            max_window_ms: self.window,
            max_ahead_ms: self.ahead,
            max_skew_ms: MAX_SKEW_MS,
            quiet_ms: self.quiet,
        }
    }

    /// Returns the options of a process's keeper, or of a block's.
    pub fn options(&self, index: usize) -> KeeperOptions {
        let identity = self.identities[index].clone();
        let moves = self.moves && !matches!(identity, Identity::Node(_));
        let acquire = Acquire {
            layout: LAYOUT,
            identity,
            from: 0,
            to: self.rows - 1,
            rotation: 0,
            block_bits: self.block_bits,
            reuse: true,
            token: Token::from_bits(0),
            window_ms: self.window,
            ttl_ms: self.ttl,
            now: 0,
            waited_ms: 0,
            after: 0,
            owner: Owner::default(),
        };
        KeeperOptions { nodes: if index == 0 { self.leased } else { 1 }, acquire, moves }
    }

    /// Returns a keeper that has no node or block yet.
    pub fn keeper(&self, index: usize) -> Keeper {
        Keeper::new(&self.options(index), GeneratorState::Ended { used_until: 0 })
    }

    pub fn note(&self, event: Event) {
        self.seen.fetch_or(1 << event as u32, Ordering::Relaxed);
    }

    pub fn has_seen(&self, event: Event) -> bool {
        self.seen.load(Ordering::Relaxed) & 1 << event as u32 != 0
    }
}

/// A mistake in the protocol, which the model must refute. [`Nothing`](Self::Nothing) is the product.
///
/// Mutants leave the product's code unchanged. The model falsifies what the product's code reads, or replaces single
/// inputs and outputs of the keeper with those of a keeper that makes the mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    Nothing,
    /// The limit rises when the renewal is sent, not when it is confirmed.
    UseBeforePersist,
    /// A grant starts at the clock, regardless of the fence.
    StartAtNow,
    /// A renewal does not require a token.
    NoToken,
    /// The node is released while the generator still issues IDs.
    ReleaseWithoutClosing,
    /// A renewal without a response is treated as confirmed.
    TimeoutIsSuccess,
    /// The generator issues the tick of the fence.
    FenceInclusive,
    /// A release lowers the fence to the tick of the last ID.
    ReleasesAtLastTick,
    /// There are no leases: each process has its own node and trusts the clock.
    Plain,
    /// A forked child continues with its parent's generator.
    ForkKeepsGenerator,
    /// A forked child keeps its parent's lease, but not the limit of its generator.
    ForkKeepsHolder,
    /// An expired row is deleted together with its fence.
    ExpiryDeletesRow,
    /// The store does not detect that it was restored.
    RestoreUndetected,
    /// The response to a write is used although a restore may have happened between the read and the write.
    UsesLateWrite,
    /// The response to such a write is not used, but the store then seems not to have been restored.
    ForgetsLateWrite,
    /// A token is accepted for any later grant that contains it.
    TokenOfAnyGrant,
    /// A generator begins at the start of its grant, even below this process's own last tick.
    BelowOwnLast,
    /// A node whose window is too short to begin in is released as unused.
    UnusedUnlessBegun,
    /// A holder continues its lease although its row has expired.
    ContinuesExpired,
    /// A holder continues its lease until the instant at which its row expires, on clocks that differ.
    ContinuesWithoutSkew,
    /// A holder continues its lease although another copy of the store may have granted its node.
    ContinuesDespiteOtherCopies,
    /// A holder has a last window although its row has expired.
    LastWindowExpired,
    /// A last window ends as late as that of a row that was renewed just now.
    LastWindowDespiteOtherCopies,
    /// A holder continues its lease with the row of another grant.
    ContinuesAnyGrant,
    /// A holder of a fixed node continues its lease.
    ContinuesFixed,
    /// A request for a fixed node takes over any live row.
    TakesOverLive,
    /// An operator's release makes the node available at once.
    OperatorFreesAtOnce,
    /// A restored store grants at once, starting at the clock.
    NoWait,
    /// A forked broker responds as its parent does.
    ForkResponds,
    /// A broker keeps the rows of a block that it lost, and uses them again under a later grant.
    KeepsRows,
    /// Windows reach one tick beyond the block's fence.
    BeyondFence,
    /// Windows may start before the block's grant.
    BelowStart,
    /// A block is released at the broker's own last tick. A broker issues no IDs.
    ReleasesAtOwnLastTick,
    /// A block is released at the highest fence that a row has now, instead of the highest that a row ever had.
    ReleasesAtPresentFence,
    /// A block is released while the broker still grants its nodes.
    ReleasesAndGrants,
    /// A broker that leased a block again drops the later grant when it detects the loss of the earlier one.
    DropsLaterGrant,
    /// A renewal is accepted with any token and any start.
    AnyToken,
    /// A block's fence is used when its renewal is sent, not when it is confirmed.
    BeforeConfirmed,
    /// All renewals of a batch count as confirmed if one of them is.
    OneResponseForAll,
}
