//! What stands between a call and an ID.

use crate::Error;

/// Why an attempt failed, and until when (Unix milliseconds) it is worth waiting, if it is.
pub(super) struct Obstacle {
    pub(super) error: Error,
    pub(super) until: Option<i64>,
}

impl From<Error> for Obstacle {
    fn from(error: Error) -> Self {
        Self { error, until: None }
    }
}
