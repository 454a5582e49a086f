//! Values of SQL, and what is wrong with those that a function cannot take.

use flakeid_core::{Error, Id};

/// An argument.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument<'a> {
    Null,
    Integer(i64),
    Real,
    Text(&'a str),
    Blob(&'a [u8]),
}

/// A result.
#[derive(Debug)]
pub(crate) enum Answer {
    Null,
    Integer(i64),
    Text(String),
}

impl Argument<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Integer(_) => "an integer",
            Self::Real => "a number with a fraction, which has too few digits for an ID",
            Self::Text(_) => "text",
            Self::Blob(_) => "a blob",
        }
    }

    /// An ID.
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
    /// The text of the argument `name`.
    pub(crate) fn text(&self, name: &'static str) -> Result<&'a str, Error> {
        match self {
            Self::Text(text) => Ok(text),
            other => {
                let reason = format!("must be text, not {}", other.kind());
                Err(Error::invalid_option(name, &reason))
            }
        }
    }

    /// The text of an argument that a file may have been read for, which makes it a blob.
    pub(crate) fn content(&self, name: &'static str) -> Result<&'a str, Error> {
        match self {
            Self::Blob(bytes) => std::str::from_utf8(bytes)
                .map_err(|_| Error::invalid_option(name, "the blob is not UTF-8")),
            other => other.text(name),
        }
    }
}
