/// The Unix milliseconds of an HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT`, the only form
/// that Go's servers send.
pub(super) fn unix_ms(text: &str) -> Option<i64> {
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
    // Days since 1970-03-01 of a calendar whose years begin in March, so that February 29 is last.
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000)
}

#[cfg(test)]
mod tests {
    use super::unix_ms;

    #[test]
    fn dates_are_read() {
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
