//! The names of options and fields in error messages, in the spelling of the caller's language.

use core::fmt::{self, Write};

/// The spelling of option and field names in a programming language, or in a program with command-line flags.
///
/// By default, messages contain the option names of [`SetByName`](crate::SetByName).
/// [`Error::spelled`](crate::Error::spelled) writes a message in another spelling. A name that neither `options` nor
/// `fields` contains stays unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spelling<'a> {
    /// The names of options. Each pair contains the name in this library and the name in the caller's spelling.
    pub options: &'a [(&'a str, &'a str)],
    /// The names of ID fields, other arguments, and functions. Each pair contains the name in this library and the
    /// name in the caller's spelling.
    pub fields: &'a [(&'a str, &'a str)],
}

/// The subject of an error message: an ID field or an option. The type distinguishes them, because a field and an
/// option can have the same name.
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

    /// Writes the message for a value that is out of range. Adds the unit to numbers of milliseconds, unless the shown
    /// name already ends with the unit.
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

    /// Writes a message, and the function that the caller can call instead, if this spelling contains the function.
    pub(super) fn write_message(
        &self,
        f: &mut fmt::Formatter<'_>,
        message: &str,
        function: Option<&str>,
    ) -> fmt::Result {
        f.write_str(message)?;
        let known = self.fields.iter().find(|(canonical, _)| Some(*canonical) == function);
        known.map_or(Ok(()), |(_, shown)| write!(f, ", or call `{shown}`"))
    }

    /// Writes the name and the reason.
    pub(super) fn write_reason(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: Named,
        reason: &str,
    ) -> fmt::Result {
        f.write_str(self.name(name))?;
        f.write_str(": ")?;
        self.write_phrase(f, name, reason)
    }

    /// Writes a remedy after the message for a value that is out of range.
    pub(super) fn write_remedy(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: Named,
        remedy: &str,
    ) -> fmt::Result {
        f.write_str("; ")?;
        self.write_phrase(f, name, remedy)
    }

    /// Writes a phrase. Names in the phrase are between backticks, so when the phrase is split at the backticks, every
    /// second part is a name.
    fn write_phrase(&self, f: &mut fmt::Formatter<'_>, name: Named, phrase: &str) -> fmt::Result {
        let names = match name {
            Named::Field(_) => self.fields,
            Named::Option(_) => self.options,
        };
        for (index, piece) in phrase.split('`').enumerate() {
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
