//! The keeper of a lease: its options, its schedule, its events for observers, and its status.

mod lease_keeper;
mod messages;
mod options;
mod schedule;
mod state;

pub use lease_keeper::{LeaseKeeper, Notice, Progress};
pub use messages::{
    Begin, Demand, GeneratorState, Input, KeeperOptions, Output, Reading, Reply, Report,
};
pub use options::LeaseOptions;
pub use schedule::{RenewalSchedule, renewal_margin};
pub use state::Keeper;

use flakeid_core::{Error, ErrorKind};

use crate::store::RETRY;

/// An event of a lease, for logs and metrics.
///
/// ```
/// use flakeid_protocol::keeper::LeaseEvent;
///
/// let event = LeaseEvent::Renewed { node: 7, fence: 1_000 };
/// assert_eq!((event.kind(), event.node(), event.fence()), ("renewed", Some(7), Some(1_000)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeaseEvent {
    /// A node was granted.
    Acquired {
        /// The node.
        node: u64,
        /// The first tick that may be used.
        start: u64,
        /// The first tick that may not be used.
        fence: u64,
    },
    /// The fence was raised.
    Renewed {
        /// The node.
        node: u64,
        /// The first tick that may not be used.
        fence: u64,
    },
    /// Another process has the node from the fence on, and this one takes another node.
    FencedOff {
        /// The node that was lost.
        node: u64,
        /// The cause.
        error: Error,
    },
    /// The store refused a request.
    Refused {
        /// The cause.
        error: Error,
    },
    /// The store does not respond. The generator issues IDs until the fence.
    StoreLost {
        /// The cause.
        error: Error,
    },
    /// The store responds again.
    StoreFound,
    /// The clocks of this host and of the store differ too much.
    ClockSkew {
        /// The error, with the difference.
        error: Error,
    },
    /// The node was released.
    Released {
        /// The node.
        node: u64,
    },
}

impl LeaseEvent {
    /// The name of the event, the same in every language: `acquired`, `renewed`, `fenced-off`, `refused`,
    /// `store-lost`, `store-found`, `clock-skew` or `released`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Acquired { .. } => "acquired",
            Self::Renewed { .. } => "renewed",
            Self::FencedOff { .. } => "fenced-off",
            Self::Refused { .. } => "refused",
            Self::StoreLost { .. } => "store-lost",
            Self::StoreFound => "store-found",
            Self::ClockSkew { .. } => "clock-skew",
            Self::Released { .. } => "released",
        }
    }

    /// The node that was acquired, renewed, lost or released.
    #[must_use]
    pub const fn node(&self) -> Option<u64> {
        match *self {
            Self::Acquired { node, .. }
            | Self::Renewed { node, .. }
            | Self::FencedOff { node, .. }
            | Self::Released { node } => Some(node),
            _ => None,
        }
    }

    /// The first usable tick of a node that was acquired.
    #[must_use]
    pub const fn start(&self) -> Option<u64> {
        if let Self::Acquired { start, .. } = *self { Some(start) } else { None }
    }

    /// The first tick that may not be used after a node was acquired or renewed.
    #[must_use]
    pub const fn fence(&self) -> Option<u64> {
        match *self {
            Self::Acquired { fence, .. } | Self::Renewed { fence, .. } => Some(fence),
            _ => None,
        }
    }

    /// The error of the event, if any.
    #[must_use]
    pub const fn error(&self) -> Option<&Error> {
        match self {
            Self::FencedOff { error, .. }
            | Self::Refused { error }
            | Self::StoreLost { error }
            | Self::ClockSkew { error } => Some(error),
            _ => None,
        }
    }
}

/// The state of a lease.
///
/// ```
/// use flakeid_protocol::keeper::LeaseStatus;
///
/// let status = LeaseStatus::default();
/// assert!(status.grants == 0 && status.last_error.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaseStatus {
    /// The first tick of the current grant.
    pub start: u64,
    /// The first tick that may not be used.
    pub fence: u64,
    /// The start of that tick, in Unix milliseconds.
    pub fence_unix_ms: i64,
    /// The time until which no other process gets the node, in Unix milliseconds of the store's clock.
    pub expires_unix_ms: i64,
    /// The number of nodes that were granted to this generator.
    pub grants: u64,
    /// The number of confirmed renewals.
    pub renewals: u64,
    /// The number of failed attempts to acquire or renew.
    pub failures: u64,
    /// Whether the node belongs to another process from the fence on.
    pub fenced_off: bool,
    /// The error of the latest attempt, or `None` if it succeeded.
    pub last_error: Option<Error>,
}

/// Returns the error of a lease without a response of its store or broker.
#[must_use]
pub fn unanswered(source: &dyn std::fmt::Display) -> Error {
    let text = format!("{source} has not answered in time; the lease keeps trying");
    Error::new(ErrorKind::StoreUnavailable, &text, Some(RETRY))
}

/// Returns the error of a window that ended because `cause` prevented its renewal.
#[must_use]
pub fn used_up(cause: &Error) -> Error {
    let text = format!("the window of ticks is used up and was not renewed: {cause}");
    // The keeper tries again, whatever the cause was.
    let retry_after = cause.retry_after().or(Some(RETRY));
    Error::new(ErrorKind::LeaseExpired, &text, retry_after).caused_by(cause.clone())
}
