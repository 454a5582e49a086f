//! Query parameters of a request. Each parameter may occur at most once, and unknown parameters are
//! rejected.

use std::borrow::Cow;

use flakeid_core::Error;

/// Returns the values of the named parameters, in the order of `names`. Rejects a query that contains any other
/// parameter or repeats a parameter.
pub(crate) fn parameters<'a, const N: usize>(
    query: Option<&'a str>,
    names: [&'static str; N],
) -> Result<[Option<Cow<'a, str>>; N], Error> {
    let mut values = [const { None }; N];
    for (name, value) in form_urlencoded::parse(query.unwrap_or("").as_bytes()) {
        let Some(place) = names.iter().position(|known| *known == name) else {
            let known = if N == 0 { "none".to_owned() } else { names.join(", ") };
            let shown: String = name.chars().take(80).collect();
            return Err(Error::invalid_option(
                "query",
                &format!("unknown parameter {shown:?}; known: {known}"),
            ));
        };
        if values[place].replace(value).is_some() {
            return Err(Error::invalid_option(names[place], "give it only once"));
        }
    }
    Ok(values)
}

/// Parses a whole number, and checks that it is in the range from `min` to `max`, both inclusive.
pub(crate) fn number(name: &'static str, text: &str, min: u64, max: u64) -> Result<u64, Error> {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let Some(number) = text.parse().ok().filter(|_| is_digits) else {
        let shown: String = text.chars().take(80).collect();
        let reason = format!("{shown:?} is not a whole number from {min} to {max}");
        return Err(Error::invalid_option(name, &reason));
    };
    if (min..=max).contains(&number) {
        return Ok(number);
    }
    Err(Error::field_out_of_range(name, &number, min, max))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn query_parser_rejects_unknown_and_repeated_parameters() {
        let names = ["from", "to"];
        let [from, to] = parameters(Some("to=2026-01-01T00%3A00%3A00Z"), names).unwrap();
        assert_eq!((from, to.as_deref()), (None, Some("2026-01-01T00:00:00Z")));
        assert_eq!(parameters(None, names).unwrap(), [None, None]);
        for wrong in ["form=1", "from=1&from=2", "=", "%ff=1"] {
            assert!(parameters(Some(wrong), names).is_err(), "{wrong}");
        }
    }

    #[test]
    fn query_numbers_must_consist_of_digits_and_be_in_range() {
        assert_eq!(number("count", "3", 1, 5), Ok(3));
        for wrong in ["", "0", "6", "-1", "+1", "1.0", "0x1", "99999999999999999999999"] {
            assert!(number("count", wrong, 1, 5).is_err(), "{wrong}");
        }
        assert_eq!(number("from", "18446744073709551615", 0, u64::MAX), Ok(u64::MAX));
        assert!(number("from", "18446744073709551616", 0, u64::MAX).is_err());
    }
}
