//! A time range and its IDs, with errors and warnings about the range.

use flakeid_core::{Error, ErrorKind, Id, Layout, Rfc3339};

use crate::instant::{looks_like_a_year, parse_instant};

/// The names of the two ends in error messages.
pub struct EndNames {
    from: &'static str,
    to: &'static str,
    both: &'static str,
}

impl EndNames {
    /// The names as flags of the command.
    pub const FLAGS: Self = Self { from: "--from", to: "--to", both: "--from, --to" };
    /// The names as fields of the page and as query parameters of the server.
    pub const FIELDS: Self = Self { from: "from", to: "to", both: "from, to" };
}

/// The IDs from one instant to another, both inclusive. One of the two ends may be missing.
pub struct TimeRange {
    layout: Layout,
    lower: Option<Bound>,
    upper: Option<Bound>,
}

/// One end of a range.
pub struct Bound {
    /// The smallest or the largest ID of the tick.
    pub id: Id,
    /// The time at which the tick of the ID begins.
    pub tick: String,
    name: &'static str,
    text: String,
    unix_ms: i64,
}

impl TimeRange {
    /// Parses both ends with [`parse_instant`].
    ///
    /// # Errors
    /// [`InvalidOption`](ErrorKind::InvalidOption) if an end is not a time, if both are missing, or if the first is
    /// after the second.
    pub fn parse(
        layout: &Layout,
        names: &EndNames,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Result<Self, Error> {
        let bound = |name, text: Option<&str>, id_at: fn(&Layout, i64) -> Id| {
            text.map(|text| Bound::parse(layout, name, text, id_at)).transpose()
        };
        let lower = bound(names.from, from, Layout::lower_bound)?;
        let upper = bound(names.to, to, Layout::upper_bound)?;
        match (&lower, &upper) {
            (None, None) => Err(Error::invalid_option(
                names.both,
                "give at least one, as a date, an RFC 3339 time or Unix milliseconds",
            )),
            (Some(lower), Some(upper)) if lower.unix_ms > upper.unix_ms => {
                Err(Error::invalid_option(
                    names.from,
                    &format!(
                        "{} is after {to} {}; give an earlier {} or a later {to}",
                        exact(lower.unix_ms),
                        exact(upper.unix_ms),
                        names.from,
                        to = names.to,
                    ),
                ))
            }
            _ => Ok(Self { layout: *layout, lower, upper }),
        }
    }

    /// Returns the smallest ID, if the range has a beginning.
    #[must_use]
    pub const fn lower(&self) -> Option<&Bound> {
        self.lower.as_ref()
    }

    /// Returns the largest ID, if the range has an end.
    #[must_use]
    pub const fn upper(&self) -> Option<&Bound> {
        self.upper.as_ref()
    }

    /// Returns a sentence for each part of the range that the user may not have intended.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for bound in [&self.lower, &self.upper].into_iter().flatten() {
            warnings.extend(bound.read_as_milliseconds());
            warnings.extend(bound.outside(&self.layout));
        }
        let last = self.upper.as_ref().or(self.lower.as_ref());
        if let Some(bound) = last.filter(|bound| bound.id.to_i64() < 0) {
            warnings.push(format!(
                "{} is above 2^63 - 1: a signed 64-bit column stores it as {} and sorts such IDs \
                 before all others",
                bound.id,
                bound.id.to_i64()
            ));
        }
        warnings
    }

    /// Returns the condition for a query of a table with the IDs in `column`.
    ///
    /// # Errors
    /// [`InvalidOption`](ErrorKind::InvalidOption) if `column` is not the name of a column. The
    /// condition is pasted into SQL, so the name must not contain anything else.
    pub fn condition(&self, column: &str) -> Result<String, Error> {
        if !is_column(column) {
            return Err(Error::invalid_option(
                "column",
                &format!(
                    "{column:?} is not the name of a column; write letters, digits and underscores \
                     (order_id), parts with dots between them (orders.id), or parts in double \
                     quotes (\"order id\")"
                ),
            ));
        }
        Ok(match (&self.lower, &self.upper) {
            (Some(lower), Some(upper)) => {
                format!("WHERE {column} BETWEEN {} AND {}", lower.id, upper.id)
            }
            (Some(lower), None) => format!("WHERE {column} >= {}", lower.id),
            (None, Some(upper)) => format!("WHERE {column} <= {}", upper.id),
            (None, None) => String::new(),
        })
    }
}

impl Bound {
    fn parse(
        layout: &Layout,
        name: &'static str,
        text: &str,
        id_at: fn(&Layout, i64) -> Id,
    ) -> Result<Self, Error> {
        let unix_ms = parse_instant(name, text)?;
        let id = id_at(layout, unix_ms);
        let tick = layout.timestamp(layout.unpack(id)?.unix_ms).to_string();
        Ok(Self { id, tick, name, text: text.to_owned(), unix_ms })
    }

