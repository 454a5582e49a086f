use std::path::Path;

use super::super::Fault;
#[cfg(feature = "redis")]
use super::super::Location;

/// A URL apart from its options, `?name=value&…`.
pub(in super::super) struct Options {
    /// What comes before the options.
    pub bare: String,
    values: Vec<(String, String)>,
}

impl Options {
    /// Reads the options of a URL; `known` are those that there are.
    pub(in super::super) fn of(url: &str, known: &[&str]) -> Result<Self, Fault> {
        let (bare, query) = url.split_once('?').unwrap_or((url, ""));
        let mut values = Vec::new();
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            if !known.contains(&name) {
                let shown: String = name.chars().take(40).collect();
                return Err(Fault::Rejected(format!(
                    "the store's URL has an unknown option {shown:?}: use {}",
                    known.join(", ")
                )));
            }
            values.push((name.into(), decoded(name, value)?));
        }
        Ok(Self { bare: bare.into(), values })
    }

    /// An option's value.
    pub(in super::super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.values.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The contents of the file that an option names.
    pub(in super::super) fn file(&self, name: &str) -> Result<Option<Vec<u8>>, Fault> {
        let Some(path) = self.get(name) else { return Ok(None) };
        std::fs::read(Path::new(path)).map(Some).map_err(|error| {
            Fault::Rejected(format!("the store's option {name}: {path} cannot be read: {error}"))
        })
    }
}

/// A part of a URL without its %XX.
pub(in super::super) fn decoded(name: &str, text: &str) -> Result<String, Fault> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        match (digit(rest.next()), digit(rest.next())) {
            (Some(high), Some(low)) => bytes.push((high << 4 | low) as u8),
            _ => return Err(badly_encoded(name)),
        }
    }
    String::from_utf8(bytes).map_err(|_| badly_encoded(name))
}

// The text itself may be a password.
fn badly_encoded(name: &str) -> Fault {
    Fault::Rejected(format!("the {name} in the store's URL is not encoded well (%XX, UTF-8)"))
}

/// A URL as texts may show it.
#[cfg(feature = "redis")]
pub(in super::super) fn shown(url: &str) -> String {
    Location::parse(url).map_or_else(|_| "the store".into(), |location| location.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_unknown_ones_named() {
        let known = ["tls-ca", "replicas"];
        let options = Options::of("redis://h/0?tls-ca=%2Fa%20b&replicas=2", &known).unwrap();
        assert_eq!(options.bare, "redis://h/0");
        assert_eq!(options.get("tls-ca"), Some("/a b"));
        assert_eq!(options.get("replicas"), Some("2"));

        let Err(Fault::Rejected(text)) = Options::of("redis://h?tls_ca=secret", &known) else {
            panic!("an unknown option was taken");
        };
        assert!(text.contains("tls_ca") && text.contains("tls-ca") && !text.contains("secret"));
    }

    #[test]
    fn escapes_are_undone_or_refused() {
        assert_eq!(decoded("password", "a%40b%C3%BC").unwrap(), "a@bü");
        for bad in ["%", "%4", "%zz", "%ff"] {
            assert!(decoded("password", bad).is_err(), "{bad}");
        }
    }
}
