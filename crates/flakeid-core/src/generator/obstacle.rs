//! Obstacles: the reasons why a call gets no ID.

use crate::Error;

/// The error of a failed attempt, and the instant, in Unix milliseconds, at which a new attempt may succeed. The
/// instant is `None` if waiting does not help.
pub(super) struct Obstacle {
    pub(super) error: Error,
    pub(super) until: Option<i64>,
}

impl From<Error> for Obstacle {
    fn from(error: Error) -> Self {
        Self { error, until: None }
    }
}
