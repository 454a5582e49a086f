//! Protection against requests that a browser sends for a web page. A page from any site can make a browser send
//! requests to every address that the browser can reach. The address may be on the same host or in the same private
//! network.

use std::net::IpAddr;

use hyper::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{HeaderMap, StatusCode, Version};

use crate::answer::Answer;
use crate::cors::Origins;

/// The header in which browsers report how the page's site relates to the server's site (W3C Fetch Metadata).
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Returns an error response if a request has several `Host` headers, or if an HTTP/1.1 request has no `Host` header
/// (RFC 9112, section 3.2).
pub(crate) fn refuse_ambiguous_host(request: &Parts) -> Option<Answer> {
    let hosts = request.headers.get_all(HOST).iter().count();
    let is_valid = hosts == 1 || (hosts == 0 && request.version != Version::HTTP_11);
    (!is_valid).then(|| {
        let message = format!("send exactly one Host header; the request contains {hosts}");
        Answer::http(StatusCode::BAD_REQUEST, "HTTP_BAD_REQUEST", &message)
    })
}

/// Returns an error response to a request from a web page whose origin is not allowed, or `None` for any other request.
pub(crate) fn refuse_foreign_page(origins: &Origins, request: &Parts) -> Option<Answer> {
    let headers = &request.headers;
    if origins.sharing(headers).is_allowed() {
        return None;
    }
    let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
    let is_foreign = match headers.get(ORIGIN) {
        Some(origin) => !is_own_origin(origin.as_bytes(), request),
        None => site == Some(b"cross-site"),
    };
    is_foreign.then(|| {
        Answer::http(
            StatusCode::FORBIDDEN,
            "HTTP_FORBIDDEN",
            "this server refuses requests from web pages of other origins: start the server with \
             --allow-origin to allow an origin",
        )
    })
}

/// Whether an origin is the server's own origin, which means that the page came from this server.
fn is_own_origin(origin: &[u8], request: &Parts) -> bool {
    let host = origin.strip_prefix(b"http://").or_else(|| origin.strip_prefix(b"https://"));
    host.is_some_and(|host| host_of(request).is_some_and(|own| own.as_bytes() == host))
}

fn host_of(request: &Parts) -> Option<&str> {
    match request.uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => request.headers.get(HOST)?.to_str().ok(),
    }
}

/// Returns an error response to a request for a host other than `localhost` or a loopback address. A malicious site can
/// change the address of its own host name to 127.0.0.1 (DNS rebinding). The browser then considers the page and this
/// server to have the same origin, so only the host name reveals the attack.
pub(crate) fn refuse_other_hosts(request: &Parts) -> Option<Answer> {
    let is_loopback = host_of(request).is_some_and(|host| {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        name.eq_ignore_ascii_case("localhost")
            || address.is_ok_and(|address| address.to_canonical().is_loopback())
    });
    (!is_loopback).then(|| {
        Answer::http(
            StatusCode::FORBIDDEN,
            "HTTP_FORBIDDEN",
            "a server without tokens accepts only requests to localhost, 127.0.0.1 or [::1], because web pages can \
             send requests under other names: use --token-file, or allow other names with --insecure",
        )
    })
}

/// Returns an error response to a request whose body is not declared as JSON. A web page can send some other content
/// types without a preflight request. The server would then receive the request before it could refuse the page's
/// origin.
pub(crate) fn refuse_other_types(headers: &HeaderMap) -> Option<Answer> {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = declared.and_then(|value| value.split(';').next()).map(str::trim);
    let is_json = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    (!is_json).then(|| {
        Answer::http(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "HTTP_UNSUPPORTED_MEDIA_TYPE",
            "send the header Content-Type: application/json",
        )
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)]) -> Parts {
        let mut request = hyper::Request::builder().uri("/v1/default/ids");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn server_without_tokens_accepts_only_loopback_host_names() {
        for (host, is_accepted) in [
            ("localhost", true),
            ("LocalHost:7117", true),
            ("127.0.0.1:7117", true),
            ("127.9.9.9", true),
            ("[::1]:7117", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("localhost.evil.example", false),
            ("evil.example:7117", false),
            ("192.0.2.7:7117", false),
            ("127.0.0.1.evil.example", false),
            ("", false),
        ] {
            let refused = refuse_other_hosts(&request(&[("host", host)]));
            assert_eq!(refused.is_none(), is_accepted, "{host}");
        }
        assert!(refuse_other_hosts(&request(&[])).is_some());
    }

    #[test]
    fn cross_origin_requests_are_refused_unless_explicitly_allowed() {
        let mut origins = Origins::default();
        origins.allow("https://app.example").unwrap();
        for (headers, is_accepted) in [
            (&[("host", "ids.example")][..], true),
            (&[("host", "ids.example"), ("origin", "https://app.example")], true),
            (&[("host", "ids.example:1"), ("origin", "http://ids.example:1")], true),
            (&[("host", "ids.example"), ("origin", "https://evil.example")], false),
            (&[("host", "ids.example:1"), ("origin", "http://ids.example")], false),
            (&[("host", "ids.example"), ("origin", "null")], false),
            (&[("host", "ids.example"), ("sec-fetch-site", "cross-site")], false),
            (&[("host", "ids.example"), ("sec-fetch-site", "none")], true),
        ] {
            let refused = refuse_foreign_page(&origins, &request(headers));
            assert_eq!(refused.is_none(), is_accepted, "{headers:?}");
        }
    }

    #[test]
    fn lease_requests_without_a_json_content_type_are_refused() {
        for (kind, is_accepted) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("text/plain", false),
            ("application/jsonp", false),
        ] {
            let request = request(&[("content-type", kind)]);
            assert_eq!(refuse_other_types(&request.headers).is_none(), is_accepted, "{kind}");
        }
        assert!(refuse_other_types(&HeaderMap::new()).is_some());
    }
}
