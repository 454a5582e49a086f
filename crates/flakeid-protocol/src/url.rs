//! Store URLs: their form in messages, their options, and percent-encoding.

use crate::store::Fault;

/// Returns a URL without its user, password and options, so that it is safe to show in messages.
#[must_use]
pub fn redact(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "the store".into() };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if !authority.is_empty() && path.contains('@') {
        // An `@` after the first `/`, `?` or `#` shows that the password contains one of these characters without
        // percent-encoding.
        return format!("{scheme}://…");
    }
    // The last `@` is the separator, because a password that was not percent-encoded may contain an `@`.
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // The options of a URL may also contain passwords.
    let path = path.split(['?', '#']).next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// Decodes percent-encoding. Returns `None` if a `%` is not followed by two hexadecimal digits.
#[must_use]
pub fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => (digit(bytes.next())? << 4 | digit(bytes.next())?) as u8,
            byte => byte,
        });
    }
    Some(decoded)
}

/// A server's URL, split into its base and its options (`?name=value&…`).
pub struct ServerUrl<'a> {
    /// The URL in a form that is safe to show in messages.
    pub shown: String,
    /// The part of the URL before the options.
    pub base: &'a str,
    /// The names and encoded values of the options.
    pub options: Vec<(&'a str, &'a str)>,
}

impl<'a> ServerUrl<'a> {
    /// Splits a URL; `known` lists the allowed options.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if the URL has an unknown option. The message omits the option, because the option may be
    /// the second half of a password that contains a `?`.
    pub fn parse(url: &'a str, known: &[&str]) -> Result<Self, Fault> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let parsed = Self { shown: redact(url), base, options: Vec::new() };
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let options = pairs.map(|pair| {
            let option = pair.split_once('=').filter(|(name, _)| known.contains(name));
            option.ok_or_else(|| {
                let known = known.join(", ");
                parsed.reject(format_args!(
                    "the URL has an unknown option; the known options are {known} \
                     (if the password contains `?`, write it as %3F)"
                ))
            })
        });
        let options = options.collect::<Result<_, _>>()?;
        Ok(Self { options, ..parsed })
    }

    /// Returns the decoded value of an option.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if the value is not encoded correctly.
    pub fn option(&self, name: &str) -> Result<Option<String>, Fault> {
        let found = self.options.iter().rfind(|(option, _)| *option == name);
        found.map(|(name, value)| self.decode(&format!("option {name}"), value)).transpose()
    }

    /// Decodes a part of the URL; `what` names the part in the message.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if the part is not encoded correctly. The message omits the part, which may be a password.
    pub fn decode(&self, what: &str, text: &str) -> Result<String, Fault> {
        let decoded = percent_decode(text).and_then(|bytes| String::from_utf8(bytes).ok());
        decoded.ok_or_else(|| {
            self.reject(format_args!(
                "the {what} in the URL is not percent-encoded UTF-8: write % as %25"
            ))
        })
    }

    /// Returns the fault for a problem with this URL.
    pub fn reject(&self, problem: impl std::fmt::Display) -> Fault {
        Fault::Rejected(format!("{}: {problem}", self.shown))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn url_parser_decodes_options_and_hides_unknown_options_in_errors() {
        let known = ["tls-ca", "replicas"];
        let url = ServerUrl::parse("redis://h/0?tls-ca=%2Fa%20b&replicas=2", &known).unwrap();
        assert_eq!((url.shown.as_str(), url.base), ("redis://h/0", "redis://h/0"));
        assert_eq!(url.option("tls-ca"), Ok(Some("/a b".into())));
        assert_eq!(url.option("replicas"), Ok(Some("2".into())));
        assert_eq!(url.option("tls-key"), Ok(None));

        for url in ["redis://h?tls_ca=secret", "redis://h?secret", "redis://u:pa?secret@h"] {
            let Err(Fault::Rejected(text)) = ServerUrl::parse(url, &known).map(drop) else {
                panic!("an unknown option was accepted");
            };
            assert!(text.contains("tls-ca") && !text.contains("secret"), "{text}");
        }
    }

    #[test]
    fn valid_percent_escapes_are_decoded_and_invalid_escapes_rejected() {
        let url = ServerUrl::parse("etcd://h", &[]).unwrap();
        assert_eq!(url.decode("password", "a%40b%C3%BC"), Ok("a@bü".into()));
        for bad in ["%", "%4", "%zz", "%ff", "%+1"] {
            assert!(url.decode("password", bad).is_err(), "{bad}");
        }
    }
}
