//! The inputs and outputs of a keeper.

use std::time::Duration;

use flakeid_core::Error;

use crate::store::Fault;
use crate::{Acquire, Grant, Release, Renew, Renewed, Token};

/// The options of a [`Keeper`](super::Keeper).
#[derive(Clone, Debug, PartialEq)]
pub struct KeeperOptions {
    /// The number of nodes that the lease requires.
    pub nodes: usize,
    /// The template for acquire requests. The keeper sets the token, the time and `after` of each request.
    pub acquire: Acquire,
    /// Whether a holder may get a node from another lessor if its renewals fail or its granter shuts down.
    pub moves: bool,
}

impl KeeperOptions {
    /// Returns the length of the requested window in ticks. A lessor may grant a shorter window.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.acquire.window_ms.div_ceil(self.acquire.layout.unit_ms())
    }
}

/// The state of a keeper's generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GeneratorState {
    /// A generator of this keeper or of an earlier keeper may be issuing IDs.
    Open,
    /// No generator issues IDs.
    Ended {
        /// The tick after the last tick in which this process issued an ID.
        used_until: u64,
    },
}

/// The state of the clocks and of the generator, which a driver reads before each input.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The time on the clock in Unix milliseconds, or the error that occurred when the clock was read.
    pub unix_ms: Result<i64, Error>,
    /// The time since a fixed instant, measured by a clock that never goes backwards.
    pub passed: Duration,
    /// The tick of the generator's next ID; `None` if no generator issues IDs.
    pub next: Option<u64>,
    /// A random factor from 0.8 to 1.2, which spreads out the renewals of different processes.
    pub jitter: f64,
}

/// An event that a driver passes to a keeper.
#[derive(Clone, Debug)]
pub enum Input {
    /// The driver's timer has expired, or a caller needs IDs. The keeper checks one of its nodes.
    Wake {
        /// The index of the node's holder.
        member: usize,
        /// The number of remaining ticks below which a renewal is due.
        margin: u64,
        /// The number of remaining ticks below which a holder with failing renewals also requests a node from other
        /// lessors.
        reserve: u64,
        /// A token that has never been used before.
        fresh: Token,
    },
    /// A lessor has responded to a request, or the request has failed.
    Reply(Reply),
    /// The driver has created a generator, or has failed to create one.
    Began {
        /// The generator's nodes and window.
        begin: Begin,
        /// The result of creating the generator.
        result: Result<(), Error>,
    },
    /// The generator has ended and issues no more IDs.
    Ended {
        /// The tick after the last tick in which this process issued an ID under any grant.
        used_until: u64,
        /// Whether the release must leave the fence unchanged, because a generator outside this library may have used
        /// the whole window.
        keeps_fence: bool,
    },
    /// The user has closed the lease.
    Close,
}

/// An instruction to a driver. [`Driver::follow`](super::Driver::follow) executes the instructions in the order in
/// which the keeper returned them. The keeper gets the results of `Begin` and `End` before any other input.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Create a generator, and pass the result back as [`Input::Began`].
    Begin(Begin),
    /// Let the generator issue IDs up to a confirmed fence.
    Extend {
        /// The first tick in which the generator must not issue an ID.
        fence: u64,
    },
    /// End the generator, if there is one, and pass the result back as [`Input::Ended`].
    End,
    /// Report an event.
    Report(Report),
    /// Send a request, and pass the response back as [`Input::Reply`]. Requests come after all other outputs, because
    /// lessors can be slow.
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
    /// The maximum time by which IDs may be ahead of the clock, in milliseconds.
    pub max_ahead_ms: u64,
}

/// A request to a lessor.
#[derive(Clone, Debug, PartialEq)]
pub enum Demand {
    /// A request for a node.
    Acquire {
        /// The request.
        request: Acquire,
        /// The holder's current node, if this node must be replaced because its renewals fail or its granter is about
        /// to shut down. If this field is set, the driver does not send the request to the lessor that granted the
        /// current node.
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
    /// The result of an acquire request.
    Acquire {
        /// The request's token.
        token: Token,
        /// The grant, or the fault.
        result: Result<Grant, Fault>,
    },
    /// The result of a renewal.
    Renew {
        /// The renewal's new token.
        next: Token,
        /// The confirmed fence, or the fault.
        result: Result<Renewed, Fault>,
    },
    /// The result of a release.
    Release {
        /// The request's node.
        node: u64,
        /// The fault, if the release failed.
        result: Result<(), Fault>,
    },
}

/// An event that a [`Keeper`](super::Keeper) reports.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// The keeper has accepted a granted node.
    Granted(Grant),
    /// The granted window is too short for a generator, so the keeper releases the node.
    TooShort,
    /// The driver has created a generator.
    Begun {
        /// The generator's nodes and window.
        begin: Begin,
        /// The earliest expiry time of the nodes, in Unix milliseconds according to the store's clock.
        expires: i64,
    },
    /// The keeper cannot proceed, because the clock failed or is outside the layout's range.
    NoClock(Error),
    /// An acquire failed.
    NotGranted {
        /// The reason for the failure.
        fault: Fault,
        /// Whether the holder still has its previous node.
        has_node: bool,
    },
    /// A lessor has confirmed a renewal.
    Renewed {
        /// The renewed node.
        node: u64,
        /// The confirmed fence.
        fence: u64,
        /// The lowest fence among all nodes of the lease.
        lowest: u64,
        /// The time at which the node expires, in Unix milliseconds according to the store's clock.
        expires: i64,
        /// Whether the generator may now issue IDs up to the lowest fence among the lease's nodes.
        extends: bool,
    },
    /// A renewal failed.
    NotRenewed {
        /// The node that was not renewed.
        node: u64,
        /// The reason for the failure.
        fault: Fault,
    },
    /// A lessor has confirmed a release.
    Released {
        /// The released node.
        node: u64,
    },
    /// A release failed. The node stays reserved until its row expires.
    NotReleased {
        /// The node that was not released.
        node: u64,
        /// The reason for the failure.
        fault: Fault,
    },
}
