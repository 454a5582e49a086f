//! Reads responses from brokers, and checks every number before using it.

use std::fmt::{self, Display};

use flakeid_core::{Error, ErrorKind, Layout, Window, is_invisible};
use serde_json::Value;

use super::json::token;
use crate::store::{Fault, RETRY};
use crate::{Acquire, Grant, Refusal, Renew, Renewed, rules};

/// The number of characters to which a broker's message is truncated in errors.
const LONGEST_MESSAGE: usize = 1_000;
/// The upper limit for retry delays and for a namespace's bounds: one day, in milliseconds.
const LONGEST_MS: u64 = 86_400_000;
const RETRY_MS: u64 = RETRY.as_millis() as u64;
/// The latest time that a response may contain, in Unix milliseconds. Many JSON parsers do not represent larger
/// integers exactly.
const LAST_INSTANT: i64 = (1 << 53) - 1;

/// The response to a request.
///
/// ```
/// use flakeid_protocol::http::HttpAnswer;
///
/// let answer = HttpAnswer::new(204, Vec::new());
/// assert_eq!(answer.status, 204);
/// ```
///
/// `Debug` omits the body, which may contain a token.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The body, which is JSON.
    pub body: Vec<u8>,
}

impl HttpAnswer {
    /// Creates a response with the given HTTP status and body.
    #[must_use]
    pub const fn new(status: u16, body: Vec<u8>) -> Self {
        Self { status, body }
    }
}

impl fmt::Debug for HttpAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpAnswer").field("status", &self.status).finish_non_exhaustive()
    }
}

/// The JSON of a response about leases. Responses are parsed as a [`Value`], because a parser for each type would
/// greatly enlarge a WebAssembly module. `Debug` omits the JSON, which may contain a token.
#[derive(Default)]
pub struct AnswerJson(Value);

impl fmt::Debug for AnswerJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnswerJson(…)")
    }
}

impl AnswerJson {
    /// Parses the response of the broker at an address.
    ///
    /// # Errors
    /// The [`Failure`] that the response reports, or a [`Failure`] for an unusable response.
    pub fn read(address: &str, answer: &HttpAnswer) -> Result<Self, Failure> {
        let HttpAnswer { status, body } = answer;
        let is_success = (200..300).contains(status);
        // Only the response to a release is empty.
        if is_success && body.is_empty() {
            return Ok(Self::default());
        }
        let read = serde_json::from_slice::<Value>(body);
        if !is_success {
            let failure = read.ok().and_then(|read| failure_of(&read["error"], address, *status));
            return Err(failure.unwrap_or_else(|| {
                let what = format!(
                    "the response has status {status}, but does not contain a flakeid error"
                );
                no_broker(address, &what)
            }));
        }
        match read {
            Ok(read) if read.is_object() => Ok(Self(read)),
            Ok(_) => Err(no_broker(address, &"it is not a JSON object")),
            Err(error) => Err(no_broker(address, &error)),
        }
    }

    /// Returns the layout of the granted node and the name of the broker.
    ///
    /// # Errors
    /// [`InvalidLayout`](ErrorKind::InvalidLayout) if the layout is invalid;
    /// [`InvalidOption`](ErrorKind::InvalidOption) if a field is missing or is not a string.
    pub fn layout_and_broker(&self) -> Result<(Layout, String), Error> {
        Ok((self.text("layout")?.parse()?, self.text("broker")?.to_owned()))
    }

