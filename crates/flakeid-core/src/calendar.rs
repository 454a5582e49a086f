use core::fmt;
use core::time::Duration;

const MS_PER_DAY: i64 = 86_400_000;

/// The last instant with a four-digit year, 9999-12-31T23:59:59.999Z, in Unix milliseconds.
pub(crate) const LAST_FOUR_DIGIT_YEAR: i64 = 253_402_300_799_999;

/// Returns a duration in whole milliseconds, rounded up.
///
/// All durations of options and clocks are rounded with this function: a window of 2.5 ms becomes 3 ms long.
///
/// ```
/// use std::time::Duration;
/// assert_eq!(flakeid_core::whole_ms(Duration::from_micros(2_500)), 3);
/// assert_eq!(flakeid_core::whole_ms(Duration::MAX), u64::MAX);
/// ```
#[must_use]
pub fn whole_ms(duration: Duration) -> u64 {
    // This code does not use `Duration::as_millis`, which would add 128-bit arithmetic to WebAssembly modules.
    let whole = duration.as_secs().saturating_mul(1000);
    whole.saturating_add(duration.subsec_nanos().div_ceil(1_000_000).into())
}

/// An instant in Unix milliseconds that prints as an RFC 3339 timestamp in UTC, with 0 to 3 fractional digits of a second.
///
/// Some layouts extend to years outside 0000 to 9999, which RFC 3339 cannot express. Such years are printed with a
/// sign and with as many digits as necessary, as in ISO 8601.
///
/// ```
/// use flakeid_core::Rfc3339;
///
/// assert_eq!(Rfc3339::new(1_505_914_988_849, 3).to_string(), "2017-09-20T13:43:08.849Z");
/// assert_eq!(Rfc3339::parse("2016-05-20T00:00:00+08:00"), Some(1_463_673_600_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rfc3339 {
    unix_ms: i64,
    digits: u8,
}

impl Rfc3339 {
    /// Creates a timestamp with the given number of fractional digits (0 to 3). Further digits are truncated, not rounded.
    #[must_use]
    pub const fn new(unix_ms: i64, digits: u8) -> Self {
        Self { unix_ms, digits: if digits > 3 { 3 } else { digits } }
    }

    /// Creates a timestamp with the smallest number of fractional digits that represents the instant exactly.
    #[must_use]
    pub const fn with_fewest_digits(unix_ms: i64) -> Self {
        Self::new(unix_ms, digits_needed(unix_ms))
    }

    /// Parses an RFC 3339 timestamp (`2016-05-20T00:00:00+08:00`, `2020-01-01T00:00:00.125Z`) into Unix milliseconds.
    /// Returns `None` for any other string, for a fraction finer than milliseconds, and for a leap second, which Unix
    /// time cannot represent.
    #[must_use]
    pub fn parse(text: &str) -> Option<i64> {
        let (date, time) = text.split_once(['T', 't', ' '])?;
        let mut date = Reader(date.as_bytes());
        let (year, month, day) = (date.number(4)?, date.after(b'-')?, date.after(b'-')?);
        date.end()?;
        let mut time = Reader(time.as_bytes());
        let (hour, minute, second) = (time.number(2)?, time.after(b':')?, time.after(b':')?);
        let fraction = time.fraction()?;
        let offset_minutes = time.offset()?;
        time.end()?;
        let in_range = (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        in_range.then(|| {
            days_from_civil(year, month, day) * MS_PER_DAY
                + ((hour * 60 + minute - offset_minutes) * 60 + second) * 1000
                + fraction
        })
    }
}

/// Returns the number of fractional digits of a second that are needed to represent `ms` milliseconds exactly.
pub(crate) const fn digits_needed(ms: i64) -> u8 {
    if ms % 1000 == 0 {
        0
    } else if ms % 100 == 0 {
        1
    } else if ms % 10 == 0 {
        2
    } else {
        3
    }
}

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.unix_ms.div_euclid(MS_PER_DAY));
        let ms = self.unix_ms.rem_euclid(MS_PER_DAY);
        if (0..=9999).contains(&year) {
            write!(f, "{year:04}")?;
        } else {
            write!(f, "{year:+05}")?;
        }
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        write!(f, "-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        match self.digits {
            0 => {}
            1 => write!(f, ".{}", ms % 1000 / 100)?,
            2 => write!(f, ".{:02}", ms % 1000 / 10)?,
            _ => write!(f, ".{:03}", ms % 1000)?,
        }
        f.write_str("Z")
    }
}

