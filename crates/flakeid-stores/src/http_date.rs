//! Dates in HTTP headers.

use flakeid_core::Rfc3339;

/// Converts an HTTP date to Unix milliseconds. Accepts dates such as `Sun, 06 Nov 1994 08:49:37 GMT`, the only format
/// that Go servers send.
pub(crate) fn unix_ms(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, text) = text.split_once(", ")?;
    let parts: Vec<&str> = text.split(' ').collect();
    let &[day, month, year, time, "GMT"] = parts.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    Rfc3339::parse(&format!("{year}-{month:02}-{day}T{time}Z"))
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
