//! Errors whose messages contain the names of options and fields in the caller's spelling.

use core::fmt;

use super::{Error, Repr, Spelling};

impl Error {
    /// Returns the error with the names of options and fields in the caller's spelling.
    ///
    /// ```
    /// use flakeid_core::{Error, Spelling};
    ///
    /// let command = Spelling { options: &[("max_wait_ms", "--max-wait")], fields: &[] };
    /// let error = Error::option_out_of_range("max_wait_ms", &-1, 0, 60_000);
    /// assert_eq!(error.to_string(), "max_wait_ms -1 is out of range: must be from 0 to 60000");
    /// assert_eq!(
    ///     error.spelled(&command).to_string(),
    ///     "--max-wait -1 ms is out of range: must be from 0 to 60000 ms"
    /// );
    /// ```
    #[must_use]
    pub const fn spelled<'a>(&'a self, spelling: &'a Spelling<'a>) -> SpelledError<'a> {
        SpelledError { error: self, spelling }
    }
}

/// An error whose message uses the names from a [`Spelling`].
#[derive(Clone, Copy)]
pub struct SpelledError<'a> {
    error: &'a Error,
    spelling: &'a Spelling<'a>,
}

impl SpelledError<'_> {
    /// The name of the invalid field or option, in the caller's spelling; `None` unless the kind is
    /// [`ErrorKind::FieldOutOfRange`](crate::ErrorKind::FieldOutOfRange).
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
    fn error_messages_use_the_callers_option_names() {
        let error = Error::invalid_option("node", "give either `node` or `nodes`, not both");
        assert_eq!(shown(&error), "WithNode: give either `WithNode` or `nodes`, not both");
        assert_eq!(error.to_string(), "node: give either `node` or `nodes`, not both");
        let error = Error::option_out_of_range("node", &1024, 0, 1023);
        assert_eq!(shown(&error), "WithNode 1024 is out of range: must be from 0 to 1023");
        assert_eq!(error.spelled(&SPELLING).field(), Some("WithNode"));
        assert_eq!(error.field(), Some("node"));
    }

    #[test]
    fn error_messages_distinguish_fields_from_options_with_equal_names() {
        let error = Error::field_out_of_range("node", &1024, 0, 1023);
        assert_eq!(shown(&error), "node 1024 is out of range: must be from 0 to 1023");
        assert!(shown(&error.of_option()).starts_with("WithNode 1024"));
        let error = Error::invalid_field("tick", "missing: give `tick` or `unix_ms`");
        assert_eq!(shown(&error), "tick: missing: give `tick` or `unixMs`");
    }

    #[test]
    fn range_errors_include_the_unit_if_the_option_name_lacks_it() {
        let error = Error::option_out_of_range("window_ms", &1, 2, 9);
        assert_eq!(shown(&error), "WithWindow 1 ms is out of range: must be from 2 to 9 ms");
        assert_eq!(error.to_string(), "window_ms 1 is out of range: must be from 2 to 9");
        let error = Error::option_out_of_range("ttl_ms", &1, 2, 9);
        assert_eq!(shown(&error), "ttlMs 1 is out of range: must be from 2 to 9");
        let error = Error::option_out_of_range("window_ms", &"\"x\"", 2, 9);
        assert_eq!(shown(&error), "WithWindow \"x\" is out of range: must be from 2 to 9 ms");
    }

    #[test]
    fn error_message_with_stray_backticks_stays_unchanged() {
        let odd = Error::invalid_option("nodes", "a ` alone, and `node");
        assert_eq!(shown(&odd), "nodes: a ` alone, and `node");
    }
}
