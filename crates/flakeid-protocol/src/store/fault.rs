//! Why an operation on a store failed.

use std::fmt;
use std::time::Duration;

use flakeid_core::{Error, ErrorKind, Layout};

use crate::Refusal;

/// When it is worth asking a store again that does not answer: about as soon as the keeper does.
pub const RETRY: Duration = Duration::from_millis(200);

/// How long connecting to a store may take.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Why an operation on a store gave no result.
///
/// No text in it may hold a password or a token: stores see to that where they make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not known whether anything was written: the store did not answer, or not in time, or
    /// could not write. Trying again is safe and may help.
    Unavailable(String),
    /// The store cannot be used like this (no permission, no tables, contents that make no sense).
    /// Nothing was written; trying again does not help.
    Rejected(String),
    /// What was read has changed meanwhile; nothing was written. The store runs the work again,
    /// so this reaches nobody but it.
    Conflict,
    /// The rules say no. That is an answer: what the operation wrote before it, such as the floor of a
    /// restored store, is kept.
    Refused(Refusal),
}

impl Fault {
    /// As the error that users see. `place` is what the store is called.
    #[must_use]
    pub fn to_error(&self, place: &str, namespace: &str, layout: &Layout) -> Error {
        let (kind, retry_after) = match self {
            Self::Refused(refusal) => return refusal.to_error(namespace, layout),
            Self::Rejected(_) => (ErrorKind::StoreRejected, None),
            Self::Unavailable(_) | Self::Conflict => (ErrorKind::StoreUnavailable, Some(RETRY)),
        };
        // Some stores name themselves.
        let text = self.to_string();
        let text = if text.contains(place) { text } else { format!("{place}: {text}") };
        Error::new(kind, &text, retry_after)
    }

    /// Whether it means that this host's clock and the store's do not go together.
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
