//! Keeping a lease: its options, when it is renewed, what happens to it, for observers, and how it
//! stands.

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

/// What happens to a lease, for logs and metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeaseEvent {
    /// A node was granted.
    Acquired {
        /// The node.
        node: u64,
        /// The first tick that may be used.
        start: u64,
        /// The first tick that may not.
        fence: u64,
    },
    /// The fence was moved up.
    Renewed {
        /// The node.
        node: u64,
        /// The first tick that may not be used.
        fence: u64,
    },
    /// Another process has the node from the fence on; this one takes another node.
    FencedOff {
        /// The node that was lost.
        node: u64,
        /// Why.
        error: Error,
    },
    /// The store was asked and said no.
    Refused {
        /// Why.
        error: Error,
    },
    /// The store does not answer. IDs go on until the fence.
    StoreLost {
        /// What happened.
        error: Error,
    },
    /// The store answers again.
    StoreFound,
    /// This host's clock and the store's are too far apart.
    ClockSkew {
        /// By how much.
        error: Error,
    },
    /// The node was given back.
    Released {
        /// The node.
        node: u64,
    },
}

impl LeaseEvent {
    /// What happened, in a word, the same in every language: `acquired`, `renewed`, `fenced-off`,
    /// `refused`, `store-lost`, `store-found`, `clock-skew` or `released`.
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

    /// The first tick that may be used, of a node that was acquired.
    #[must_use]
    pub const fn start(&self) -> Option<u64> {
        if let Self::Acquired { start, .. } = *self { Some(start) } else { None }
    }

    /// The first tick that may not be used, of a node that was acquired or renewed.
    #[must_use]
    pub const fn fence(&self) -> Option<u64> {
        match *self {
            Self::Acquired { fence, .. } | Self::Renewed { fence, .. } => Some(fence),
            _ => None,
        }
    }

    /// What went wrong, if something did.
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

/// How a lease stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaseStatus {
    /// The first tick of the present grant.
    pub start: u64,
    /// The first tick that may not be used.
    pub fence: u64,
    /// When that tick begins, in Unix milliseconds.
    pub fence_unix_ms: i64,
    /// Until when nobody else gets the node, in Unix milliseconds of the store's clock.
    pub expires_unix_ms: i64,
    /// How many nodes were granted to this generator.
    pub grants: u64,
    /// How many renewals were confirmed.
    pub renewals: u64,
    /// How many attempts to acquire or renew had no success.
    pub failures: u64,
    /// Whether the node is another's from the fence on.
    pub fenced_off: bool,
    /// Why the latest attempt had no success; `None` once one has.
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
    Error::new(ErrorKind::LeaseExpired, &text, cause.retry_after().or(Some(RETRY)))
}
