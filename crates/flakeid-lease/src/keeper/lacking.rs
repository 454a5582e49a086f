//! What users are told while their lease has no window to issue IDs in.

use flakeid_core::{Error, ErrorKind};

use crate::store::RETRY;

/// Nobody has answered, as far as is known.
pub(crate) fn unanswered(source: &dyn std::fmt::Display) -> Error {
    let text = format!("{source} has not answered in time; the lease keeps trying");
    Error::new(ErrorKind::StoreUnavailable, &text, Some(RETRY))
}

/// The window has ended, and was not renewed because of `cause`.
pub(crate) fn used_up(cause: &Error) -> Error {
    let text = format!("the window of ticks is used up and was not renewed: {cause}");
    // Whatever it was, the keeper goes on asking.
    Error::new(ErrorKind::LeaseExpired, &text, cause.retry_after().or(Some(RETRY)))
}
