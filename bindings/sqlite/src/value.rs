//! SQL values, and the errors for values that a function does not accept.

use flakeid_core::{Error, Id};

/// An argument of an SQL function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument<'a> {
    Null,
    Integer(i64),
    Real,
    Text(&'a str),
    Blob(&'a [u8]),
}

/// A result of an SQL function.
#[derive(Debug)]
pub(crate) enum Answer {
    Null,
    Integer(i64),
    Text(String),
    Blob([u8; 16]),
}

impl Argument<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Integer(_) => "an integer",
            Self::Real => "a floating-point number, which is not precise enough for IDs",
            Self::Text(_) => "text",
            Self::Blob(_) => "a blob",
        }
    }

    /// Returns the argument as an ID.
    pub(crate) fn id(&self) -> Result<Id, Error> {
        match self {
            Self::Integer(bits) => Ok(Id::from_i64(*bits)),
            other => {
                let reason = format!("must be an integer, not {}", other.kind());
                Err(Error::invalid_option("id", &reason))
            }
        }
    }
}

impl<'a> Argument<'a> {
    /// Returns the argument `name` as a string.
    pub(crate) fn text(&self, name: &'static str) -> Result<&'a str, Error> {
        match self {
            Self::Text(text) => Ok(text),
            other => {
                let reason = format!("must be text, not {}", other.kind());
                Err(Error::invalid_option(name, &reason))
            }
        }
    }

    /// Returns the argument `name` as a string. The argument may also be a blob, because the `readfile` function of
    /// SQLite's shell returns a blob.
    pub(crate) fn content(&self, name: &'static str) -> Result<&'a str, Error> {
        match self {
            Self::Blob(bytes) => std::str::from_utf8(bytes)
                .map_err(|_| Error::invalid_option(name, "the blob is not UTF-8")),
            other => other.text(name),
        }
    }
}