/// Returns the number of days from 1970-01-01 to a date in the proleptic Gregorian calendar. In the computation,
/// years begin in March, so that the leap day is the last day of the year (Howard Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms").
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Converts a number of days since 1970-01-01 to a year, month and day. This is the inverse of [`days_from_civil`].
const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + (month <= 2) as i64;
    (year, month, day)
}

const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, byte: u8) -> Option<()> {
        let (&first, rest) = self.0.split_first()?;
        (first == byte).then(|| self.0 = rest)
    }

    fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = (self.0.get(..digits)?, self.0.get(digits..)?);
        self.0 = rest;
        number.iter().try_fold(0, |value, &byte| {
            byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0'))
        })
    }

    /// Parses a separator and the two-digit number that follows it.
    fn after(&mut self, separator: u8) -> Option<i64> {
        self.take(separator)?;
        self.number(2)
    }

    /// Parses an optional fraction of a second into milliseconds.
    fn fraction(&mut self) -> Option<i64> {
        if self.take(b'.').is_none() {
            return Some(0);
        }
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let scale = match digits {
            1 => 100,
            2 => 10,
            3 => 1,
            _ => return None,
        };
        self.number(digits).map(|value| value * scale)
    }

    /// Parses `Z` or a UTC offset into minutes east of UTC.
    fn offset(&mut self) -> Option<i64> {
        if self.take(b'Z').is_some() || self.take(b'z').is_some() {
            return Some(0);
        }
        let sign = if self.take(b'+').is_some() {
            1
        } else {
            self.take(b'-')?;
            -1
        };
        let (hours, minutes) = (self.number(2)?, self.after(b':')?);
        (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
    }

    fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn timestamps_round_trip_for_every_day_of_eight_centuries() {
        // The 400 years before and the 400 years after 1970 cover every leap-year rule.
        for day in -146_097..146_097 {
            let ms = day * MS_PER_DAY + 45_296_789;
            assert_eq!(Rfc3339::parse(&Rfc3339::new(ms, 3).to_string()), Some(ms));
        }
    }

    #[test]
    fn known_timestamps_are_formatted_and_parsed_correctly() {
        for (ms, digits, text) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (1_505_914_988_849, 3, "2017-09-20T13:43:08.849Z"),
            (1_732_109_056_000, 0, "2024-11-20T13:24:16Z"),
            (951_782_400_000, 0, "2000-02-29T00:00:00Z"),
            (LAST_FOUR_DIGIT_YEAR, 3, "9999-12-31T23:59:59.999Z"),
            (LAST_FOUR_DIGIT_YEAR + 1, 0, "+10000-01-01T00:00:00Z"),
            (-1, 3, "1969-12-31T23:59:59.999Z"),
            (1_234_567, 1, "1970-01-01T00:20:34.5Z"),
            (1_234_567, 2, "1970-01-01T00:20:34.56Z"),
        ] {
            assert_eq!(Rfc3339::new(ms, digits).to_string(), text);
        }
        assert_eq!(Rfc3339::parse("2016-05-20T00:00:00+08:00"), Some(1_463_673_600_000));
        assert_eq!(Rfc3339::parse("2020-01-01t00:00:00.5z"), Some(1_577_836_800_500));
        assert_eq!(Rfc3339::with_fewest_digits(1_288_834_974_650).digits, 2);
    }

    #[test]
    fn parse_rejects_invalid_timestamps() {
        for text in [
            "",
            "2020-01-01",
            "2020-01-01T00:00:00",
            "2020-1-01T00:00:00Z",
            "2020-13-01T00:00:00Z",
            "2021-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2020-00-10T00:00:00Z",
            "2020-01-00T00:00:00Z",
            "2020-01-01T24:00:00Z",
            "2020-01-01T00:60:00Z",
            "2016-12-31T23:59:60Z",
            "2020-01-01T00:00:00.Z",
            "2020-01-01T00:00:00.1234Z",
            "2020-01-01T00:00:00+0800",
            "2020-01-01T00:00:00+24:00",
            "2020-01-01T00:00:00Zx",
            "+020-01-01T00:00:00Z",
            "2020-01-01T00:00:0٣Z",
        ] {
            assert_eq!(Rfc3339::parse(text), None, "{text}");
        }
    }
}
