//! What happens to a lease, for observers.

use flakeid_core::Error;

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
