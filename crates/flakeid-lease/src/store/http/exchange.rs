//! Which broker gets which request, and what the answers mean, without input or output: the thread
//! of a process and a browser's `fetch` both follow this. The guide's chapter on the lease rule has
//! the rules as a table.

use std::collections::VecDeque;
use std::time::Duration;

use flakeid_core::{ErrorKind, Layout};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::brokers::{Brokers, Granter};
use super::json::{AcquireJson, GrantJson, ReleaseJson, RenewJson, RenewedJson};
use crate::protocol::{Acquire, Grant, Refusal, Release, Renew, Renewed};
use crate::store::{Fault, RETRY};

/// The time limit of a renewal or release. A broker answers those from memory, and a holder needs the
/// rest of its window to get a node elsewhere.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The time limit of an acquire, for which the broker may have to lease another block first.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(2_500);
/// The time limit of an acquire in the first round, while other brokers may answer at once.
const FIRST_ROUND_TIMEOUT: Duration = Duration::from_millis(700);
/// The longest message of a broker that is shown, in characters.
const LONGEST_MESSAGE: usize = 1_000;
/// The longest time after which a broker may tell a client to try again.
const LONGEST_RETRY_MS: u64 = 86_400_000;

/// What a holder requests.
#[derive(Clone, Debug)]
pub(crate) enum Demand {
    /// A node.
    Acquire {
        /// The request; its layout, window and TTL are not sent unless the layout is known.
        request: Acquire,
        /// Whether the node has to be of the request's layout; otherwise it is of the namespace's.
        is_of_layout: bool,
        /// The node that the holder has and whose granter is not asked.
        instead_of: Option<u64>,
    },
    /// A higher fence.
    Renew(Renew),
    /// To take a node back.
    Release(Release),
}

/// A successful answer.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// A node, of this layout.
    Granted(Grant, Layout),
    /// A higher fence.
    Renewed(Renewed),
    /// The node is released.
    Released,
}

/// A request to send.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// `POST`, `PATCH` or `DELETE`.
    pub method: &'static str,
    /// The URL.
    pub url: String,
    /// The value of the header `Authorization`.
    pub authorization: Option<String>,
    /// The body: JSON.
    pub body: Vec<u8>,
    /// The time limit for the whole answer.
    pub timeout: Duration,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// The body: JSON.
    pub body: Vec<u8>,
}

/// One demand under way: it goes to one broker after the other until it is settled.
#[derive(Debug)]
pub(crate) struct Exchange {
    path: String,
    demand: Demand,
    /// The broker that granted the node, for renewals and releases.
    granter: Option<Granter>,
    /// The address that is asked now.
    address: String,
    /// The addresses to ask after it.
    further: VecDeque<String>,
    /// The addresses that gave no answer in the first round of an acquire. `None` in the last round.
    silent: Option<Vec<String>>,
    /// Why the addresses asked so far did not do what was demanded.
    faults: Vec<Fault>,
}

impl Exchange {
    /// Begins an exchange at `now`, a time as in [`Brokers`]. `None` if there is no broker to ask: there
    /// is no other one, or none has to release the node.
    pub(crate) fn new(
        brokers: &Brokers,
        namespace: &str,
        demand: Demand,
        now: Duration,
    ) -> Option<Self> {
        let node = match &demand {
            Demand::Acquire { .. } => None,
            Demand::Renew(request) => Some(request.node),
            Demand::Release(request) => Some(request.node),
        };
        let granter = node.and_then(|node| brokers.granter(node));
        let mut further: VecDeque<String> = match (&demand, &granter) {
            (Demand::Acquire { instead_of: Some(held), .. }, _) => {
                brokers.order_without_granter(*held, now).into()
            }
            // Without a granter after a panic of the driver: one of the brokers may know the node.
            (Demand::Acquire { instead_of: None, .. }, _) | (Demand::Renew(_), None) => {
                brokers.order(now).into()
            }
            (Demand::Renew(_), Some(granter)) => granter.addresses.clone().into(),
            (Demand::Release(_), Some(granter)) => {
                granter.addresses.iter().take(1).cloned().collect()
            }
            (Demand::Release(_), None) => VecDeque::new(),
        };
        let address = further.pop_front()?;
        let path = match node {
            None => format!("/v1/{namespace}/leases"),
            Some(node) => format!("/v1/{namespace}/leases/{node}"),
        };
        let has_rounds = matches!(demand, Demand::Acquire { .. }) && !further.is_empty();
        let silent = has_rounds.then(Vec::new);
        Some(Self { path, demand, granter, address, further, silent, faults: Vec::new() })
    }

    /// The demand.
    pub(crate) const fn demand(&self) -> &Demand {
        &self.demand
    }

