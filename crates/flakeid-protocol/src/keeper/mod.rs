//! The keeper of a lease: its options, its schedule, its events for observers, and its status.

mod driver;
mod lease_keeper;
mod messages;
mod options;
mod schedule;
mod state;

#[doc(hidden)]
pub use driver::Driver;
#[doc(hidden)]
pub use lease_keeper::{LeaseKeeper, Progress};
#[doc(hidden)]
pub use messages::{
    Begin, Demand, GeneratorState, Input, KeeperOptions, Output, Reading, Reply, Report,
};
#[doc(hidden)]
pub use options::LeaseOptions;
#[doc(hidden)]
pub use schedule::{RenewalSchedule, renewal_margin};
#[doc(hidden)]
pub use state::Keeper;

use flakeid_core::{Error, ErrorKind};

use crate::store::RETRY;

/// A lease event, for logs and metrics.
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
        /// The granted node.
        node: u64,
        /// The first tick that the process may use.
        start: u64,
        /// The first tick that the process must not use.
        fence: u64,
    },
    /// The fence was raised.
    Renewed {
        /// The renewed node.
        node: u64,
        /// The first tick that the process must not use.
        fence: u64,
    },
    /// The node is lost from its fence onward, usually to another process. This process then sends a new request for a
    /// node, unless its node is fixed and another process has taken over that node.
    FencedOff {
        /// The node that was lost.
        node: u64,
        /// The error that explains the loss.
        error: Error,
    },
    /// The store refused a request.
    Refused {
        /// The error that explains the refusal.
        error: Error,
    },
    /// The store does not respond. The generator continues to issue IDs until the fence.
    StoreLost {
        /// The error of the latest request to the store.
        error: Error,
    },
    /// The store responds again.
    StoreFound,
    /// This host's clock and the store's clock are too far apart.
    ClockSkew {
        /// The error, which states the size of the clock deviation.
        error: Error,
    },
    /// The node was released.
    Released {
        /// The released node.
        node: u64,
    },
}

impl LeaseEvent {
    /// The name of the event, which is the same in every language: `acquired`, `renewed`, `fenced-off`, `refused`,
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

    /// The first usable tick of an acquired node.
    #[must_use]
    pub const fn start(&self) -> Option<u64> {
        if let Self::Acquired { start, .. } = *self { Some(start) } else { None }
    }

    /// The fence of an acquired or renewed node: the first tick that must not be used.
    #[must_use]
    pub const fn fence(&self) -> Option<u64> {
        match *self {
            Self::Acquired { fence, .. } | Self::Renewed { fence, .. } => Some(fence),
            _ => None,
        }
    }

    /// The event's error, if there is one.
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
    /// The first tick that must not be used.
    pub fence: u64,
    /// The time at which the tick `fence` begins, in Unix milliseconds.
    pub fence_unix_ms: i64,
    /// The time until which the node is reserved for this process, in Unix milliseconds according to the store's
    /// clock.
    pub expires_unix_ms: i64,
    /// The number of times that this generator got its nodes from a store or broker.
    pub grants: u64,
    /// The number of confirmed renewals.
    pub renewals: u64,
    /// The number of failed attempts to acquire or renew a node.
    pub failures: u64,
    /// Whether the node is lost from its fence onward, usually to another process.
    pub fenced_off: bool,
    /// The error of the latest attempt, or `None` if the attempt succeeded.
    pub last_error: Option<Error>,
}

/// Returns the error for a lease whose store or broker has not responded.
#[doc(hidden)]
#[must_use]
pub fn unanswered(source: &dyn std::fmt::Display) -> Error {
    let text = format!("{source} did not respond in time; the request is retried automatically");
    Error::new(ErrorKind::StoreUnavailable, &text, Some(RETRY))
}

/// Returns the error for a window that ended because `cause` prevented its renewal.
#[doc(hidden)]
#[must_use]
pub fn used_up(cause: &Error) -> Error {
    let text = format!("the window of ticks is used up and was not renewed: {cause}");
    // The error is always retryable, because the keeper tries again regardless of the cause.
    let retry_after = cause.retry_after().or(Some(RETRY));
    Error::new(ErrorKind::LeaseExpired, &text, retry_after).caused_by(cause.clone())
}
