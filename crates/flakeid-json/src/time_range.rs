//! Parses time ranges, and computes the smallest and the largest ID of a range.

use flakeid_core::{Error, ErrorKind, Id, Layout, Rfc3339};

use crate::instant::{looks_like_a_year, parse_instant};

/// The names of a range's two ends in error messages.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_json::{EndNames, TimeRange};
///
/// let error = TimeRange::parse(&Layout::TWITTER, &EndNames::FLAGS, Some("soon"), None).err();
/// assert!(error.is_some_and(|error| error.to_string().contains("--from")));
/// ```
pub struct EndNames {
    from: &'static str,
    to: &'static str,
    both: &'static str,
}

impl EndNames {
    /// The command-line flags for the ends of a range.
    pub const FLAGS: Self = Self { from: "--from", to: "--to", both: "--from, --to" };
    /// The names for the ends of a range on the web page and in the server's query parameters.
    pub const FIELDS: Self = Self { from: "from", to: "to", both: "from, to" };
}

/// The IDs from one instant to another, both inclusive. One of the two ends may be missing.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_json::{EndNames, TimeRange};
///
/// let ends = (Some("2026-01-31"), Some("2026-01-31T12:00:00Z"));
/// let range = TimeRange::parse(&Layout::TWITTER, &EndNames::FIELDS, ends.0, ends.1)?;
/// assert!(range.lower().map(|bound| bound.id) < range.upper().map(|bound| bound.id));
/// # Ok::<(), flakeid_core::Error>(())
/// ```
pub struct TimeRange {
    layout: Layout,
    lower: Option<Bound>,
    upper: Option<Bound>,
}

/// One end of a range.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_json::{EndNames, TimeRange};
///
/// let range = TimeRange::parse(&Layout::TWITTER, &EndNames::FIELDS, Some("2026-01-31"), None)?;
/// let tick = range.lower().map(|bound| bound.tick.as_str());
/// assert_eq!(tick, Some("2026-01-31T00:00:00.000Z"));
/// # Ok::<(), flakeid_core::Error>(())
/// ```
pub struct Bound {
    /// The smallest ID of the range's first tick, or the largest ID of the range's last tick.
    pub id: Id,
    /// The time at which the ID's tick begins, in RFC 3339 format.
    pub tick: String,
    name: &'static str,
    text: String,
    unix_ms: i64,
}

impl TimeRange {
    /// Parses the ends of a range with [`parse_instant`]. One end may be missing.
    ///
    /// # Errors
    /// [`InvalidOption`](ErrorKind::InvalidOption) if an end is not a time, if both ends are missing, or if the
    /// beginning is after the end.
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
                "give at least one end of the range, as a date, an RFC 3339 time or Unix milliseconds",
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

    /// Returns the beginning of the range and its smallest ID, or `None` if the range has no beginning.
    #[must_use]
    pub const fn lower(&self) -> Option<&Bound> {
        self.lower.as_ref()
    }

    /// Returns the end of the range and its largest ID, or `None` if the range has no end.
    #[must_use]
    pub const fn upper(&self) -> Option<&Bound> {
        self.upper.as_ref()
    }

    /// Returns a warning for each property of the range that the user may not have intended.
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

    /// Returns an SQL `WHERE` clause that selects the rows whose ID in `column` is in this range.
    ///
    /// # Errors
    /// [`InvalidOption`](ErrorKind::InvalidOption) if `column` is not a column name. Other strings are rejected,
    /// because the clause becomes part of an SQL statement.
    pub fn condition(&self, column: &str) -> Result<String, Error> {
        if !is_column(column) {
            return Err(Error::invalid_option(
                "column",
                &format!(
                    "{column:?} is not a column name; use letters, digits and underscores \
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
                "{name} {text} was interpreted as Unix milliseconds ({}); if you mean the year, write \
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

/// Formats an instant in RFC 3339 format, with the fewest digits that represent the instant exactly.
fn exact(unix_ms: i64) -> String {
    Rfc3339::with_fewest_digits(unix_ms).to_string()
}

/// Whether a string is a column name, which consists of one or more parts separated by dots. Each part is a plain name
/// or a name in double quotes.
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

/// Returns the rest of a column name after its first part, or `None` if the first part is invalid.
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
        // In a quoted name, two double quotes represent one double quote.
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
    fn time_range_parser_requires_valid_times_in_the_right_order() {
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
    fn suspicious_bounds_of_a_time_range_cause_warnings() {
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
    fn where_condition_accepts_only_valid_column_names() {
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