    /// Returns the grant after checking it against the request and the layout.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](ErrorKind::FieldOutOfRange) if a number is out of range;
    /// [`InvalidOption`](ErrorKind::InvalidOption) if a field is missing, or if the token differs from the request's
    /// token.
    pub fn to_grant(&self, request: &Acquire, layout: &Layout) -> Result<Grant, Error> {
        let grant = Grant {
            node: self.number("node")?,
            start: self.number("start")?,
            fence: self.number("fence")?,
            token: token("token", self.text("token")?)?,
            max_ahead_ms: self.number("max_ahead_ms")?,
            max_window_ms: self.number("max_window_ms")?,
            expires: self.instant("expires")?,
        };
        if grant.token != request.token {
            return Err(Error::invalid_option("token", "is not the token of the request"));
        }
        let shortest_ms = layout.unit_ms().saturating_mul(Window::SHORTEST);
        let end = layout.max_tick() + 1;
        // A time before the epoch is treated as the epoch, because ticks start at the epoch.
        let now = layout.tick_at(request.now.max(layout.epoch()))?;
        let latest_start = now.saturating_add(rules::ticks(layout, grant.max_ahead_ms)).min(end);
        let latest_start = latest_start.saturating_sub(Window::SHORTEST);
        let first_fence = grant.start.saturating_add(Window::SHORTEST);
        let longest = rules::ticks(layout, grant.max_window_ms);
        let last_fence = grant.start.saturating_add(longest).min(end);
        for (field, value, min, max) in [
            ("node", grant.node, 0, layout.max_node()),
            ("max_ahead_ms", grant.max_ahead_ms, 0, LONGEST_MS),
            ("max_window_ms", grant.max_window_ms, shortest_ms, LONGEST_MS),
            ("start", grant.start, 0, latest_start),
            ("fence", grant.fence, first_fence, last_fence),
        ] {
            in_range(field, value, min, max)?;
        }
        Ok(grant)
    }

    /// Returns the result of a renewal after checking it against the request.
    ///
    /// # Errors
    /// The same errors as [`to_grant`](Self::to_grant).
    pub fn to_renewed(&self, request: &Renew) -> Result<Renewed, Error> {
        let fence = self.number("fence")?;
        in_range("fence", fence, 0, request.wanted.max(request.confirmed))?;
        let (expires, renewed) = (self.instant("expires")?, self.instant("renewed")?);
        let leaving = self.0["leaving"].as_bool().unwrap_or(false);
        Ok(Renewed { fence, expires, renewed, leaving })
    }

    fn number(&self, field: &'static str) -> Result<u64, Error> {
        let wrong = || Error::invalid_option(field, "is missing or is not an unsigned integer");
        self.0[field].as_u64().ok_or_else(wrong)
    }

    fn instant(&self, field: &'static str) -> Result<i64, Error> {
        checked_instant(field, self.0[field].as_i64())
    }

    fn text(&self, field: &'static str) -> Result<&str, Error> {
        let wrong = || Error::invalid_option(field, "is missing or is not a string");
        self.0[field].as_str().ok_or_else(wrong)
    }
}

/// Checks that the number in a field of a response is at least `min` and at most `max`.
///
/// # Errors
/// [`FieldOutOfRange`](ErrorKind::FieldOutOfRange) with the name of the field, if the number is out of range.
pub fn in_range(field: &'static str, value: u64, min: u64, max: u64) -> Result<(), Error> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(Error::field_out_of_range(field, &value, min, max))
}

/// Returns the time in a field of a response, in Unix milliseconds, after checking its range.
///
/// # Errors
/// [`InvalidOption`](ErrorKind::InvalidOption) with the name of the field, if the time is missing or out of range.
pub fn checked_instant(field: &'static str, value: Option<i64>) -> Result<i64, Error> {
    match value {
        Some(unix_ms) if (-LAST_INSTANT..=LAST_INSTANT).contains(&unix_ms) => Ok(unix_ms),
        _ => Err(Error::invalid_option(field, "is not a Unix timestamp in milliseconds")),
    }
}

/// The failure of a request to a broker.
#[derive(Debug)]
pub struct Failure {
    pub(super) cause: Cause,
    kind: ErrorKind,
    text: String,
    retry_after_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// No broker responded. The request may or may not have arrived.
    NoBroker,
    /// The response came from a different broker than the one that granted the node.
    OtherBroker,
    /// The broker refuses the request or cannot serve it.
    Refused,
    /// Another holder has the node from the old holder's fence onward.
    FencedOff,
    /// The store was restored.
    Restored,
}

