//! HTTP responses, including error responses.

use std::time::Duration;

use bytes::Bytes;
use flakeid_core::{Error, ErrorKind};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{HeaderMap, Response, StatusCode};
use serde::Serialize;

use crate::body::Body;

/// The error code in a response to a client that has exceeded its rate limit.
pub(crate) const TOO_MANY: &str = "HTTP_TOO_MANY_REQUESTS";
pub(crate) const BAD_REQUEST: &str = "HTTP_BAD_REQUEST";
pub(crate) const FORBIDDEN: &str = "HTTP_FORBIDDEN";
pub(crate) const NOT_FOUND: &str = "HTTP_NOT_FOUND";
pub(crate) const UNAUTHORIZED: &str = "HTTP_UNAUTHORIZED";

/// A response, and the code under which the metrics count the response.
pub(crate) struct Answer {
    pub(crate) response: Response<Body>,
    pub(crate) code: &'static str,
}

/// The JSON body of every error response. The error code is either one of the library's error codes or specific to
/// HTTP.
#[derive(Serialize)]
struct ErrorBody<'a> {
    error: ErrorDetail<'a>,
}

#[derive(Default, Serialize)]
struct ErrorDetail<'a> {
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    /// The kind of refusal of a lease request, if the holder must distinguish this refusal from other refusals.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<&'a str>,
    /// The broker to which the client should send the request instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    broker: Option<&'a str>,
}

impl Answer {
    pub(crate) fn new(status: StatusCode, media_type: &'static str, body: Body) -> Self {
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        // Caching is forbidden, because a cache that returned the response to another client would repeat the
        // response's IDs.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Self { response, code: "OK" }
    }

    pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(mut text) => {
                text.push(b'\n');
                Self::new(status, "application/json", Body::whole(text))
            }
            Err(error) => Self::http(
                StatusCode::INTERNAL_SERVER_ERROR,
                "HTTP_INTERNAL",
                &format!("the response cannot be serialized: {error}"),
            ),
        }
    }

    pub(crate) fn text(text: impl Into<Bytes>, media_type: &'static str) -> Self {
        Self::new(StatusCode::OK, media_type, Body::whole(text))
    }

    /// Builds an error response that is specific to HTTP, for example for an invalid path, method or token.
    pub(crate) fn http(status: StatusCode, code: &'static str, message: &str) -> Self {
        Self::of_detail(status, code, ErrorDetail { code, message, ..ErrorDetail::default() })
    }

    /// Builds the error response for a path or namespace that does not exist.
    pub(crate) fn not_found(message: &str) -> Self {
        Self::http(StatusCode::NOT_FOUND, NOT_FOUND, message)
    }

    /// Builds the error response for a request about a node that another broker granted.
    pub(crate) fn misdirected(message: &str, broker: Option<&str>) -> Self {
        let code = "HTTP_MISDIRECTED";
        let detail = ErrorDetail { code, message, broker, ..ErrorDetail::default() };
        Self::of_detail(StatusCode::MISDIRECTED_REQUEST, code, detail)
    }

    /// Builds the error response for a client that has exceeded its rate limit.
    pub(crate) fn too_many(message: &str, wait: Duration) -> Self {
        let retry_after_ms = Some(milliseconds(wait));
        let detail =
            ErrorDetail { code: TOO_MANY, message, retry_after_ms, ..ErrorDetail::default() };
        Self::of_detail(StatusCode::TOO_MANY_REQUESTS, TOO_MANY, detail).retry_after(wait)
    }

    /// Sets the header `Retry-After` to `wait` in whole seconds, rounded up to at least 1 s.
    fn retry_after(mut self, wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        self.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        self
    }

    fn of_detail(status: StatusCode, code: &'static str, error: ErrorDetail<'_>) -> Self {
        let mut answer = Self::json(status, &ErrorBody { error });
        answer.code = code;
        answer
    }

    pub(crate) fn with(mut self, name: HeaderName, value: &'static str) -> Self {
        self.response.headers_mut().insert(name, HeaderValue::from_static(value));
        self
    }

    pub(crate) fn headers_mut(&mut self) -> &mut HeaderMap {
        self.response.headers_mut()
    }
}

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        Self::from_error(&error, status_of(error.kind()))
    }
}

impl Answer {
    pub(crate) fn from_error(error: &Error, status: StatusCode) -> Self {
        Self::from_refusal(error, status, None)
    }

    /// Builds the response for an error. `refusal` is the kind of refusal, if the holder of the lease must distinguish
    /// this refusal from other refusals.
    pub(crate) fn from_refusal(
        error: &Error,
        status: StatusCode,
        refusal: Option<&'static str>,
    ) -> Self {
        let retry_after = error.retry_after().filter(|_| error.kind().is_retryable());
        let detail = ErrorDetail {
            code: error.code(),
            message: &error.to_string(),
            field: error.field(),
            retry_after_ms: retry_after.map(milliseconds),
            refusal,
            broker: None,
        };
        let answer = Self::of_detail(status, error.code(), detail);
        match retry_after {
            Some(wait) => answer.retry_after(wait),
            None => answer,
        }
    }
}

fn milliseconds(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
}

/// Returns status 400 for errors that the client caused, and 503 for all other errors, which may be temporary.
const fn status_of(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::InvalidLayout
        | ErrorKind::FieldOutOfRange
        | ErrorKind::InvalidId
        | ErrorKind::InvalidOption => StatusCode::BAD_REQUEST,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    }
}