    /// The request to send now; `waited` is the time since the clock in it was read.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if it cannot be written, which would be a bug.
    pub(crate) fn request(
        &self,
        brokers: &Brokers,
        waited: Duration,
    ) -> Result<HttpRequest, Fault> {
        let waited = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        let (method, body, timeout) = match &self.demand {
            Demand::Acquire { request, is_of_layout, .. } => {
                let mut body = AcquireJson::new(request, request.waited_ms.saturating_add(waited));
                if !is_of_layout {
                    (body.layout, body.window_ms, body.ttl_ms) = (None, None, None);
                }
                let timeout =
                    if self.silent.is_some() { FIRST_ROUND_TIMEOUT } else { ACQUIRE_TIMEOUT };
                ("POST", serde_json::to_vec(&body), timeout)
            }
            Demand::Renew(request) => {
                let waited = request.waited_ms.saturating_add(waited);
                let name = self.granter.as_ref().map_or("", |granter| granter.name.as_str());
                ("PATCH", serde_json::to_vec(&RenewJson::new(request, waited, name)), TIMEOUT)
            }
            Demand::Release(request) => {
                let (token, used_until) = (request.token.to_text(), request.used_until);
                ("DELETE", serde_json::to_vec(&ReleaseJson { token, used_until }), TIMEOUT)
            }
        };
        let address = &self.address;
        let body =
            body.map_err(|error| Fault::Rejected(format!("{address}: no request: {error}")))?;
        let (url, authorization) =
            (format!("{address}{}", self.path), brokers.authorization().map(str::to_owned));
        Ok(HttpRequest { method, url, authorization, body, timeout })
    }

    /// Takes the answer to the request, or the reason why there is none. `None` if another request is to
    /// be sent now.
    pub(crate) fn answered(
        &mut self,
        brokers: &mut Brokers,
        answer: Result<HttpAnswer, String>,
        now: Duration,
    ) -> Option<Result<Reply, Fault>> {
        if let Demand::Release(request) = &self.demand {
            // One request is all that a release gets: without it, the node expires.
            brokers.forget(request.node);
        }
        let is_silent = answer.is_err();
        let failure = match answer {
            Ok(answer) => match self.read(brokers, &answer) {
                Ok(reply) => return Some(Ok(reply)),
                Err(failure) => failure,
            },
            Err(reason) => Failure::NoBroker(format!("{}: {reason}", self.address)),
        };
        match &self.demand {
            Demand::Acquire { .. } => {
                brokers.avoid(&self.address, now);
                if let Some(silent) = self.silent.as_mut().filter(|_| is_silent) {
                    silent.push(self.address.clone());
                }
                self.note(failure.into_fault());
            }
            Demand::Renew(request) => match failure {
                Failure::Answer(fault) => {
                    if fault == Fault::Refused(Refusal::FencedOff) {
                        brokers.forget(request.node);
                    }
                    return Some(Err(fault));
                }
                // Another broker has the address that was the granter's own.
                Failure::OtherBroker(_) if self.is_at_granter() => {
                    brokers.forget(request.node);
                    return Some(Err(Refusal::FencedOff.into()));
                }
                failure => self.note(failure.into_fault()),
            },
            Demand::Release(_) => return Some(Err(failure.into_fault())),
        }
        if self.further.is_empty() {
            self.further = self.silent.take().unwrap_or_default().into();
        }
        match self.further.pop_front() {
            Some(address) => {
                self.address = address;
                None
            }
            None => Some(Err(most_promising(std::mem::take(&mut self.faults)))),
        }
    }

    fn is_at_granter(&self) -> bool {
        self.granter.as_ref().is_some_and(|granter| granter.is_own(&self.address))
    }

