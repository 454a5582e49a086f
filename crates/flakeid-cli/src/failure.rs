//! The failure of a command: its error, its hint, and the exit code.

use std::io::{self, ErrorKind};
use std::process::ExitCode;

use flakeid_core::Error;

use crate::terminal;

/// The reason why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error with a code that is the same in all languages. The hint explains what to do, if the
    /// error's message does not.
    Refused { error: Error, hint: Option<String> },
    /// Standard output, standard input or a file could not be written or read.
    Io { doing: String, error: io::Error },
    /// The reader has closed the pipe: `flakeid next -n 1000000 | head` is not an error.
    NoReader,
    /// The user did not confirm the action.
    Declined,
    /// The command that was run for the user ended with this status and has already reported the
    /// reason.
    Exit(u8),
}

pub(crate) type Outcome = Result<(), Failure>;

impl Failure {
    pub(crate) fn hinted(error: Error, hint: impl Into<String>) -> Self {
        Self::Refused { error, hint: Some(hint.into()) }
    }

    pub(crate) fn io(doing: impl Into<String>, error: io::Error) -> Self {
        Self::Io { doing: doing.into(), error }
    }

    /// Adds the number of the line in standard input that caused the error to the hint.
    pub(crate) fn in_line(self, number: u64) -> Self {
        let place = format!("the error is on line {number} of standard input");
        match self {
            Self::Refused { error, hint: Some(hint) } => {
                Self::hinted(error, format!("{place}; {hint}"))
            }
            Self::Refused { error, hint: None } => Self::hinted(error, place),
            other => other,
        }
    }

    /// Reports the error on standard error and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::Refused { error, hint } => {
                terminal::error(error.code(), &error.to_string());
                if let Some(hint) = hint {
                    terminal::hint(hint);
                }
            }
            Self::Io { doing, error } => terminal::error("error", &format!("{doing}: {error}")),
            Self::NoReader => return ExitCode::SUCCESS,
            Self::Exit(status) => return ExitCode::from(*status),
            Self::Declined => terminal::note("flakeid: nothing was changed"),
        }
        ExitCode::FAILURE
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused { error, hint: None }
    }
}

/// Converts only errors from writing to standard output. For other reads and writes, use
/// [`Failure::io`], which adds the action that failed.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            Self::NoReader
        } else {
            Self::io("cannot write to standard output", error)
        }
    }
}
