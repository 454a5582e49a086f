//! Reads the responses of brokers, and checks every number before it is used.

use std::fmt::Display;

use flakeid_core::{Error, ErrorKind, Layout, Window};
use serde::Deserialize;

use super::json::token;
use crate::store::{Fault, RETRY};
use crate::{Acquire, Grant, Refusal, Renew, Renewed, rules};

/// The longest shown message of a broker, in characters.
const LONGEST_MESSAGE: usize = 1_000;
/// A day: the longest of all bounds of a namespace, and of the times after which to try again.
const LONGEST_MS: u64 = 86_400_000;
const RETRY_MS: u64 = RETRY.as_millis() as u64;
/// The last instant that a broker's clock can read, in Unix milliseconds: JSON has no larger numbers.
const LAST_INSTANT: i64 = (1 << 53) - 1;

/// The response to a request.
///
/// ```
/// use flakeid_protocol::http::HttpAnswer;
///
/// let answer = HttpAnswer::new(204, Vec::new());
/// assert_eq!(answer.status, 204);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// The body: JSON.
    pub body: Vec<u8>,
}

impl HttpAnswer {
    /// Returns the response with this status and body.
    #[must_use]
    pub const fn new(status: u16, body: Vec<u8>) -> Self {
        Self { status, body }
    }
}

/// The fields of all responses about leases. One type parses all of them, because the code that parses a type takes the most
/// room in a WebAssembly module.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct AnswerJson {
    node: Option<u64>,
    start: Option<u64>,
    fence: Option<u64>,
    token: Option<String>,
    max_ahead_ms: Option<u64>,
    max_window_ms: Option<u64>,
    expires: Option<i64>,
    renewed: Option<i64>,
    broker: Option<String>,
    layout: Option<String>,
    error: Option<ErrorDetail>,
}

/// An error as a broker sends it.
#[derive(Debug, Deserialize)]
struct ErrorDetail {
    code: String,
    message: String,
    #[serde(default)]
    retry_after_ms: Option<u64>,
    /// The kind of refusal that matters to holders: `fenced-off` or `restored`.
    #[serde(default)]
    refusal: Option<String>,
}

impl AnswerJson {
    /// Parses the response of the broker at an address.
    ///
    /// # Errors
    /// The [`Failure`] that the response reports or represents.
    pub fn read(address: &str, answer: &HttpAnswer) -> Result<Self, Failure> {
        let HttpAnswer { status, body } = answer;
        let is_success = (200..300).contains(status);
        // Only a release has an empty response.
        if is_success && body.is_empty() {
            return Ok(Self::default());
        }
        let read = serde_json::from_slice::<Self>(body);
        match (is_success, read) {
            (true, Ok(read)) => Ok(read),
            (true, Err(error)) => Err(no_broker(address, &error)),
            (false, Ok(Self { error: Some(error), .. })) => {
                Err(error.into_failure(address, *status))
            }
            (false, _) => {
                let what = format_args!("it has the status {status} and no error of flakeid");
                Err(no_broker(address, &what))
            }
        }
    }

    /// Takes the layout of the granted node, and the name of the broker.
    ///
    /// # Errors
    /// [`InvalidLayout`](ErrorKind::InvalidLayout); [`InvalidOption`](ErrorKind::InvalidOption) if a
    /// field is missing.
    pub fn layout_and_broker(&mut self) -> Result<(Layout, String), Error> {
        let layout = required("layout", self.layout.take())?.parse()?;
        Ok((layout, required("broker", self.broker.take())?))
    }

