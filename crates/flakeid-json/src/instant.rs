//! Parses the instants that users enter.

use flakeid_core::{Error, Rfc3339};

/// Parses an RFC 3339 time, a date or a number of Unix milliseconds, and returns Unix milliseconds. A date means
/// midnight UTC.
///
/// # Errors
/// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) for `option` if the string has none
/// of these forms.
pub fn parse_instant(option: &'static str, text: &str) -> Result<i64, Error> {
    let midnight = || Rfc3339::parse(&format!("{text}T00:00:00Z"));
    Rfc3339::parse(text).or_else(midnight).or_else(|| unix_ms(text)).ok_or_else(|| {
        Error::invalid_option(
            option,
            &format!(
                "{text:?} is not a time; write a date (2026-01-31, midnight UTC), RFC 3339 with \
                 its offset (2026-01-31T12:00:00Z) or Unix milliseconds (1769860800000)"
            ),
        )
    })
}

/// Whether a number that was parsed as Unix milliseconds may have been meant as a year.
pub(crate) fn looks_like_a_year(text: &str) -> bool {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.len() == 4 && is_number && ("1970"..="2199").contains(&text)
}

fn unix_ms(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::parse_instant;

    #[test]
    fn instant_is_parsed_from_a_date_or_timestamp_or_milliseconds() {
        for (text, ms) in [
            ("2017-09-20", 1_505_865_600_000),
            ("2017-09-20T13:43:08.849Z", 1_505_914_988_849),
            ("2017-09-20T15:43:08.849+02:00", 1_505_914_988_849),
            ("1505914988849", 1_505_914_988_849),
            ("-1", -1),
            ("0", 0),
        ] {
            assert_eq!(parse_instant("from", text), Ok(ms), "{text}");
        }
        let long = "9".repeat(30);
        for text in ["", "-", "yesterday", "2017-13-01", "2017-09-20T13:43", "+1", "1e3", &long] {
            assert!(parse_instant("from", text).is_err(), "{text}");
        }
    }
}
