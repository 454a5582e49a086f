//! Which web pages may ask: cross-origin resource sharing, as browsers enforce it.
//!
//! A browser lets a page of another origin read an answer only if the answer names that origin, and
//! asks before any request that is not a plain form's (a *preflight*: `OPTIONS`, without a token).
//! Cookies are never allowed, so a page can do nothing with this that it could not do with a token of
//! its own. Whoever is no browser is not kept out by any of this: tokens are for that.

use flakeid_core::Error;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    HeaderName, HeaderValue, ORIGIN, VARY,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

use crate::answer::Answer;
use crate::body::Body;
use crate::route::Route;

/// What a page may send besides what every page may.
const HEADERS: HeaderValue = HeaderValue::from_static("authorization, content-type, accept");
/// What it may read besides what every page may.
const EXPOSED: HeaderValue = HeaderValue::from_static("retry-after, www-authenticate");
/// For how many seconds a browser need not ask again; Chromium keeps to two hours at most.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");
/// From a page of the Internet to an address of a private network.
const PRIVATE_ASKED: HeaderName = HeaderName::from_static("access-control-request-private-network");
const PRIVATE_ALLOWED: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// Who may read an answer.
pub(crate) struct Sharing {
    /// Whether that depends on who asks.
    depends: bool,
    /// The origin whose pages may.
    origin: Option<HeaderValue>,
}

impl Sharing {
    /// Lets the page that asked read the answer, if its origin is allowed.
    pub(crate) fn mark(self, answer: &mut Response<Body>) {
        if !self.depends {
            return;
        }
        let headers = answer.headers_mut();
        // A cache must not give the answer for one origin to another.
        headers.append(VARY, HeaderValue::from_static("origin"));
        if let Some(origin) = self.origin {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }
}

/// The origins whose pages may ask. None unless added.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    named: Vec<HeaderValue>,
    are_all: bool,
}

impl Origins {
    /// Allows pages of an origin, written as browsers do (`https://app.example`, with a port that is not
    /// the usual one), or of every origin (`*`).
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) for anything else: what browsers never
    /// send would never match.
    pub fn allow(&mut self, origin: &str) -> Result<(), Error> {
        if origin == "*" {
            self.are_all = true;
            return Ok(());
        }
        let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        let is_plain = host.is_some_and(|host| {
            !host.is_empty()
                && !host.ends_with(if origin.starts_with("https") { ":443" } else { ":80" })
                && host.bytes().all(|byte| {
                    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b':' | b'[' | b']')
                })
        });
        match HeaderValue::from_str(origin) {
            Ok(value) if is_plain => {
                self.named.push(value);
                Ok(())
            }
            _ => {
                let reason = format!(
                    "{origin:?} is not an origin as browsers write it: https://host or \
                     http://host:port in small letters, without a path and without the scheme's usual \
                     port; or * for pages of every origin"
                );
                Err(Error::invalid_option("allow-origin", &reason))
            }
        }
    }

    /// What a preflight is answered, where its origin is allowed. It has no token, so nothing is told
    /// but which methods the path has.
    pub(crate) fn preflight<B>(
        &self,
        route: Option<&Route<'_>>,
        request: &Request<B>,
    ) -> Option<Answer> {
        let headers = request.headers();
        let is_preflight = request.method() == Method::OPTIONS
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if !is_preflight || self.allowed(headers).is_none() {
            return None;
        }
        let methods = HeaderValue::from_static(route?.allowed());
        let mut answer = Answer::new(StatusCode::NO_CONTENT, "text/plain", Body::whole(""));
        let to = answer.headers_mut();
        to.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
        to.insert(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
        to.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        // Not for every page of the Internet, even where every page may ask.
        if headers.contains_key(PRIVATE_ASKED) && self.is_named(headers) {
            to.insert(PRIVATE_ALLOWED, HeaderValue::from_static("true"));
        }
        Some(answer)
    }

    /// What is added to the answer to a request with these headers.
    pub(crate) fn sharing(&self, asked: &HeaderMap) -> Sharing {
        let depends = !self.named.is_empty() || self.are_all;
        Sharing { depends, origin: self.allowed(asked) }
    }

    fn allowed(&self, asked: &HeaderMap) -> Option<HeaderValue> {
        let origin = asked.get(ORIGIN)?;
        if self.named.contains(origin) {
            return Some(origin.clone());
        }
        self.are_all.then(|| HeaderValue::from_static("*"))
    }

    fn is_named(&self, asked: &HeaderMap) -> bool {
        asked.get(ORIGIN).is_some_and(|origin| self.named.contains(origin))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Origins;

    #[test]
    fn allow_accepts_only_origins_as_browsers_send_them() {
        let mut origins = Origins::default();
        for origin in [
            "https://app.example",
            "http://localhost:3000",
            "http://[::1]:8080",
            "https://a:80",
            "*",
        ] {
            origins.allow(origin).unwrap();
        }
        for wrong in [
            "app.example",
            "https://",
            "https://app.example/",
            "https://App.example",
            "https://app.example:443",
            "http://app.example:80",
            "https://*.example",
            "https://a@b",
            "null",
            "",
        ] {
            let error = origins.allow(wrong).unwrap_err().to_string();
            assert!(error.contains("allow-origin") && error.contains("https://host"), "{error}");
        }
    }
}
