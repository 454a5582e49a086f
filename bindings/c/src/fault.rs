use flakeid_core::{Error, Spelling};

use crate::status::{FLAKEID_BUFFER_TOO_SMALL, FLAKEID_NULL_ARGUMENT, FLAKEID_PANIC, Status};

/// The reason why a call failed: an error of the core, or an error that exists only in the C
/// interface.
pub(crate) enum Fault {
    Core(Error),
    Null { argument: &'static str },
    TooSmall { size: usize, needed: usize },
    Panic { message: Box<str> },
}

impl Fault {
    pub(crate) const fn status(&self) -> Status {
        match self {
            Self::Core(error) => error.kind().status(),
            Self::Null { .. } => FLAKEID_NULL_ARGUMENT,
            Self::TooSmall { .. } => FLAKEID_BUFFER_TOO_SMALL,
            Self::Panic { .. } => FLAKEID_PANIC,
        }
    }

    pub(crate) const fn core(&self) -> Option<&Error> {
        match self {
            Self::Core(error) => Some(error),
            _ => None,
        }
    }
}

impl Fault {
    /// Returns the error message, with option and field names in the given spelling.
    pub(crate) fn spelled(&self, spelling: &Spelling<'_>) -> String {
        match self {
            Self::Core(error) => error.spelled(spelling).to_string(),
            Self::Null { argument } => format!("{argument} must not be NULL"),
            Self::TooSmall { size, needed } => format!(
                "the buffer has {size} bytes, but must have {needed} (including the final NUL of a \
                 string)"
            ),
            Self::Panic { message } => {
                format!("internal flakeid error ({message}); please report it")
            }
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}
