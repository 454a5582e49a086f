//! The faults of operations on a store.

use std::fmt;
use std::time::Duration;

use flakeid_core::{Error, ErrorKind, Layout};

use crate::Refusal;

/// The time after which to try again at a store that does not respond: about the keeper's own interval.
pub const RETRY: Duration = Duration::from_millis(200);

/// The time limit for connecting to a store.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The reason why an operation on a store has no result.
///
/// Its messages contain no password and no token; each store ensures this where it creates the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It is unknown whether anything was written: the store did not respond, or not in time, or could not write. Trying again
    /// is safe and may help.
    Unavailable(String),
    /// The store cannot be used in its present state (no permission, no tables, invalid contents). Nothing was written; trying
    /// again does not help.
    Rejected(String),
    /// The data that were read have changed in the meantime; nothing was written. The store runs the work again, so callers
    /// never see this fault.
    Conflict,
    /// The rules refuse the request. This is a normal response: writes before it, such as the floor of a restored store, are
    /// kept.
    Refused(Refusal),
}

impl Fault {
    /// Converts the fault to the error that users see, whose source it is. `place` is the name of the store in the
    /// message.
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
            Self::Refused(refusal) => {
                return refusal.to_error(namespace, layout).caused_by(self.clone());
            }
            Self::Rejected(_) => (ErrorKind::StoreRejected, None),
            Self::Unavailable(_) | Self::Conflict => (ErrorKind::StoreUnavailable, Some(RETRY)),
        };
        // Some messages contain the name of the store already.
        let text = self.to_string();
        let text = if text.contains(place) { text } else { format!("{place}: {text}") };
        Error::new(kind, &text, retry_after).caused_by(self.clone())
    }

    /// Whether the fault means that this host's clock and the store's clock are too far apart.
    #[must_use]
    pub const fn is_skew(&self) -> bool {
        matches!(
            self,
            Self::Refused(
                Refusal::Skew { .. }
                    | Refusal::ImpossibleClock { .. }
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
            Self::Conflict => f.write_str("other clients changed the same rows"),
            Self::Refused(refusal) => write!(f, "{refusal:?}"),
        }
    }
}

impl std::error::Error for Fault {}
