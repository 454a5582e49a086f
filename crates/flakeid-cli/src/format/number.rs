//! Numbers in arguments and output.

use std::fmt;

use flakeid_core::{Error, Field, FieldSpan, Layout, without_url};

/// Parses a number that must be within `least..=most`. This function replaces clap's parser, so that an invalid string
/// (-1, 2^64, "") causes the same error code and message as in the language bindings.
pub(crate) fn parse(field: &'static str, text: &str, least: u64, most: u64) -> Result<u64, Error> {
    digits(text)
        .filter(|value| (least..=most).contains(value))
        .ok_or_else(|| Error::field_out_of_range(field, &Quoted(text), least, most))
}

/// Parses a number that consists only of digits. Rust's own parser would also accept a leading plus sign.
fn digits(text: &str) -> Option<u64> {
    is_digits(text).then(|| text.parse().ok())?
}

pub(crate) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A string from the user, for use in an error message. A string that looks like a number is
/// formatted without quotes. A long string is truncated to 64 characters.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 64;
        let text = without_url(self.0);
        let end = text.char_indices().nth(MOST).map_or(text.len(), |(end, _)| end);
        let (shown, rest) = text.split_at(end);
        if is_digits(shown.strip_prefix('-').unwrap_or(shown)) {
            f.write_str(shown)?;
        } else {
            write!(f, "{shown:?}")?;
        }
        if rest.is_empty() { Ok(()) } else { f.write_str("…") }
    }
}

/// Formats a number with its digits in groups of three: `4,096,000`.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a rate per second as a whole number, or with two decimals if the rate is below 100 and
/// not a whole number. Very large and very small rates are in scientific notation.
pub(crate) fn rate(per_second: f64) -> String {
    if per_second >= 1e15 {
        format!("{per_second:.1e}")
    } else if per_second >= 100.0 || per_second.fract() == 0.0 {
        // The value is at least 0 and below 2^53, so the conversion only truncates the fraction.
        #[expect(clippy::cast_sign_loss, reason = "rates are not negative")]
        grouped(per_second as u64)
    } else if per_second >= 0.01 {
        format!("{per_second:.2}")
    } else {
        format!("{per_second:.1e}")
    }
}

/// Formats the range of values that a field can hold.
pub(crate) fn range(span: FieldSpan) -> String {
    match span.field {
        Field::Reserved => "always 0".to_owned(),
        _ => format!("0 to {}", grouped(span.max())),
    }
}

/// Returns the number of nodes that a layout supports.
pub(crate) fn nodes(layout: &Layout) -> u64 {
    layout.max_node() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_parser_accepts_only_digits_within_the_range() {
        assert_eq!(parse("node", "1023", 0, 1023), Ok(1023));
        assert_eq!(parse("node", "007", 0, 1023), Ok(7));
        for (text, shown) in [
            ("1024", "1024"),
            ("-1", "-1"),
            ("18446744073709551616", "18446744073709551616"),
            ("", "\"\""),
            ("abc", "\"abc\""),
            ("+1", "\"+1\""),
            ("1 ", "\"1 \""),
            ("0x1", "\"0x1\""),
            ("1.5", "\"1.5\""),
            ("٣", "\"٣\""),
            ("-", "\"-\""),
        ] {
            assert_eq!(
                parse("node", text, 0, 1023).map_err(|error| error.to_string()),
                Err(format!("node {shown} is out of range: must be from 0 to 1023"))
            );
        }
        let long = parse("node", &"9".repeat(5000), 0, 1).map_err(|error| error.to_string());
        assert!(long.is_err_and(|text| text.len() < 150 && text.contains("9…")));
    }

    #[test]
    fn formatted_numbers_have_thousands_separators_and_at_most_two_decimals() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(rate(4_096_000.0), "4,096,000");
        assert_eq!(rate(0.5), "0.50");
        assert_eq!(rate(1.0), "1");
        assert_eq!(rate(12.8), "12.80");
        assert_eq!(rate(409.6), "409");
        assert_eq!(rate(4.6e21), "4.6e21");
        assert_eq!(rate(0.000_277), "2.8e-4");
    }
}
