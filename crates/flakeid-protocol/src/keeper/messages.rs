//! The inputs and outputs of a keeper.

use std::time::Duration;

use flakeid_core::Error;

use crate::store::Fault;
use crate::{Acquire, Grant, Release, Renew, Renewed, Token};

/// The options of a [`Keeper`](super::Keeper).
#[derive(Clone, Debug, PartialEq)]
pub struct KeeperOptions {
    /// The number of nodes.
    pub nodes: usize,
    /// The request for a node. The keeper sets its token, its clock and `after`.
    pub acquire: Acquire,
    /// Whether other lessors can grant a node while renewals at the present one fail.
    pub moves: bool,
}

impl KeeperOptions {
    /// Returns the length of a window in ticks, before a lessor limits it.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.acquire.window_ms.div_ceil(self.acquire.layout.unit_ms())
    }
}

/// The state of a keeper's generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GeneratorState {
    /// This keeper's generator, or that of an earlier keeper, may issue IDs.
    Open,
    /// No generator issues IDs.
    Ended {
        /// The tick after the last one in which this process issued an ID.
        used_until: u64,
    },
}

/// The readings that a driver takes before each input.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The clock in Unix milliseconds, or the error of reading it.
    pub unix_ms: Result<i64, Error>,
    /// The time since a fixed instant, by a clock that never goes backwards.
    pub passed: Duration,
    /// The tick of the generator's next ID; `None` if no generator issues IDs.
    pub next: Option<u64>,
    /// A random number from 0.8 to 1.2.
    pub jitter: f64,
}

/// An event that a driver passes to a keeper.
#[derive(Clone, Debug)]
pub enum Input {
    /// The driver's timer has expired, or a caller needs IDs: the keeper checks one of its nodes.
    Wake {
        /// The index of the node's holder.
        member: usize,
        /// The number of ticks that must be left for a renewal not to be due.
        margin: u64,
        /// The number of ticks below which a holder whose renewals fail also requests a node from other
        /// lessors.
        reserve: u64,
        /// A token that was never used before.
        fresh: Token,
    },
    /// A lessor has answered a request, or the request has failed.
    Reply(Reply),
    /// The driver has created a generator, or failed to.
    Began {
        /// The generator's nodes and window.
        begin: Begin,
        /// The result.
        result: Result<(), Error>,
    },
    /// The generator has ended and issues no further ID.
    Ended {
        /// The tick after the last one in which this process issued an ID, under any grant.
        used_until: u64,
        /// Whether the release keeps the fence, because another generator may have used every tick of
        /// the window.
        keeps_fence: bool,
    },
    /// The user has closed the lease.
    Close,
}

/// An instruction to a driver, which carries out the outputs of an input in their order.
///
/// The driver carries out `Begin`, `Extend` and `End` immediately, and passes the results of `Begin`
/// and `End` before any other input.
#[derive(Clone, Debug, PartialEq)]
pub enum Output<E> {
    /// Create a generator, then pass [`Input::Began`].
    Begin(Begin),
    /// Let the generator issue IDs up to a confirmed fence.
    Extend {
        /// The first tick in which the generator must not issue an ID.
        fence: u64,
    },
    /// End the generator, if there is one, then pass [`Input::Ended`].
    End,
    /// Report an event.
    Event(E),
    /// Send a request, then pass [`Input::Reply`]. Requests follow all other outputs, because lessors
    /// can be slow.
    Demand(Demand),
}

/// The nodes and the window of a new generator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Begin {
    /// The nodes, in the order of the holders.
    pub nodes: Vec<u64>,
    /// The first tick in which the generator may issue an ID.
    pub start: u64,
    /// The first tick in which the generator must not issue an ID.
    pub fence: u64,
    /// The longest time, in milliseconds, by which IDs may be ahead of the clock.
    pub max_ahead_ms: u64,
}

/// A request to a lessor.
#[derive(Clone, Debug, PartialEq)]
pub enum Demand {
    /// A request for a node.
    Acquire {
        /// The request.
        request: Acquire,
        /// The node that the holder has but cannot renew. If there is one, the driver sends the request
        /// only to lessors other than the granter of that node.
        instead_of: Option<u64>,
    },
    /// A request for a higher fence.
    Renew(Renew),
    /// The release of a node.
    Release(Release),
}

/// The result of a request to a lessor.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The result of an acquire.
    Acquire {
        /// The token of the request.
        token: Token,
        /// The grant, or the fault.
        result: Result<Grant, Fault>,
    },
    /// The result of a renewal.
    Renew {
        /// The next token of the request.
        next: Token,
        /// The confirmed fence, or the fault.
        result: Result<Renewed, Fault>,
    },
    /// The result of a release.
    Release {
        /// The node of the request.
        node: u64,
        /// The fault, if there was one.
        result: Result<(), Fault>,
    },
}

/// An event that a [`Keeper`](super::Keeper) reports.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// The keeper has taken a granted node.
    Granted(Grant),
    /// The granted window is too short for a generator, so the keeper releases the node.
    TooShort,
    /// The driver has created a generator.
    Begun {
        /// The generator's nodes and window.
        begin: Begin,
        /// The earliest expiry of the nodes, in Unix milliseconds of the store's clock.
        expires: i64,
    },
    /// The keeper cannot proceed, because the clock failed or is outside the layout.
    NoClock(Error),
    /// An acquire failed.
    NotGranted {
        /// The fault.
        fault: Fault,
        /// Whether the holder still has its previous node.
        has_node: bool,
    },
    /// A lessor has confirmed a renewal.
    Renewed {
        /// The node.
        node: u64,
        /// The confirmed fence.
        fence: u64,
        /// The lowest fence of all nodes of the lease.
        lowest: u64,
        /// The expiry, in Unix milliseconds of the store's clock.
        expires: i64,
        /// Whether the generator now issues IDs up to the lowest fence.
        extends: bool,
    },
    /// A renewal failed.
    NotRenewed {
        /// The node.
        node: u64,
        /// The fault.
        fault: Fault,
    },
    /// A lessor has confirmed a release.
    Released {
        /// The node.
        node: u64,
    },
    /// A release failed; the node stays held until it expires.
    NotReleased {
        /// The fault.
        fault: Fault,
    },
}
