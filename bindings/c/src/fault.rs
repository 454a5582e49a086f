use std::fmt;

use flakeid_core::Error;

use crate::status::{FLAKEID_BUFFER_TOO_SMALL, FLAKEID_NULL_ARGUMENT, FLAKEID_PANIC, Status};

/// Why a call failed: an error of the core, or one that only C can make.
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

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core(error) => fmt::Display::fmt(error, f),
            Self::Null { argument } => write!(f, "{argument} must not be NULL"),
            Self::TooSmall { size, needed } => write!(
                f,
                "the buffer has {size} bytes, but {needed} are needed (with the final NUL of a \
                 string)"
            ),
            Self::Panic { message } => {
                write!(f, "internal error of flakeid, please report it: {message}")
            }
        }
    }
}