    fn read_as_milliseconds(&self) -> Option<String> {
        let Self { name, text, unix_ms, .. } = self;
        looks_like_a_year(text).then(|| {
            format!(
                "{name} {text} was read as Unix milliseconds ({}); if you mean the year, write \
                 {text}-01-01",
                exact(*unix_ms)
            )
        })
    }

    fn outside(&self, layout: &Layout) -> Option<String> {
        let error = layout.tick_at(self.unix_ms).err()?;
        let (outside, limit, tick) = if error.kind() == ErrorKind::BeforeEpoch {
            ("before the layout's epoch", layout.epoch(), "first")
        } else {
            ("not before the layout's end", layout.horizon(), "last")
        };
        Some(format!(
            "{} {} is {outside}, {}; the {tick} tick is used instead",
            self.name,
            exact(self.unix_ms),
            exact(limit)
        ))
    }
}

/// Formats an instant exactly as RFC 3339, with as few digits as possible.
fn exact(unix_ms: i64) -> String {
    Rfc3339::with_fewest_digits(unix_ms).to_string()
}

/// Whether a string is the name of a column: parts with dots between them, each a plain name or in
/// double quotes.
fn is_column(text: &str) -> bool {
    let mut rest = text;
    loop {
        let Some(after) = after_part(rest) else { return false };
        if after.is_empty() {
            return true;
        }
        let Some(next) = after.strip_prefix('.') else { return false };
        rest = next;
    }
}

/// Returns the rest of a column's name after its first part.
fn after_part(text: &str) -> Option<&str> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(text.len());
        let starts_well = !text.starts_with(|c: char| c.is_numeric());
        return (end > 0 && starts_well).then(|| &text[end..]);
    };
    let mut rest = quoted;
    loop {
        let end = rest.find(|c: char| c == '"' || c.is_control())?;
        let after = rest[end..].strip_prefix('"')?;
        // Two double quotes represent one in the name.
        match after.strip_prefix('"') {
            Some(next) => rest = next,
            None => return (quoted.len() - after.len() > 1).then_some(after),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn range(layout: &Layout, from: Option<&str>, to: Option<&str>) -> Result<TimeRange, Error> {
        TimeRange::parse(layout, &EndNames::FIELDS, from, to)
    }

    #[test]
    fn parse_rejects_missing_reversed_and_invalid_ends() {
        let message = |from, to| {
            range(&Layout::TWITTER, from, to).err().map(|error| error.to_string()).unwrap()
        };
        assert!(message(None, None).starts_with("from, to: give at least one"));
        assert_eq!(
            message(Some("2026-02-01"), Some("2026-01-31")),
            "from: 2026-02-01T00:00:00Z is after to 2026-01-31T00:00:00Z; give an earlier from or \
             a later to"
        );
        assert!(message(Some("yesterday"), None).contains("is not a time"));
    }

    #[test]
    fn warnings_report_unexpected_interpretations_of_a_range() {
        let warnings = |layout: &Layout, from: &str, to: &str| {
            range(layout, Some(from), Some(to)).unwrap().warnings()
        };
        assert!(warnings(&Layout::TWITTER, "2026-01-01", "2026-01-31").is_empty());
        for (layout, from, to, parts) in [
            (Layout::PLAIN, "2026", "2026-01-01", ["if you mean the year, write 2026-01-01"]),
            (Layout::TWITTER, "2000-01-01", "2026-01-01", ["from 2000-01-01T00:00:00Z is before"]),
            (Layout::TWITTER, "2026-01-01", "2100-01-01", ["is not before the layout's end"]),
            (Layout::DISCORD, "2080-01-01", "2090-01-01", ["9927253190250594303 is above 2^63"]),
        ] {
            let warned = warnings(&layout, from, to);
            assert_eq!(warned.len(), parts.len(), "{warned:?}");
            assert!(
                warned.iter().zip(parts).all(|(warning, part)| warning.contains(part)),
                "{warned:?}"
            );
        }
    }

    #[test]
    fn condition_rejects_anything_but_a_column_name() {
        let range = range(&Layout::PLAIN, Some("2026-01-01"), None).unwrap();
        for column in ["id", "_a1", "orders.id", "größe", "\"order id\"", "\"a\"\"b\".c", "a.\"b\""]
        {
            let condition = range.condition(column).unwrap();
            assert!(condition.starts_with(&format!("WHERE {column} >= ")), "{condition}");
        }
        for column in [
            "",
            "1",
            "a b",
            "a;",
            "a.",
            ".a",
            "a..b",
            "\"\"",
            "\"a",
            "a\"",
            "\"a\"b",
            "a\"b\"",
            "id = id OR id",
            "id--",
            "\"a\nb\"",
            "'a'",
            "`a`",
        ] {
            let error = range.condition(column).err().unwrap().to_string();
            assert!(error.starts_with("column: ") && error.contains("order_id"), "{error}");
        }
    }
}
