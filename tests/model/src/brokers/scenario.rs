//! What is let loose, and how far: within these bounds every order of events is tried.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use flakeid_protocol::keeper::{GeneratorState, Keeper, KeeperOptions};
use flakeid_protocol::{Acquire, Bounds, Identity, Owner, Token};

use crate::invariant::Invariant;
use crate::store::{LAYOUT, MAX_SKEW_MS};

/// How far the renewal of a block reaches, in ticks.
pub const BLOCK_WINDOW: u64 = 3;
/// How far the renewal of a node reaches.
pub const WINDOW: u64 = 2;
/// For how long a node is kept for a holder that does not renew.
pub const TTL: u64 = 1;

/// What must be found in a scenario, so that it does not hold for want of anything happening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A member issues IDs of a node of which another one has issued some.
    TwoIssue,
    /// A broker gets a block that the other one believes to hold.
    TakenOver,
    /// A broker gets a block again that it had lost or given back.
    SameBlockAgain,
    /// A broker gets a block that it believes to hold itself.
    OwnBlockAgain,
    /// A block is given back while a member may still issue in it.
    GivenBackInUse,
    /// The renewal of a block is confirmed after it timed out.
    LateConfirmation,
    /// A window ends with the block's, though a longer one was asked for.
    CutShort,
    /// A member is told that its node is another's.
    FencedOff,
    /// A request for a node that comes again has the same answer.
    SameAnswer,
    /// A forked child refuses what its parent would have granted.
    ForkRefuses,
    GrantsAfterRestoration,
    /// A block's holder goes on in a restored store.
    Continues,
}

#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a kind of event")]
pub struct Scenario {
    pub name: &'static str,
    /// The nodes of a block, as a power of two.
    pub block_bits: u32,
    pub blocks: u64,
    /// How many blocks a broker holds at most.
    pub slots: usize,
    /// What the store's clock reads, one after the other.
    pub times: Vec<i64>,
    /// What a broker's clock may read, less the store's.
    pub readings: Vec<i64>,
    /// How far ahead of the clock a grant may start, in ticks.
    pub ahead: u64,
    /// For how long a block is kept for a broker that does not renew.
    pub ttl: u64,
    /// For how long a restored store grants nothing.
    pub quiet: u64,
    /// Whether messages between broker and store are under way for a while; otherwise they arrive at once, or
    /// never.
    pub is_slow: bool,
    /// Whether brokers give blocks back.
    pub gives_back: bool,
    /// Whether members give nodes back.
    pub releases: bool,
    /// How many accidents there may be, of the kinds below up to the blank line.
    pub mischief: u8,
    pub kills: bool,
    pub forks: bool,
    /// Requests reach a broker twice, or late.
    pub repeats: bool,

    /// How often an older copy of the store is put back.
    pub restorations: u8,
    /// How many steps are tried at most; every order of events if `None`.
    pub steps: Option<usize>,
    pub mutant: Mutant,
    /// The one invariant that counts.
    pub only: Option<Invariant>,
    /// What must happen.
    pub happens: Vec<Event>,
    pub seen: Arc<AtomicU32>,
}

impl Scenario {
    /// One block of one node, and no accidents.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            block_bits: 0,
            blocks: 1,
            slots: 1,
            times: vec![0, 1, 2, 3],
            readings: vec![0],
            ahead: 2,
            ttl: 1,
            quiet: 7,
            is_slow: false,
            gives_back: false,
            releases: false,
            mischief: 0,
            kills: false,
            forks: false,
            repeats: false,
            restorations: 0,
            steps: None,
            mutant: Mutant::Nothing,
            only: None,
            happens: Vec::new(),
            seen: Arc::default(),
        }
    }

    pub const fn bounds(&self) -> Bounds {
        Bounds {
            max_window_ms: BLOCK_WINDOW,
            max_ahead_ms: self.ahead,
            max_skew_ms: MAX_SKEW_MS,
            quiet_ms: self.quiet,
        }
    }

    /// Returns the options of a block's keeper.
    pub fn options(&self) -> KeeperOptions {
        let acquire = Acquire {
            layout: LAYOUT,
            block_bits: self.block_bits,
            identity: Identity::Any,
            from: 0,
            to: self.blocks - 1,
            rotation: 0,
            reuse: true,
            token: Token::from_bits(0),
            window_ms: BLOCK_WINDOW,
            ttl_ms: self.ttl,
            now: 0,
            waited_ms: 0,
            after: 0,
            owner: Owner::default(),
        };
        KeeperOptions { nodes: 1, acquire, moves: false }
    }

    /// Returns a keeper that has no block yet.
    pub fn keeper(&self) -> Keeper {
        Keeper::new(&self.options(), GeneratorState::Ended { used_until: 0 })
    }

    /// Returns the number of ticks that a broker adds to a block's fence.
    pub fn beyond(&self) -> u64 {
        u64::from(self.mutant == Mutant::BeyondFence)
    }

    /// What a broker's clock reads at the least.
    pub fn slowest(&self, time: i64) -> i64 {
        time + self.readings.iter().min().copied().unwrap_or(0).min(0)
    }

    pub fn note(&self, event: Event) {
        self.seen.fetch_or(1 << event as u32, Ordering::Relaxed);
    }
}

/// A way to get a broker wrong, which the model must refute; [`Nothing`](Self::Nothing) is the product.
///
/// The product's code is not changed: it is told what is not so, or not told what is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    Nothing,
    /// A forked child answers as its parent does.
    ForkAnswers,
    /// A broker keeps the rows of a block that it lost, and goes on with them when it gets the block again.
    KeepsRows,
    /// Windows reach a tick beyond the block's fence.
    BeyondFence,
    /// Windows may start before the block's grant.
    BelowStart,
    /// A block is given back as if nothing of it was used after the last tick of the broker itself, which
    /// issues no IDs.
    GivesBackOwnLast,
    /// A block is given back with the highest fence that a row has now, and not that one ever had.
    GivesBackPresentHighest,
    /// A block is given back while the broker goes on granting in it.
    GivesBackAndGrants,
    /// A broker that got a block again before it found out that it had lost it gives up the later grant when
    /// it does.
    GivesUpLaterGrant,
    /// A renewal counts whatever its token and start are.
    AnyToken,
    /// A block's fence is used when its renewal is sent, not when the store has confirmed it.
    BeforeConfirmed,
    /// A renewal of a block without an answer is taken for a confirmed one.
    AckLostIsSuccess,
    /// The store does not notice that it was restored.
    RollbackBlind,
}
