//! Cross-origin resource sharing (CORS): the origins whose pages may send requests to this server and read the
//! responses.
//!
//! A browser lets a page read a cross-origin response only if the response allows that origin. It sends a *preflight*
//! (`OPTIONS`, without a token) before any request that an HTML form could not send. The server never allows
//! credentials such as cookies, so a page has no rights besides those of the token that the page itself sends. CORS
//! does not restrict other clients; tokens do.

use flakeid_core::Error;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    HeaderName, HeaderValue, ORIGIN, VARY,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};

use crate::answer::Answer;
use crate::body::Body;
use crate::route::Route;

/// The request headers that a page may send in addition to those that CORS always allows.
const HEADERS: HeaderValue = HeaderValue::from_static("authorization, content-type, accept");
/// The response headers that a page may read in addition to those that CORS always allows.
const EXPOSED: HeaderValue = HeaderValue::from_static("retry-after, www-authenticate");
/// The number of seconds for which a browser may cache a preflight response. Chromium's limit is two hours.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");
/// The preflight header with which a browser requests access to a private network on behalf of a page on the Internet.
const PRIVATE_REQUESTED: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
/// The response header that allows a page on the Internet to access a private network.
const PRIVATE_ALLOWED: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// The CORS decision for one request: the origin whose pages may read the response.
pub(crate) struct Sharing {
    /// Whether the response depends on the origin of the request.
    depends: bool,
    /// The allowed origin (the request's origin or `*`), or `None` if the request's origin is not allowed.
    origin: Option<HeaderValue>,
}

impl Sharing {
    /// Whether the request comes from an allowed origin.
    pub(crate) const fn is_allowed(&self) -> bool {
        self.origin.is_some()
    }

    /// Adds the headers that let a page from an allowed origin read the response.
    pub(crate) fn mark(self, answer: &mut Response<Body>) {
        if !self.depends {
            return;
        }
        let headers = answer.headers_mut();
        // A cache must not return a response for one origin to a request from another origin.
        headers.append(VARY, HeaderValue::from_static("origin"));
        if let Some(origin) = self.origin {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }
}

/// The origins whose pages may send requests. There are none by default.
///
/// ```
/// use flakeid_server::Origins;
///
/// let mut origins = Origins::default();
/// origins.allow("https://app.example")?;
/// assert!(origins.allow("app.example").is_err(), "an origin has a scheme");
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Origins {
    named: Vec<HeaderValue>,
    are_all: bool,
}

impl Origins {
    /// Allows requests from pages of the given origin, or of every origin if `origin` is `*`. Write the origin in the
    /// format in which browsers send it, such as `https://app.example`, and include the port unless it is the default
    /// port.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) for a string that browsers never send as an origin,
    /// because the string would never match a request.
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
                    "{origin:?} is not an origin as browsers send it: write https://host or \
                     http://host:port in lowercase, without a path and without the scheme's default \
                     port; or write * for pages of every origin"
                );
                Err(Error::invalid_option("allow-origin", &reason))
            }
        }
    }

    /// Returns the response to a preflight for a known path from an allowed origin, or `None` for any other request. A
    /// preflight has no token, so the response reveals only the path's methods.
    pub(crate) fn preflight(&self, route: Option<&Route<'_>>, request: &Parts) -> Option<Answer> {
        let headers = &request.headers;
        let is_preflight = request.method == Method::OPTIONS
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
        // A page on the Internet may access a private network only if the page's origin is allowed by name. The
        // wildcard `*` is not sufficient.
        if headers.contains_key(PRIVATE_REQUESTED) && self.is_named(headers) {
            to.insert(PRIVATE_ALLOWED, HeaderValue::from_static("true"));
        }
        Some(answer)
    }

    /// Returns the CORS decision for a request with the given headers.
    pub(crate) fn sharing(&self, headers: &HeaderMap) -> Sharing {
        let depends = !self.named.is_empty() || self.are_all;
        Sharing { depends, origin: self.allowed(headers) }
    }

    fn allowed(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        if self.named.contains(origin) {
            return Some(origin.clone());
        }
        self.are_all.then(|| HeaderValue::from_static("*"))
    }

    fn is_named(&self, headers: &HeaderMap) -> bool {
        headers.get(ORIGIN).is_some_and(|origin| self.named.contains(origin))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Origins;

    #[test]
    fn only_canonical_origins_and_the_wildcard_can_be_allowed() {
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
