//! Names of options and fields in messages, as the caller's language spells them.

use core::fmt::{self, Write};

/// How a language, or a program with flags, writes the names of options and fields.
///
/// This library names options as [`SetByName`](crate::SetByName) does, and so do its messages.
/// [`Error::spelled`](crate::Error::spelled) writes a message in another spelling. A name that is in neither list stays as
/// it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spelling<'a> {
    /// Options: the name in this library, and the name in the other spelling.
    pub options: &'a [(&'a str, &'a str)],
    /// Fields of IDs and other arguments, in the same way.
    pub fields: &'a [(&'a str, &'a str)],
}

/// The subject of a message. A field of an ID and an option may have the same name.
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

    pub(super) fn name(&self, name: Named) -> &str {
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