    /// Returns the grant after checking it against the request and the layout.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](ErrorKind::FieldOutOfRange) if a number is impossible;
    /// [`InvalidOption`](ErrorKind::InvalidOption) if a field is missing, or if the token is not the
    /// request's.
    pub fn to_grant(&self, request: &Acquire, layout: &Layout) -> Result<Grant, Error> {
        let token_text = self.token.as_deref().unwrap_or_default();
        let grant = Grant {
            node: required("node", self.node)?,
            start: required("start", self.start)?,
            fence: required("fence", self.fence)?,
            token: token("token", token_text)?,
            max_ahead_ms: required("max_ahead_ms", self.max_ahead_ms)?,
            max_window_ms: required("max_window_ms", self.max_window_ms)?,
            expires: checked_instant("expires", self.expires)?,
        };
        if grant.token != request.token {
            return Err(Error::invalid_option("token", "is not that of the request"));
        }
        let shortest_ms = layout.unit_ms().saturating_mul(Window::SHORTEST);
        let end = layout.max_tick() + 1;
        // The clock may be before the epoch.
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
    /// As [`to_grant`](Self::to_grant).
    pub fn to_renewed(&self, request: &Renew) -> Result<Renewed, Error> {
        let fence = required("fence", self.fence)?;
        in_range("fence", fence, 0, request.wanted.max(request.confirmed))?;
        let expires = checked_instant("expires", self.expires)?;
        let renewed = checked_instant("renewed", self.renewed)?;
        Ok(Renewed { fence, expires, renewed })
    }
}

fn required<T>(field: &'static str, value: Option<T>) -> Result<T, Error> {
    value.ok_or_else(|| Error::invalid_option(field, "is missing"))
}

/// Checks a number of a response.
///
/// # Errors
/// [`FieldOutOfRange`](ErrorKind::FieldOutOfRange) naming the field.
pub fn in_range(field: &'static str, value: u64, min: u64, max: u64) -> Result<(), Error> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(Error::field_out_of_range(field, &value, min, max))
}

/// Returns an instant in Unix milliseconds after checking that a broker's clock can read it.
///
/// # Errors
/// [`InvalidOption`](ErrorKind::InvalidOption) naming the field.
pub fn checked_instant(field: &'static str, value: Option<i64>) -> Result<i64, Error> {
    match value {
        Some(unix_ms) if (-LAST_INSTANT..=LAST_INSTANT).contains(&unix_ms) => Ok(unix_ms),
        _ => Err(Error::invalid_option(field, "is not an instant in Unix milliseconds")),
    }
}

/// The failure of a demand at a broker.
#[derive(Debug)]
pub struct Failure {
    pub(super) cause: Cause,
    kind: ErrorKind,
    text: String,
    retry_after_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// There is no response of a broker; it is unknown whether the request arrived.
    NoBroker,
    /// The broker that responded is not the one that granted the node.
    OtherBroker,
    /// The broker refuses or cannot serve the request.
    Refused,
    /// Another holder has the node above the fence.
    FencedOff,
    /// The store was restored.
    Restored,
}

impl Failure {
    /// Returns the failure of a request without a response of a broker.
    #[must_use]
    pub const fn no_broker(text: String) -> Self {
        let (kind, retry_after_ms) = (ErrorKind::StoreUnavailable, Some(RETRY_MS));
        Self { cause: Cause::NoBroker, kind, text, retry_after_ms }
    }

    pub(super) const fn rejected(text: String) -> Self {
        let (cause, kind) = (Cause::Refused, ErrorKind::StoreRejected);
        Self { cause, kind, text, retry_after_ms: None }
    }

    /// Whether the intended broker has responded.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        !matches!(self.cause, Cause::NoBroker | Cause::OtherBroker)
    }

    fn retry_after_ms(&self) -> u64 {
        if self.kind.is_retryable() { self.retry_after_ms.unwrap_or(LONGEST_MS) } else { u64::MAX }
    }

    /// Returns the fault that the holder sees.
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

    /// Returns the fault with the earliest retry time; permanent failures come last. The message also contains the other failures.
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

/// Returns the failure of a request to which something other than a broker responded.
#[must_use]
pub fn no_broker(address: &str, error: &dyn Display) -> Failure {
    Failure::no_broker(format!("{address}: this is not the answer of a broker: {error}"))
}

impl ErrorDetail {
    fn into_failure(self, address: &str, status: u16) -> Failure {
        let Self { code, message, retry_after_ms, refusal } = self;
        let retry_after_ms = retry_after_ms.map(|ms| ms.min(LONGEST_MS));
        let mut text = format!("{address}: ");
        for sign in message.chars().take(LONGEST_MESSAGE) {
            text.push(if sign.is_control() { ' ' } else { sign });
        }
        let known = ErrorKind::ALL.into_iter().find(|kind| kind.code() == code);
        let cause = match refusal.as_deref() {
            Some("fenced-off") => Cause::FencedOff,
            Some("restored") => Cause::Restored,
            _ if code == "HTTP_MISDIRECTED" => Cause::OtherBroker,
            _ => Cause::Refused,
        };
        let kind = match known {
            Some(kind) => kind,
            // The broker's limits or its own failure are the reason, and not the request.
            None if cause == Cause::OtherBroker || retry_after_ms.is_some() || status >= 500 => {
                ErrorKind::StoreUnavailable
            }
            None => ErrorKind::StoreRejected,
        };
        if known.is_none() && !code.starts_with("HTTP_") {
            return no_broker(address, &"it has an unknown code");
        }
        Failure { cause, kind, text, retry_after_ms }
    }
}