impl Failure {
    /// Returns the failure for a request to which no broker responded.
    #[must_use]
    pub const fn no_broker(text: String) -> Self {
        let (kind, retry_after_ms) = (ErrorKind::StoreUnavailable, Some(RETRY_MS));
        Self { cause: Cause::NoBroker, kind, text, retry_after_ms }
    }

    pub(super) const fn rejected(text: String) -> Self {
        let (cause, kind) = (Cause::Refused, ErrorKind::StoreRejected);
        Self { cause, kind, text, retry_after_ms: None }
    }

    /// Whether the failure is a response from the broker that is responsible for the request.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        !matches!(self.cause, Cause::NoBroker | Cause::OtherBroker)
    }

    fn retry_after_ms(&self) -> u64 {
        if self.kind.is_retryable() { self.retry_after_ms.unwrap_or(LONGEST_MS) } else { u64::MAX }
    }

    /// Converts the failure to a fault for the holder.
    #[must_use]
    pub fn into_fault(self) -> Fault {
        let Self { cause, kind, text, retry_after_ms } = self;
        match (cause, kind) {
            (Cause::FencedOff, _) => Refusal::FencedOff.into(),
            (Cause::Restored, _) => {
                Refusal::Restored { retry_after_ms: retry_after_ms.unwrap_or_default() }.into()
            }
            (_, ErrorKind::StoreUnavailable) => Fault::Unavailable(text),
            (_, ErrorKind::StoreRejected) => Fault::Rejected(text),
            _ => Refusal::Relayed { kind, text, retry_after_ms }.into(),
        }
    }

    /// Returns the fault with the earliest retry time, or a permanent fault if all failures are permanent. The
    /// fault's message contains all failures.
    pub(super) fn most_promising(mut failures: Vec<Self>) -> Fault {
        let soonest = failures.iter().map(Self::retry_after_ms).min();
        let is_it = |failure: &Self| Some(failure.retry_after_ms()) == soonest;
        let Some(place) = failures.iter().position(is_it) else {
            return Fault::Unavailable("no broker was asked".into());
        };
        let mut best = failures.remove(place);
        for failure in failures {
            best.text.push_str("; ");
            best.text.push_str(&failure.text);
        }
        best.into_fault()
    }
}

/// Returns the failure for a response that is not from a broker.
#[must_use]
pub fn no_broker(address: &str, error: &dyn Display) -> Failure {
    Failure::no_broker(format!(
        "the response from {address} is not a valid broker response: {error}"
    ))
}

/// Converts a broker's JSON error to a failure. Returns `None` if the error has an unknown form. Of all refusals, only
/// `fenced-off` and `restored` matter to holders.
fn failure_of(error: &Value, address: &str, status: u16) -> Option<Failure> {
    let code = error["code"].as_str()?;
    let retry_after_ms = error["retry_after_ms"].as_u64().map(|ms| ms.min(LONGEST_MS));
    let mut text = format!("{address}: ");
    for sign in error["message"].as_str()?.chars().take(LONGEST_MESSAGE) {
        text.push(if is_invisible(sign) { ' ' } else { sign });
    }
    let known = ErrorKind::ALL.into_iter().find(|kind| kind.code() == code);
    let cause = match error["refusal"].as_str() {
        Some("fenced-off") => Cause::FencedOff,
        Some("restored") => Cause::Restored,
        _ if code == "HTTP_MISDIRECTED" => Cause::OtherBroker,
        _ => Cause::Refused,
    };
    let kind = match known {
        Some(kind) => kind,
        // The cause of the error is temporary, such as a limit or a failure of the broker, so a later request may
        // succeed.
        None if cause == Cause::OtherBroker || retry_after_ms.is_some() || status >= 500 => {
            ErrorKind::StoreUnavailable
        }
        None => ErrorKind::StoreRejected,
    };
    if known.is_none() && !code.starts_with("HTTP_") {
        return Some(no_broker(address, &"its error code is unknown"));
    }
    Some(Failure { cause, kind, text, retry_after_ms })
}
