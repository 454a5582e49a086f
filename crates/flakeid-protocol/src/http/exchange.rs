//! Chooses the broker for each request and interprets the broker's responses, but performs no input or output. Native
//! threads and a browser's `fetch` share this code. The guide's chapter "The lease rule" contains a table of all
//! possible outcomes of a request and their effects.

use std::fmt;
use std::time::Duration;

use flakeid_core::{Error, Layout};

use super::answer::{AnswerJson, Cause, Failure, HttpAnswer, no_broker};
use super::brokers::{Brokers, Granter};
use super::json::{AcquireJson, ReleaseJson, RenewJson};
use crate::keeper::Demand;
use crate::store::Fault;
use crate::{Grant, Refusal, Renewed};

/// The time limit for a renewal or a release. The limit is short, because brokers respond from memory and a failed
/// renewal must leave time to get a node from another broker.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The time limit for an acquire request. The broker may have to lease another block before it can respond.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(2_500);
/// The time limit for an acquire request in the first round, and for a request for a replacement node. The limit is
/// short, because another broker or the granter of the held node may respond immediately.
const FIRST_ROUND_TIMEOUT: Duration = Duration::from_millis(700);

/// The result of a successful request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The granted node, and the layout of the node's IDs.
    Granted(Grant, Layout),
    /// The fence was raised.
    Renewed(Renewed),
    /// The node was released.
    Released,
}

impl Reply {
    /// Returns the grant.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if the reply belongs to another kind of request, which would be a bug.
    pub fn granted(self) -> Result<Grant, Fault> {
        if let Self::Granted(grant, _) = self { Ok(grant) } else { Err(mixed_up()) }
    }

    /// Returns the result of the renewal.
    ///
    /// # Errors
    /// The same errors as [`granted`](Self::granted).
    pub fn renewed(self) -> Result<Renewed, Fault> {
        if let Self::Renewed(renewed) = self { Ok(renewed) } else { Err(mixed_up()) }
    }
}

/// Returns the fault for a reply of the wrong kind. The exchange never produces such a reply.
fn mixed_up() -> Fault {
    Fault::Rejected("the response belongs to another request".into())
}

/// A request to send.
///
/// ```
/// use std::time::Duration;
///
/// use flakeid_protocol::http::HttpRequest;
///
/// let url = "http://ids-1:7117/v1/default/leases".to_owned();
/// let request = HttpRequest::get(url, None, Duration::from_secs(1));
/// assert!(request.method == "GET" && request.body.is_empty());
/// ```
///
/// `Debug` omits the authorization and the body, which contain tokens.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The HTTP method: `GET`, `POST`, `PATCH` or `DELETE`.
    pub method: &'static str,
    /// The URL.
    pub url: String,
    /// The value of the `Authorization` header.
    pub authorization: Option<String>,
    /// The body, which is JSON.
    pub body: Vec<u8>,
    /// The time limit for the complete response.
    pub timeout: Duration,
}

impl HttpRequest {
    /// Returns a `GET` request for a URL.
    #[must_use]
    pub const fn get(url: String, authorization: Option<String>, timeout: Duration) -> Self {
        Self { method: "GET", url, authorization, body: Vec::new(), timeout }
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &self.url)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// A request in progress, which is sent to one broker after another until a broker gives a final response.
#[derive(Debug)]
pub struct Exchange {
    path: String,
    demand: Demand,
    /// Whether the namespace must have the request's layout. If false, the request's layout, window and TTL are not
    /// sent.
    is_of_layout: bool,
    /// The broker that granted the node; set only for renewals and releases.
    granter: Option<Granter>,
    /// The address to which the current request is sent.
    address: String,
    /// The addresses that are still to be tried, in reverse order: the last address is tried next.
    further: Vec<String>,
    /// The addresses that did not respond in the first round of an acquire request; `None` in the last round.
    silent: Option<Vec<String>>,
    /// The failures of the request so far.
    failures: Vec<Failure>,
}

impl Exchange {
    /// Begins an exchange. Returns `None` if no broker is suitable. A request for a replacement node requires a broker
    /// other than the granter, and a release requires the granter.
    pub fn new(
        brokers: &Brokers,
        namespace: &str,
        demand: Demand,
        is_of_layout: bool,
    ) -> Option<Self> {
        let node = match &demand {
            Demand::Acquire { .. } => None,
            Demand::Renew(request) => Some(request.node),
            Demand::Release(request) => Some(request.node),
        };
        let granter = node.and_then(|node| brokers.granter(node)).cloned();
        let mut further: Vec<String> = match (&demand, &granter) {
            (Demand::Acquire { instead_of: Some(held), .. }, _) => {
                brokers.order_without_granter(*held)
            }
            // If the driver has panicked, the granter of a node may be unknown, so a renewal tries every broker.
            (Demand::Acquire { instead_of: None, .. }, _) | (Demand::Renew(_), None) => {
                brokers.order()
            }
            (_, Some(granter)) => granter.addresses.clone(),
            (Demand::Release(_), None) => Vec::new(),
        };
        further.reverse();
        let address = further.pop()?;
        let path = match node {
            None => format!("/v1/{namespace}/leases"),
            Some(node) => format!("/v1/{namespace}/leases/{node}"),
        };
        // A request for a replacement has only one round, because the granter of the held node may respond again.
        let is_first = matches!(demand, Demand::Acquire { instead_of: None, .. });
        let has_rounds = is_first && !further.is_empty();
        let silent = has_rounds.then(Vec::new);
        let failures = Vec::new();
        Some(Self { path, demand, is_of_layout, granter, address, further, silent, failures })
    }

