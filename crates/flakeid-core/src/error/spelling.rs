//! Names of options and fields in messages, as the caller's language spells them.

use core::fmt::{self, Write};

use super::{Error, Repr};

/// How a language, or a program with flags, writes the names of options and fields.
///
/// This library names options as [`SetByName`](crate::SetByName) does, and so do its messages.
/// [`Error::spelled`] writes a message in another spelling. A name that is in neither list stays as
/// it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spelling<'a> {
    /// Options: the name in this library, and the name in the other spelling.
    pub options: &'a [(&'a str, &'a str)],
    /// Fields of IDs and other arguments, in the same way.
    pub fields: &'a [(&'a str, &'a str)],
}

/// What a message is about. A field of an ID and an option may have the same name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Field(&'static str),
    Option(&'static str),
}

impl Named {
    pub(super) const fn canonical(self) -> &'static str {
        match self {
            Self::Field(name) | Self::Option(name) => name,
        }
    }
}

impl<'a> Spelling<'a> {
    /// Returns the name of an option in this spelling.
    #[must_use]
    pub fn option(&self, name: &'a str) -> &'a str {
        spelled(self.options, name)
    }

    fn name(&self, name: Named) -> &str {
        match name {
            Named::Field(name) => spelled(self.fields, name),
            Named::Option(name) => self.option(name),
        }
    }

    /// Writes the unit behind each number of milliseconds if the name does not say it any more.
    pub(super) fn write_out_of_range(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: Named,
        value: &str,
        min: u64,
        max: u64,
    ) -> fmt::Result {
        let shown = self.name(name);
        let is_unitless =
            name.canonical().ends_with("_ms") && !shown.ends_with("ms") && !shown.ends_with("Ms");
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let unit = if is_unitless { " ms" } else { "" };
        let value_unit = if is_number { unit } else { "" };
        write!(f, "{shown} {value}{value_unit} is out of range: must be from {min} to {max}{unit}")
    }

    /// Writes the name and the reason. Every second piece between backticks is a name.
    pub(super) fn write_reason(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: Named,
        reason: &str,
    ) -> fmt::Result {
        f.write_str(self.name(name))?;
        f.write_str(": ")?;
        let names = match name {
            Named::Field(_) => self.fields,
            Named::Option(_) => self.options,
        };
        for (index, piece) in reason.split('`').enumerate() {
            if index > 0 {
                f.write_char('`')?;
            }
            f.write_str(if index % 2 == 1 { spelled(names, piece) } else { piece })?;
        }
        Ok(())
    }
}

fn spelled<'a>(names: &[(&str, &'a str)], name: &'a str) -> &'a str {
    names.iter().find(|(canonical, _)| *canonical == name).map_or(name, |(_, shown)| shown)
}

/// An error whose message has a [`Spelling`] of its own.
#[derive(Clone, Copy)]
pub struct SpelledError<'a> {
    pub(super) error: &'a Error,
    pub(super) spelling: &'a Spelling<'a>,
}

impl SpelledError<'_> {
    /// The field or option at fault, for [`ErrorKind::FieldOutOfRange`](crate::ErrorKind::FieldOutOfRange).
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        match &self.error.0 {
            Repr::Field { name, .. } => Some(self.spelling.name(*name)),
            _ => None,
        }
    }
}

impl fmt::Display for SpelledError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.write(f, self.spelling)
    }
}

impl fmt::Debug for SpelledError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({}: {self})", self.error.code())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    const SPELLING: Spelling<'_> = Spelling {
        options: &[("node", "WithNode"), ("window_ms", "WithWindow"), ("ttl_ms", "ttlMs")],
        fields: &[("unix_ms", "unixMs")],
    };

    fn shown(error: &Error) -> alloc::string::String {
        error.spelled(&SPELLING).to_string()
    }

    #[test]
    fn messages_name_options_as_the_caller_does() {
        let error = Error::invalid_option("node", "give either `node` or `nodes`, not both");
        assert_eq!(shown(&error), "WithNode: give either `WithNode` or `nodes`, not both");
        assert_eq!(error.to_string(), "node: give either `node` or `nodes`, not both");
        let error = Error::option_out_of_range("node", &1024, 0, 1023);
        assert_eq!(shown(&error), "WithNode 1024 is out of range: must be from 0 to 1023");
        assert_eq!(error.spelled(&SPELLING).field(), Some("WithNode"));
        assert_eq!(error.field(), Some("node"));
    }

    #[test]
    fn messages_distinguish_fields_from_options_of_the_same_name() {
        let error = Error::field_out_of_range("node", &1024, 0, 1023);
        assert_eq!(shown(&error), "node 1024 is out of range: must be from 0 to 1023");
        assert!(shown(&error.of_option()).starts_with("WithNode 1024"));
        let error = Error::invalid_field("tick", "missing: give `tick` or `unix_ms`");
        assert_eq!(shown(&error), "tick: missing: give `tick` or `unixMs`");
    }

    #[test]
    fn numbers_have_their_unit_if_the_name_has_none() {
        let error = Error::option_out_of_range("window_ms", &1, 2, 9);
        assert_eq!(shown(&error), "WithWindow 1 ms is out of range: must be from 2 to 9 ms");
        assert_eq!(error.to_string(), "window_ms 1 is out of range: must be from 2 to 9");
        let error = Error::option_out_of_range("ttl_ms", &1, 2, 9);
        assert_eq!(shown(&error), "ttlMs 1 is out of range: must be from 2 to 9");
        let error = Error::option_out_of_range("window_ms", &"\"x\"", 2, 9);
        assert_eq!(shown(&error), "WithWindow \"x\" is out of range: must be from 2 to 9 ms");
    }

    #[test]
    fn a_single_backtick_begins_no_name() {
        let odd = Error::invalid_option("nodes", "a ` alone, and `node");
        assert_eq!(shown(&odd), "nodes: a ` alone, and `node");
    }
}
