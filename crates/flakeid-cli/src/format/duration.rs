//! Durations in arguments and output.

use flakeid_core::Error;

use super::number::{grouped, is_digits};

const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("min", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// Parses a whole number with a unit, such as `20s`, into milliseconds.
pub(crate) fn parse(option: &'static str, text: &str) -> Result<u64, Error> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let known = UNITS.iter().find(|(name, _)| *name == unit.trim_start());
    known
        .filter(|_| is_digits(number))
        .and_then(|(_, ms)| number.parse::<u64>().ok()?.checked_mul(*ms))
        .ok_or_else(|| {
            let reason =
                format!("{text:?} is not a duration; write it as 500ms, 20s, 5min, 2h or 3d");
            Error::invalid_option(option, &reason)
        })
}

/// Formats a duration without rounding: `1 ms`, `10 ms`, `1 s`.
pub(crate) fn exact(ms: u64) -> String {
    if ms.is_multiple_of(1000) {
        format!("{} s", grouped(ms / 1000))
    } else {
        format!("{} ms", grouped(ms))
    }
}

/// Formats a duration, rounded down: `7.2 s`, `3 min`, `26 h`, `12 d`. A duration below one minute
/// is rounded to a tenth of a second, and a longer duration to whole minutes, hours or days.
pub(crate) fn shown(ms: u64) -> String {
    match ms {
        0..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        60_000..7_200_000 => format!("{} min", ms / 60_000),
        7_200_000..172_800_000 => format!("{} h", ms / 3_600_000),
        _ => format!("{} d", ms / 86_400_000),
    }
}

/// Formats an instant relative to another instant: `in 7.2 s`, `3 min ago`.
pub(crate) fn relative(unix_ms: i64, now: i64) -> String {
    let distance = shown(unix_ms.abs_diff(now));
    if unix_ms > now { format!("in {distance}") } else { format!("{distance} ago") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_parser_accepts_only_whole_numbers_with_units() {
        for (text, ms) in [
            ("0ms", 0),
            ("500ms", 500),
            ("20s", 20_000),
            ("20 s", 20_000),
            ("5min", 300_000),
            ("2h", 7_200_000),
            ("3d", 259_200_000),
        ] {
            assert_eq!(parse("--by", text), Ok(ms), "{text}");
        }
        for text in ["", "20", "s", "-1s", "+1s", "1.5s", "20 parsecs", "18446744073709551615d"] {
            assert!(parse("--by", text).is_err(), "{text}");
        }
    }

    #[test]
    fn exact_format_shows_durations_without_rounding() {
        assert_eq!(exact(1), "1 ms");
        assert_eq!(exact(1500), "1,500 ms");
        assert_eq!(exact(3_600_000), "3,600 s");
    }

    #[test]
    fn short_format_truncates_durations_instead_of_rounding_up() {
        for (ms, text) in [
            (0, "0.0 s"),
            (7_290, "7.2 s"),
            (59_999, "59.9 s"),
            (60_000, "1 min"),
            (7_199_999, "119 min"),
            (7_200_000, "2 h"),
            (172_800_000, "2 d"),
        ] {
            assert_eq!(shown(ms), text);
        }
        assert_eq!(relative(10_000, 2_800), "in 7.2 s");
        assert_eq!(relative(0, 180_000), "3 min ago");
        assert_eq!(relative(i64::MIN, i64::MAX), "213503982334 d ago");
    }
}
