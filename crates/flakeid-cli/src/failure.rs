//! How a command ends: its errors, what it says about them, and its exit code.

use std::io::{self, ErrorKind};
use std::process::ExitCode;

use flakeid_core::Error;

use crate::terminal;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the table that every language shares, and what to do about it where its message
    /// does not say so.
    Refused { error: Error, hint: Option<String> },
    /// Standard output, standard input or a file could not be written or read.
    Io { doing: String, error: io::Error },
    /// The reader of our output has gone: `flakeid next -n 1000000 | head` is no error.
    NoReader,
    /// The user was asked and did not agree.
    Declined,
    /// A command that was run for the user ended with this status, and has said why itself.
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

    /// The same, with the place on standard input.
    pub(crate) fn in_line(self, number: u64) -> Self {
        let place = format!("the error is in line {number} of standard input");
        match self {
            Self::Refused { error, hint: Some(hint) } => {
                Self::hinted(error, format!("{place}; {hint}"))
            }
            Self::Refused { error, hint: None } => Self::hinted(error, place),
            other => other,
        }
    }

    /// Says on standard error what went wrong and gives the exit code.
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

/// For writing to standard output only. Everything else that is read or written says what it was
/// doing, with [`Failure::io`].
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            Self::NoReader
        } else {
            Self::io("cannot write to standard output", error)
        }
    }
}
