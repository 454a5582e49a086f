//! Which broker gets which request, and what the answers mean, without input or output: the thread
//! of a process and a browser's `fetch` both follow this. The guide's chapter on the lease rule has
//! the rules as a table.

use std::time::Duration;

use flakeid_core::{Error, Layout};

use super::answer::{AnswerJson, Cause, Failure, HttpAnswer, no_broker};
use super::brokers::{Brokers, Granter};
use super::json::{AcquireJson, ReleaseJson, RenewJson};
use crate::keeper::Demand;
use crate::store::Fault;
use crate::{Grant, Refusal, Renewed};

/// The time limit of a renewal or release. A broker answers those from memory, and a holder needs the
/// rest of its window to get a node elsewhere.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The time limit of an acquire, for which the broker may have to lease another block first.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(2_500);
/// The time limit of an acquire in the first round, while other brokers may answer at once.
const FIRST_ROUND_TIMEOUT: Duration = Duration::from_millis(700);

/// A successful answer.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A node, of this layout.
    Granted(Grant, Layout),
    /// A higher fence.
    Renewed(Renewed),
    /// The node is released.
    Released,
}

impl Reply {
    /// Returns the grant.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if it is the reply to another request, which would be a bug.
    pub fn granted(self) -> Result<Grant, Fault> {
        if let Self::Granted(grant, _) = self { Ok(grant) } else { Err(mixed_up()) }
    }

    /// Returns the higher fence.
    ///
    /// # Errors
    /// As [`granted`](Self::granted).
    pub fn renewed(self) -> Result<Renewed, Fault> {
        if let Self::Renewed(renewed) = self { Ok(renewed) } else { Err(mixed_up()) }
    }
}

/// Returns the fault for a reply of the wrong kind, which the exchange never produces.
fn mixed_up() -> Fault {
    Fault::Rejected("the answer is to another request".into())
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
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpRequest {
    /// `GET`, `POST`, `PATCH` or `DELETE`.
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

impl HttpRequest {
    /// Returns a request that reads a URL.
    #[must_use]
    pub const fn get(url: String, authorization: Option<String>, timeout: Duration) -> Self {
        Self { method: "GET", url, authorization, body: Vec::new(), timeout }
    }
}

/// One demand under way: it goes to one broker after the other until it is settled.
#[derive(Debug)]
pub struct Exchange {
    path: String,
    demand: Demand,
    /// Whether the namespace must have the request's layout. Otherwise the request's layout, window and
    /// TTL are not sent.
    is_of_layout: bool,
    /// The broker that granted the node, for renewals and releases.
    granter: Option<Granter>,
    /// The address that is asked now.
    address: String,
    /// The addresses to ask after it, the next one last.
    further: Vec<String>,
    /// The addresses that gave no answer in the first round of an acquire. `None` in the last round.
    silent: Option<Vec<String>>,
    /// Why the addresses asked so far did not do what was demanded.
    failures: Vec<Failure>,
}

impl Exchange {
    /// Begins an exchange. `None` if there is no broker to ask: there
    /// is no other one, or none has to release the node.
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
            // Without a granter after a panic of the driver: one of the brokers may know the node.
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
        let has_rounds = matches!(demand, Demand::Acquire { .. }) && !further.is_empty();
        let silent = has_rounds.then(Vec::new);
        let failures = Vec::new();
        Some(Self { path, demand, is_of_layout, granter, address, further, silent, failures })
    }

    /// The demand, once it is settled.
    #[must_use]
    pub fn into_demand(self) -> Demand {
        self.demand
    }

    /// The request to send now; `waited` is the time since the clock in it was read.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if it cannot be written, which would be a bug.
    pub fn request(&self, brokers: &Brokers, waited: Duration) -> Result<HttpRequest, Fault> {
        let waited = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        let (method, body, timeout) = match &self.demand {
            Demand::Acquire { request, .. } => {
                let mut body = AcquireJson::new(request, request.waited_ms.saturating_add(waited));
                if !self.is_of_layout {
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
    pub fn answered(
        &mut self,
        brokers: &mut Brokers,
        answer: Result<HttpAnswer, String>,
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
                // Another broker has the address that was the granter's own.
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
        let mut answer = AnswerJson::read(address, answer)?;
        let wrong = |error: Error| no_broker(address, &error);
        match &self.demand {
            Demand::Acquire { request, .. } => {
                let (layout, broker) = answer.layout_and_broker().map_err(wrong)?;
                if self.is_of_layout && !request.layout.is_same_space(&layout) {
                    let text = format!("{address} grants nodes of the layout {layout}");
                    return Err(Failure::rejected(text));
                }
                let grant = answer.to_grant(request, &layout).map_err(wrong)?;
                brokers.note_grant(grant.node, broker, address);
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