    /// Returns the demand for which the exchange was created.
    #[must_use]
    pub fn into_demand(self) -> Demand {
        self.demand
    }

    /// Returns the HTTP request to send now. `waited` is the time since the client's clock was read.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if the request cannot be serialized, which would be a bug.
    pub fn request(&self, brokers: &Brokers, waited: Duration) -> Result<HttpRequest, Fault> {
        let waited = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        let (method, body, timeout) = match &self.demand {
            Demand::Acquire { request, instead_of } => {
                let mut body = AcquireJson::new(request, request.waited_ms.saturating_add(waited));
                if !self.is_of_layout {
                    (body.layout, body.window_ms, body.ttl_ms) = (None, None, None);
                }
                let is_short = self.silent.is_some() || instead_of.is_some();
                let timeout = if is_short { FIRST_ROUND_TIMEOUT } else { ACQUIRE_TIMEOUT };
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
        let body = body.map_err(|error| {
            Fault::Rejected(format!("the request to {address} cannot be serialized: {error}"))
        })?;
        let (url, authorization) =
            (format!("{address}{}", self.path), brokers.authorization().map(str::to_owned));
        Ok(HttpRequest { method, url, authorization, body, timeout })
    }

    /// Processes the response to the request, or the reason why no response arrived. Returns `None` if another request
    /// must be sent.
    pub fn answered(
        &mut self,
        brokers: &mut Brokers,
        answer: Result<HttpAnswer, String>,
    ) -> Option<Result<Reply, Fault>> {
        if let Demand::Release(request) = &self.demand {
            // A release is sent only once, because the node expires even without a release.
            brokers.forget(request.node);
        }
        let is_silent = answer.is_err();
        let failure = match answer {
            Ok(answer) => match self.read(brokers, &answer) {
                Ok(reply) => return Some(Ok(reply)),
                Err(failure) => failure,
            },
            Err(reason) => Failure::no_broker(format!("{}: {reason}", self.address)),
        };
        match &self.demand {
            Demand::Acquire { .. } => {
                brokers.avoid(&self.address);
                match self.silent.as_mut().filter(|_| is_silent) {
                    Some(silent) => silent.push(self.address.clone()),
                    None => self.failures.push(failure),
                }
            }
            Demand::Renew(request) => {
                // If another broker responds at the granter's own address, the granter is gone.
                let is_gone = failure.cause == Cause::OtherBroker && self.is_at_granter();
                if is_gone || failure.cause == Cause::FencedOff {
                    brokers.forget(request.node);
                    return Some(Err(Refusal::FencedOff.into()));
                }
                if failure.is_answer() {
                    return Some(Err(failure.into_fault()));
                }
                self.failures.push(failure);
            }
            Demand::Release(_) => return Some(Err(failure.into_fault())),
        }
        if self.further.is_empty() {
            self.further = self.silent.take().unwrap_or_default();
            self.further.reverse();
        }
        match self.further.pop() {
            Some(address) => {
                self.address = address;
                None
            }
            None => Some(Err(Failure::most_promising(std::mem::take(&mut self.failures)))),
        }
    }

    fn is_at_granter(&self) -> bool {
        self.granter.as_ref().is_some_and(|granter| granter.is_own(&self.address))
    }

    fn read(&self, brokers: &mut Brokers, answer: &HttpAnswer) -> Result<Reply, Failure> {
        let address = &self.address;
        let answer = AnswerJson::read(address, answer)?;
        let wrong = |error: Error| no_broker(address, &error);
        match &self.demand {
            Demand::Acquire { request, instead_of } => {
                let (layout, broker) = answer.layout_and_broker().map_err(wrong)?;
                if self.is_of_layout && !request.layout.is_same_space(&layout) {
                    let text = format!(
                        "{address} grants nodes of the layout {layout}, not of the requested layout {}",
                        request.layout
                    );
                    return Err(Failure::rejected(text));
                }
                let grant = answer.to_grant(request, &layout).map_err(wrong)?;
                brokers.note_grant(grant.node, broker, address);
                if instead_of.is_some() {
                    // If the holder soon requests a replacement again, this grant was too short to be used. Another
                    // broker may then grant a longer window.
                    brokers.avoid(address);
                }
                Ok(Reply::Granted(grant, layout))
            }
            Demand::Renew(request) => {
                let renewed = answer.to_renewed(request).map_err(wrong)?;
                brokers.prefer(request.node, address);
                Ok(Reply::Renewed(renewed))
            }
            Demand::Release(_) => Ok(Reply::Released),
        }
    }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests;
