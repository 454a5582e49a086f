//! Store URLs: their form in messages, their options, and percent-encoding.

use crate::store::Fault;

/// Returns a URL without its user, password and options, so that it is safe to show in messages.
#[must_use]
pub fn redact(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "the store".into() };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    // The path of a file may contain an `@`.
    let is_file = matches!(scheme, "sqlite" | "http+unix") && authority.is_empty();
    if !is_file && path.contains('@') {
        // An `@` after the first `/`, `?` or `#` shows that the password contains one of these characters without
        // percent-encoding, or that the URL has a `/` too many.
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
        if let Some(problem) = unencoded(base) {
            return Err(parsed.reject(problem));
        }
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let options = pairs.map(|pair| {
            let option = pair.split_once('=').filter(|(name, _)| known.contains(name));
            option.ok_or_else(|| {
                let foreign = pair.split_once('=').and_then(|(name, _)| foreign_option(name));
                if let Some(problem) = foreign {
                    return parsed.reject(problem);
                }
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

    /// Checks that neither the user nor the password contains an `@`, for drivers that end them at the first `@`.
    ///
    /// # Errors
    /// [`Fault::Rejected`] with the corrected URL.
    pub fn check_at_sign(&self) -> Result<(), Fault> {
        let (_, rest) = self.base.split_once("://").unwrap_or_default();
        let authority = rest.split('/').next().unwrap_or_default();
        if authority.matches('@').count() < 2 {
            return Ok(());
        }
        Err(self.reject(must_be_encoded(self.base, '@')))
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

/// Returns the problem if the user or the password in the base of a URL contains a character that ends them.
fn unencoded(base: &str) -> Option<String> {
    let (_, rest) = base.split_once("://")?;
    let end = rest.find(['/', '#']).filter(|end| *end > 0)?;
    let (_, rest) = rest.split_at(end);
    let character = rest.chars().next().filter(|_| rest.contains('@'))?;
    Some(must_be_encoded(base, character))
}

/// Returns the problem of a character in the user or the password, with the corrected URL. The last `@` ends the
/// password, because hosts and paths contain no `@`.
fn must_be_encoded(base: &str, character: char) -> String {
    let (scheme, rest) = base.split_once("://").unwrap_or_default();
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    format!(
        "the user or the password contains {character:?}, which must be written as %{:02X}: \
         {scheme}://USER:PASSWORD@{place}, where each of the characters % / ? # @ is written as %25 %2F %3F %23 %40",
        u32::from(character)
    )
}

/// Returns the problem of an option that is known from other libraries, and is therefore not a part of a password.
fn foreign_option(name: &str) -> Option<String> {
    let remedy = match name {
        "schema" | "currentSchema" => {
            "write options=-csearch_path%3DSCHEMA for a schema of PostgreSQL other than the default"
        }
        "user" | "password" => {
            "write the user and the password before the host: //USER:PASSWORD@HOST"
        }
        "useSSL" | "sslMode" | "sslaccept" | "ssl" => {
            "write sslmode for PostgreSQL, or ssl-mode for MySQL and MariaDB"
        }
        "connection_limit"
        | "pool_timeout"
        | "pgbouncer"
        | "charset"
        | "serverVersion"
        | "allowPublicKeyRetrieval"
        | "characterEncoding"
        | "useUnicode"
        | "serverTimezone"
        | "prepareThreshold"
        | "statement_cache_size" => "omit it",
        _ => return None,
    };
    Some(format!("{name} in the URL is an option of another library; {remedy}"))
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
    fn password_after_a_superfluous_slash_is_hidden() {
        assert_eq!(redact("postgresql:///orders:s3cret@db.example/app"), "postgresql://…");
        for file in ["sqlite:///var/lib/a@b.db", "http+unix:///run/a@b"] {
            assert_eq!(redact(file), file);
        }
    }

    fn problem_of(url: &str) -> String {
        let fault = ServerUrl::parse(url, &["replicas"]).and_then(|url| url.check_at_sign());
        fault.unwrap_err().to_string()
    }

    #[test]
    fn unencoded_passwords_are_rejected_with_the_corrected_url() {
        for (character, code) in [('/', "%2F"), ('#', "%23"), ('@', "%40")] {
            let problem =
                problem_of(&format!("postgresql://u:fir5t{character}s3cond@db.example/app"));
            let parts =
                [&format!("{character:?}"), code, " postgresql://USER:PASSWORD@db.example/app, "];
            assert!(parts.iter().all(|part| problem.contains(*part)), "{problem}");
            assert!(!problem.contains("fir5t") && !problem.contains("s3cond"), "{problem}");
        }
        let valid =
            ["postgresql://u:a%2Fb@h/d", "redis://h/0?replicas=a@b", "http+unix:///run/a@b"];
        for url in valid {
            ServerUrl::parse(url, &["replicas"]).unwrap().check_at_sign().unwrap();
        }
    }

    #[test]
    fn options_of_other_libraries_are_named_in_errors() {
        for (option, remedy) in [
            ("schema=public", "search_path%3DSCHEMA"),
            ("password=s3cret", "USER:PASSWORD@HOST"),
            ("pgbouncer=true", "omit it"),
        ] {
            let problem = problem_of(&format!("postgresql://u:p@h/d?{option}"));
            assert!(problem.contains(remedy) && !problem.contains("s3cret"), "{problem}");
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