    fn note(&mut self, fault: Fault) {
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    fn read(&self, brokers: &mut Brokers, answer: &HttpAnswer) -> Result<Reply, Failure> {
        let address = &self.address;
        match &self.demand {
            Demand::Acquire { request, is_of_layout, .. } => {
                let granted: GrantJson = read_answer(address, answer)?;
                let layout: Layout =
                    granted.layout.parse().map_err(|error| no_broker(address, &error))?;
                if *is_of_layout && !request.layout.is_same_space(&layout) {
                    let text = format!("{address} grants nodes of the layout {layout}");
                    return Err(Failure::Answer(Fault::Rejected(text)));
                }
                let grant = granted
                    .to_grant(request, &layout)
                    .map_err(|error| no_broker(address, &error))?;
                brokers.note_grant(grant.node, granted.broker, address);
                Ok(Reply::Granted(grant, layout))
            }
            Demand::Renew(request) => {
                let renewed = read_answer::<RenewedJson>(address, answer)?
                    .to_renewed(request)
                    .map_err(|error| no_broker(address, &error))?;
                brokers.prefer(request.node, address);
                Ok(Reply::Renewed(renewed))
            }
            Demand::Release(_) => read_answer::<()>(address, answer).map(|()| Reply::Released),
        }
    }
}

/// The fault that promises the earliest success; those that another attempt cannot change come last. The
/// message has the others, too.
fn most_promising(mut faults: Vec<Fault>) -> Fault {
    let retry_after_ms = |fault: &Fault| match fault {
        Fault::Unavailable(_) | Fault::Conflict => RETRY.as_millis() as u64,
        Fault::Refused(Refusal::Restored { retry_after_ms }) => *retry_after_ms,
        Fault::Refused(Refusal::Relayed { kind, retry_after_ms, .. }) if kind.is_retryable() => {
            retry_after_ms.unwrap_or(LONGEST_RETRY_MS)
        }
        Fault::Refused(_) | Fault::Rejected(_) => u64::MAX,
    };
    faults.sort_by_key(retry_after_ms);
    let mut others = String::new();
    for fault in faults.iter().skip(1) {
        others.push_str("; ");
        others.push_str(&message_of(fault));
    }
    match faults.into_iter().next() {
        Some(Fault::Unavailable(text)) => Fault::Unavailable(text + &others),
        Some(Fault::Rejected(text)) => Fault::Rejected(text + &others),
        Some(Fault::Refused(Refusal::Relayed { kind, text, retry_after_ms })) => {
            Refusal::Relayed { kind, text: text + &others, retry_after_ms }.into()
        }
        Some(fault) => fault,
        None => Fault::Unavailable("no broker was asked".into()),
    }
}

fn message_of(fault: &Fault) -> String {
    match fault {
        Fault::Refused(Refusal::Relayed { text, .. }) => text.clone(),
        Fault::Refused(Refusal::Restored { .. }) => "another broker's store was restored".into(),
        fault => fault.to_string(),
    }
}

/// Why a broker did not do what was demanded.
pub(super) enum Failure {
    /// There is no answer of a broker: whether the request arrived is unknown.
    NoBroker(String),
    /// The broker that answered is not the one that granted the node.
    OtherBroker(String),
    /// The broker answered.
    Answer(Fault),
}

impl Failure {
    pub(super) fn into_fault(self) -> Fault {
        match self {
            Self::NoBroker(text) | Self::OtherBroker(text) => Fault::Unavailable(text),
            Self::Answer(fault) => fault,
        }
    }
}

fn no_broker(address: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::NoBroker(format!("{address}: this is not the answer of a broker: {error}"))
}

/// Reads the answer of a broker.
pub(super) fn read_answer<T: DeserializeOwned>(
    address: &str,
    answer: &HttpAnswer,
) -> Result<T, Failure> {
    let HttpAnswer { status, body } = answer;
    if (200..300).contains(status) {
        let body = if body.is_empty() { b"null" } else { body.as_slice() };
        return serde_json::from_slice(body).map_err(|error| no_broker(address, &error));
    }
    let error = serde_json::from_slice::<ErrorJson>(body).map_err(|_| {
        no_broker(address, &format_args!("it has the status {status} and no error of flakeid"))
    })?;
    Err(error.error.into_failure(address, *status))
}

/// An error as the server sends it.
#[derive(Deserialize)]
struct ErrorJson {
    error: ErrorDetail,
}

#[derive(Deserialize)]
struct ErrorDetail {
    code: String,
    message: String,
    #[serde(default)]
    retry_after_ms: Option<u64>,
    /// What only holders need to know: `fenced-off` or `restored`.
    #[serde(default)]
    refusal: Option<String>,
}

impl ErrorDetail {
    fn into_failure(self, address: &str, status: u16) -> Failure {
        let Self { code, message, retry_after_ms, refusal } = self;
        let retry_after_ms = retry_after_ms.map(|ms| ms.min(LONGEST_RETRY_MS));
        let shown = message.chars().map(|sign| if sign.is_control() { ' ' } else { sign });
        let text = format!("{address}: {}", shown.take(LONGEST_MESSAGE).collect::<String>());
        let kind = ErrorKind::ALL.into_iter().find(|kind| kind.code() == code);
        Failure::Answer(match (refusal.as_deref(), kind) {
            (Some("fenced-off"), _) => Refusal::FencedOff.into(),
            (Some("restored"), _) => {
                Refusal::Restored { retry_after_ms: retry_after_ms.unwrap_or_default() }.into()
            }
            (_, Some(ErrorKind::StoreUnavailable)) => Fault::Unavailable(text),
            (_, Some(ErrorKind::StoreRejected)) => Fault::Rejected(text),
            (_, Some(kind)) => Refusal::Relayed { kind, text, retry_after_ms }.into(),
            (_, None) if code == "HTTP_MISDIRECTED" => return Failure::OtherBroker(text),
            (_, None) if code.starts_with("HTTP_") => {
                // The limits of a broker, or its own failure: not those of the request.
                let may_pass = retry_after_ms.is_some() || status >= 500;
                if may_pass { Fault::Unavailable(text) } else { Fault::Rejected(text) }
            }
            (_, None) => {
                let what = format_args!("it has the status {status} and an unknown code");
                return no_broker(address, &what);
            }
        })
    }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests;
