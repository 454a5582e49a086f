//! The query of a request: each parameter at most once, and no unknown ones.

use std::borrow::Cow;

use flakeid_core::Error;

/// Returns the values of the parameters `names`, in the order of the names.
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

/// Parses a number from `min` to `max`.
pub(crate) fn number(name: &'static str, text: &str, min: u64, max: u64) -> Result<u64, Error> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        let shown: String = text.chars().take(80).collect();
        let reason = format!("{shown:?} is not a whole number from {min} to {max}");
        return Err(Error::invalid_option(name, &reason));
    }
    // A number with too many digits is reported like any other that is too large.
    let number = text.parse().unwrap_or(u64::MAX);
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
    fn parameters_rejects_unknown_and_repeated_names() {
        let names = ["from", "to"];
        let [from, to] = parameters(Some("to=2026-01-01T00%3A00%3A00Z"), names).unwrap();
        assert_eq!((from, to.as_deref()), (None, Some("2026-01-01T00:00:00Z")));
        assert_eq!(parameters(None, names).unwrap(), [None, None]);
        for wrong in ["form=1", "from=1&from=2", "=", "%ff=1"] {
            assert!(parameters(Some(wrong), names).is_err(), "{wrong}");
        }
    }

    #[test]
    fn number_rejects_values_out_of_range_and_other_strings() {
        assert_eq!(number("count", "3", 1, 5), Ok(3));
        for wrong in ["", "0", "6", "-1", "+1", "1.0", "0x1", "99999999999999999999999"] {
            assert!(number("count", wrong, 1, 5).is_err(), "{wrong}");
        }
    }
}
