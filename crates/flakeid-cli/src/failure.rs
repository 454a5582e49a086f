//! The failure of a command, with its error, hint and exit code.

use std::io::{self, ErrorKind};

use flakeid_core::{Error, Spelling};

use crate::terminal;

/// The flags of options whose names in the library differ.
const FLAGS: &[(&str, &str)] = &[
    ("window_ms", "--window"),
    ("block_window_ms", "--block-window"),
    ("ttl_ms", "--ttl"),
    ("lifetime_ms", "--lifetime"),
    ("max_window_ms", "--max-window"),
    ("max_ahead_ms", "--max-ahead"),
    ("max_skew_ms", "--max-skew"),
    ("quiet_ms", "--quiet"),
    ("block_bits", "--block-bits"),
    ("history", "--no-history"),
    ("sequence_start", "--sequence-start"),
];

/// Returns the message of an error, with the names of the command's flags.
pub(crate) fn spelled(error: &Error) -> String {
    error.spelled(&Spelling { options: FLAGS, fields: FLAGS }).to_string()
}

/// The reason why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error with a code that is the same in all language bindings. If the error's message does
    /// not explain what to do, the hint does.
    Refused { error: Error, hint: Option<String> },
    /// An error from reading or writing a file, standard input or standard output.
    Io { doing: String, error: io::Error },
    /// The reader of standard output has closed the pipe, as in `flakeid next -n 1000000 | head`.
    /// This is not reported as an error.
    NoReader,
    /// The user did not confirm the action.
    Declined,
    /// The exit status of the command that `flakeid exec` ran, or the status for a signal that
    /// arrived before the command started. No error is reported.
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

    /// Extends the hint with the number of the standard-input line that caused the error.
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

    /// Reports the failure on standard error and returns the exit status.
    pub(crate) fn report(&self) -> u8 {
        match self {
            Self::Refused { error, hint } => {
                terminal::error(error.code(), &spelled(error));
                if let Some(hint) = hint {
                    terminal::hint(hint);
                }
            }
            Self::Io { doing, error } => terminal::error("error", &format!("{doing}: {error}")),
            Self::NoReader => return 0,
            Self::Exit(status) => return *status,
            Self::Declined => terminal::note("flakeid: nothing was changed"),
        }
        1
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused { error, hint: None }
    }
}

/// Converts errors from writing to standard output. For all other I/O errors, use [`Failure::io`],
/// which adds a description of the failed action.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            Self::NoReader
        } else {
            Self::io("cannot write to standard output", error)
        }
    }
}
