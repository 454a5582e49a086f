//! Instants in arguments and output.

use flakeid_core::{Error, Rfc3339};
use flakeid_json::parse_instant;

use super::number::is_digits;

/// Parses the end of a period and returns the first instant after the period. A year or a date
/// includes the whole year or day, and any other string is parsed by [`parse_instant`].
pub(crate) fn parse_end(option: &'static str, text: &str) -> Result<i64, Error> {
    let year = (text.len() == 4 && is_digits(text)).then(|| end_of_day(&format!("{text}-12-31")));
    year.flatten()
        .or_else(|| end_of_day(text))
        .or_else(|| parse_instant(option, text).ok())
        .ok_or_else(|| {
            Error::invalid_option(
                option,
                &format!(
                    "{text:?} is not a time; write a year (2095, through its end), a date \
                     (2095-06-30, through its end), RFC 3339 with its offset \
                     (2095-06-30T12:00:00Z) or Unix milliseconds"
                ),
            )
        })
}

/// Returns midnight UTC at the start of the day that contains an instant.
pub(crate) fn start_of_day(unix_ms: i64) -> i64 {
    parse_instant("date", &date(unix_ms)).unwrap_or(unix_ms)
}

/// Formats the date of an instant in UTC.
pub(crate) fn date(unix_ms: i64) -> String {
    let text = Rfc3339::new(unix_ms, 0).to_string();
    text.split_once('T').map_or(text.clone(), |(date, _)| date.to_owned())
}

/// Formats an instant as an RFC 3339 timestamp without rounding, with as few fractional digits as
/// possible.
pub(crate) fn exact(unix_ms: i64) -> String {
    Rfc3339::with_fewest_digits(unix_ms).to_string()
}

/// Formats midnight UTC as a date, and any other instant as an RFC 3339 timestamp.
pub(crate) fn shortest(unix_ms: i64) -> String {
    if start_of_day(unix_ms) == unix_ms { date(unix_ms) } else { exact(unix_ms) }
}

fn end_of_day(date: &str) -> Option<i64> {
    Rfc3339::parse(&format!("{date}T23:59:59.999Z")).map(|last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_parser_returns_the_first_instant_after_a_year_or_day() {
        for (text, end) in [
            ("2095", "2096-01-01T00:00:00Z"),
            ("2095-06-30", "2095-07-01T00:00:00Z"),
            ("2095-06-30T12:00:00Z", "2095-06-30T12:00:00Z"),
        ] {
            assert_eq!(parse_end("--until", text).ok(), Rfc3339::parse(end), "{text}");
        }
        assert_eq!(parse_end("--until", "9999"), Ok(253_402_300_800_000));
        assert!(parse_end("--until", "next year").is_err());
    }

    #[test]
    fn date_and_start_of_day_use_utc() {
        assert_eq!(start_of_day(1_505_914_988_849), 1_505_865_600_000);
        assert_eq!(date(1_505_914_988_849), "2017-09-20");
        assert_eq!(start_of_day(-1), -86_400_000);
    }
}
