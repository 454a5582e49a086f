//! Bearer tokens (RFC 6750) that clients must send.

use flakeid_core::Error;
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use subtle::{Choice, ConstantTimeEq};

/// The length of the shortest allowed token, because shorter ones can be guessed.
const SHORTEST: usize = 16;

/// The tokens that a server accepts.
#[derive(Clone, Default)]
pub struct Tokens(Vec<Box<[u8]>>);

impl Tokens {
    /// Parses one token of at least 16 characters per line. Empty lines and lines that begin with
    /// `#` are ignored.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) with the line's number, never with
    /// its content.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut tokens = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line.len() < SHORTEST || !line.bytes().all(|byte| byte.is_ascii_graphic()) {
                let reason = format!(
                    "line {number} must be at least {SHORTEST} characters of printable ASCII, \
                     without spaces; `openssl rand -hex 32` generates a good token"
                );
                return Err(Error::invalid_option("token-file", &reason));
            }
            tokens.push(line.as_bytes().into());
        }
        if tokens.is_empty() {
            return Err(Error::invalid_option("token-file", "the file contains no token"));
        }
        Ok(Self(tokens))
    }

    /// Whether every request must contain a token.
    pub(crate) fn are_required(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether a request contains an accepted token. The check takes the same time for every wrong
    /// token of the same length.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> bool {
        let Some(value) = headers.get(AUTHORIZATION) else { return false };
        let Some((scheme, shown)) = value.as_bytes().split_at_checked(7) else { return false };
        if !scheme.eq_ignore_ascii_case(b"Bearer ") {
            return false;
        }
        self.admit_token(shown)
    }

    /// Whether a string is an accepted token.
    pub(crate) fn admit_token(&self, shown: &[u8]) -> bool {
        let found = self.0.iter().fold(Choice::from(0), |found, token| found | token.ct_eq(shown));
        found.into()
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} tokens", self.0.len())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn admit_accepts_only_complete_bearer_tokens() {
        let tokens = Tokens::parse("# ours\n\n0123456789abcdef\nfedcba9876543210\n").unwrap();
        assert_eq!(format!("{tokens:?}"), "2 tokens");
        let admits = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_str(text).unwrap());
            tokens.admit(&headers)
        };
        assert!(admits("Bearer fedcba9876543210") && admits("bearer 0123456789abcdef"));
        for wrong in [
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
            "Bearer ",
            "Basic 0123456789abcdef",
            "0123456789abcdef",
            "",
        ] {
            assert!(!admits(wrong), "{wrong}");
        }
        assert!(!tokens.admit(&HeaderMap::new()));
    }

    #[test]
    fn token_file_errors_do_not_contain_the_tokens() {
        for text in ["", "# nothing\n", "0123456789abcdef\nshort-secret\n", "with a space in it"] {
            let error = Tokens::parse(text).unwrap_err().to_string();
            assert!(!error.contains("short-secret") && !error.contains("with a"), "{error}");
        }
    }
}
