//! Dates in HTTP headers.

/// Converts an HTTP date to Unix milliseconds. Accepts dates such as `Sun, 06 Nov 1994 08:49:37 GMT`, the only format
/// that Go servers send.
pub(crate) fn unix_ms(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, text) = text.split_once(", ")?;
    let parts: Vec<&str> = text.strip_suffix(" GMT")?.split([' ', ':']).collect();
    let number = |at: usize, max: i64| -> Option<i64> {
        parts.get(at)?.parse().ok().filter(|number| (0..=max).contains(number))
    };
    let month = MONTHS.iter().position(|name| parts.get(1) == Some(name))? as i64;
    let (day, year) = (number(0, 31)?, number(2, 9999)?);
    let (hour, minute, second) = (number(3, 23)?, number(4, 59)?, number(5, 60)?);
    // Years are counted from March, so that a leap day is the last day of its year. The number 719,468 is the number of
    // days from 0000-03-01 to 1970-01-01.
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000)
}

#[cfg(test)]
mod tests {
    use super::unix_ms;

    #[test]
    fn http_dates_are_converted_to_unix_milliseconds() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
            ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
            ("Sat, 31 Dec 2044 12:00:00 GMT", 2_366_798_400),
        ] {
            assert_eq!(unix_ms(text), Some(seconds * 1000), "{text}");
        }
        for bad in ["", "now", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Foo 1994 08:49:37 GMT"] {
            assert_eq!(unix_ms(bad), None, "{bad}");
        }
        assert_eq!(unix_ms("Sun, 06 Nov 1994 24:49:37 GMT"), None);
    }
}
