//! The faults that can occur in operations on a store.

use std::fmt;
use std::time::Duration;

use flakeid_core::{Error, ErrorKind, Layout};

use crate::Refusal;
use crate::missing::missing_namespace;

/// The delay before retrying a request to a store that did not respond. The keeper, which renews leases, uses a retry
/// interval of about the same length.
pub const RETRY: Duration = Duration::from_millis(200);

/// The time limit for connecting to a store.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The reason why an operation on a store has no result.
///
/// The messages contain no password and no token. Each store ensures this where it creates the fault.
///
/// ```
/// use flakeid_protocol::Refusal;
/// use flakeid_protocol::store::Fault;
///
/// let fault = Fault::from(Refusal::Skew { by_ms: 5_000, max_ms: 1_000 });
/// assert!(fault.is_skew());
/// assert!(!Fault::Unavailable("connection refused".into()).is_skew());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The store did not respond in time or reported a temporary failure, such as a failed write. The data may or may
    /// not have been written. Retrying is safe and may succeed.
    Unavailable(String),
    /// The store is unusable in its current state, for example because of missing permissions, missing tables or
    /// invalid contents. Nothing was written, and retrying does not help.
    Rejected(String),
    /// The database has no tables for leases, so it has no namespace. Nothing was written, and retrying does not help.
    MissingTables,
    /// Data that this transaction had read was changed before this transaction could commit. Nothing was written. The
    /// store retries the transaction, so callers never see this fault.
    Conflict,
    /// The rules forbid the request. A refusal is a normal response, so the store still commits the transaction's
    /// earlier writes, such as the raised floor after a restore.
    Refused(Refusal),
}

impl Fault {
    /// Returns the fault for a [`Store`](super::Store) that did not run the transaction, which would be a bug.
    ///
    /// ```
    /// use flakeid_protocol::store::Fault;
    ///
    /// assert!(matches!(Fault::not_run(), Fault::Rejected(text) if text.contains("report it")));
    /// ```
    #[doc(hidden)]
    #[must_use]
    pub fn not_run() -> Self {
        let text =
            "internal error: the store returned without running the transaction; please report it";
        Self::Rejected(text.into())
    }

    /// Converts the fault to the error that users see. The fault is the source of the error. `place` is the store's
    /// name in the message.
    ///
    /// ```
    /// use std::error::Error;
    ///
    /// use flakeid_core::Layout;
    /// use flakeid_protocol::Refusal;
    /// use flakeid_protocol::store::Fault;
    ///
    /// let fault = Fault::Refused(Refusal::MissingNamespace);
    /// let error = fault.to_error("the store", "orders", &Layout::TWITTER);
    /// assert_eq!(error.source().and_then(|source| source.downcast_ref()), Some(&fault));
    /// ```
    #[must_use]
    pub fn to_error(&self, place: &str, namespace: &str, layout: &Layout) -> Error {
        let (kind, retry_after) = match self {
            Self::MissingTables | Self::Refused(Refusal::MissingNamespace) => {
                return self.missing_namespace(place, namespace, layout, 0);
            }
            Self::Refused(refusal) => {
                return refusal.to_error(namespace, layout).caused_by(self.clone());
            }
            Self::Rejected(_) => (ErrorKind::StoreRejected, None),
            Self::Unavailable(_) | Self::Conflict => (ErrorKind::StoreUnavailable, Some(RETRY)),
        };
        let text = self.to_string();
        let text = if text.contains(place) { text } else { format!("{place}: {text}") };
        Error::new(kind, &text, retry_after).caused_by(self.clone())
    }

    /// Returns the error for a missing namespace with blocks of 2^`block_bits` nodes, or for missing tables.
    #[doc(hidden)]
    #[must_use]
    pub fn missing_namespace(
        &self,
        place: &str,
        namespace: &str,
        layout: &Layout,
        block_bits: u32,
    ) -> Error {
        let problem = match self {
            Self::MissingTables => {
                format!("{place} has no tables for leases, and no namespace {namespace:?}")
            }
            _ => format!("the store has no namespace {namespace:?}"),
        };
        missing_namespace(&problem, place, namespace, layout, block_bits).caused_by(self.clone())
    }

    /// Whether the fault shows that this host's clock or the store's clock is wrong.
    #[must_use]
    pub const fn is_skew(&self) -> bool {
        matches!(
            self,
            Self::Refused(
                Refusal::Skew { .. }
                    | Refusal::ImpossibleClock { .. }
                    | Refusal::ClockStep { .. }
                    | Refusal::TooFarAhead { .. }
                    | Refusal::Relayed { kind: ErrorKind::ClockSkew, .. }
            )
        )
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(text) | Self::Rejected(text) => f.write_str(text),
            Self::MissingTables => f.write_str("the store has no tables for leases"),
            Self::Conflict => f.write_str("other clients changed the same rows"),
            Self::Refused(refusal) => write!(f, "{refusal:?}"),
        }
    }
}

impl std::error::Error for Fault {}
