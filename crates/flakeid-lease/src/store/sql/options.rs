use crate::store::Fault;

/// An option's name and value.
type Pair<'a> = (&'a str, &'a str);

/// Splits a URL into what comes before `?` and its options, of which `known` are allowed.
///
/// # Errors
/// [`Fault::Rejected`] naming what is known: unknown text is not shown, because it may be the
/// second half of a password.
pub(in crate::store) fn split_options<'a>(
    place: &str,
    url: &'a str,
    known: &[&str],
) -> Result<(&'a str, Vec<Pair<'a>>), Fault> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let mut options = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some((name, value)) if known.contains(&name) => options.push((name, value)),
            _ => {
                return Err(Fault::Rejected(format!(
                    "the URL of {place} has an unknown option: known are {}",
                    known.join(", ")
                )));
            }
        }
    }
    Ok((base, options))
}

/// Undoes the percent-encoding of an option's value; what is no valid code stays as it is.
pub(in crate::store) fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let (b'%', Some(code)) = (byte, code) {
            bytes.push(code);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
