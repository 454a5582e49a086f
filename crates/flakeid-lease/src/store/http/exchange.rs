//! What is asked of which broker, and what the answers mean, without input or output: whoever sends the
//! requests, a thread or a browser, keeps to this.

use std::time::Duration;

use flakeid_core::{ErrorKind, Layout};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::brokers::{Brokers, Granter};
use super::json::{AcquireJson, GrantJson, ReleaseJson, RenewJson, RenewedJson};
use crate::protocol::{Acquire, Grant, Refusal, Release, Renew, Renewed};
use crate::store::Fault;

/// How long a renewal may take: a broker answers from memory, and a holder that asks in vain needs the
/// rest of its window to ask another one.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long an acquire may take, for which the broker may have to lease another block first.
const ACQUIRE_PATIENCE: Duration = Duration::from_millis(2_500);

/// What a holder asks.
#[derive(Clone, Debug)]
pub(crate) enum Demand {
    /// A node.
    Acquire {
        /// The request; its layout, window and TTL are not sent unless the layout is known.
        request: Acquire,
        /// Whether it is for a layout; otherwise for that of the namespace, whatever it is.
        is_of_layout: bool,
    },
    /// A higher fence.
    Renew(Renew),
    /// To take a node back.
    Release(Release),
}

/// What it gets.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// A node, of this layout.
    Granted(Grant, Layout),
    /// A higher fence.
    Renewed(Renewed),
    /// The node is given back.
    Released,
}

/// A request to send.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// `POST`, `PATCH` or `DELETE`.
    pub method: &'static str,
    /// Where to.
    pub url: String,
    /// What goes into the header `Authorization`.
    pub authorization: Option<String>,
    /// The body: JSON.
    pub body: Vec<u8>,
    /// How long to wait for all of the answer.
    pub patience: Duration,
}

/// What was answered to it.
#[derive(Clone, Debug)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// The body: JSON.
    pub body: Vec<u8>,
}

/// One demand on its way: to the broker that granted the node, or to one after the other.
#[derive(Debug)]
pub(crate) struct Exchange {
    path: String,
    demand: Demand,
    /// Who granted the node, if it is known.
    granter: Option<Granter>,
    /// Whether that one is asked now, and no other.
    is_at_granter: bool,
    /// How many of the brokers of the URL were asked in vain.
    asked: usize,
    /// Why they were, and the granter.
    reasons: Vec<String>,
}

impl Exchange {
    /// `None` if there is nobody to ask: a node that no known broker granted need not be given back.
    pub(crate) fn new(brokers: &Brokers, namespace: &str, demand: Demand) -> Option<Self> {
        let node = match &demand {
            Demand::Acquire { .. } => None,
            Demand::Renew(request) => Some(request.node),
            Demand::Release(request) => Some(request.node),
        };
        let granter = node.and_then(|node| brokers.granter(node));
        if granter.is_none() && matches!(demand, Demand::Release(_)) {
            return None;
        }
        let path = match node {
            None => format!("/v1/{namespace}/leases"),
            Some(node) => format!("/v1/{namespace}/leases/{node}"),
        };
        let is_at_granter = granter.is_some();
        Some(Self { path, demand, granter, is_at_granter, asked: 0, reasons: Vec::new() })
    }

    /// What is asked.
    pub(crate) const fn demand(&self) -> &Demand {
        &self.demand
    }

    /// What to send now, so long after the clock was read.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if it cannot be written, which would be a bug.
    pub(crate) fn request(
        &self,
        brokers: &Brokers,
        waited: Duration,
    ) -> Result<HttpRequest, Fault> {
        let waited = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        let (method, body, patience) = match &self.demand {
            Demand::Acquire { request, is_of_layout } => {
                let mut body = AcquireJson::new(request, request.waited_ms.saturating_add(waited));
                if !is_of_layout {
                    (body.layout, body.window_ms, body.ttl_ms) = (None, None, None);
                }
                ("POST", serde_json::to_vec(&body), ACQUIRE_PATIENCE)
            }
            Demand::Renew(request) => {
                let waited = request.waited_ms.saturating_add(waited);
                let name = self.granter.as_ref().map_or("", |granter| granter.name.as_str());
                // Another broker may then say that the node is lost.
                let is_in_vain = self.granter.is_some() && !self.is_at_granter;
                let body = RenewJson::new(request, waited, name, is_in_vain);
                ("PATCH", serde_json::to_vec(&body), PATIENCE)
            }
            Demand::Release(request) => {
                let (token, used_until) = (request.token.to_text(), request.used_until);
                ("DELETE", serde_json::to_vec(&ReleaseJson { token, used_until }), PATIENCE)
            }
        };
        let address = self.address(brokers);
        let body =
            body.map_err(|error| Fault::Rejected(format!("{address}: no request: {error}")))?;
        let authorization = brokers.authorization().map(str::to_owned);
        Ok(HttpRequest {
            method,
            url: format!("{address}{}", self.path),
            authorization,
            body,
            patience,
        })
    }

    /// Takes the answer, or why there is none. `None` if another broker is to be asked now.
    pub(crate) fn answered(
        &mut self,
        brokers: &mut Brokers,
        answer: Result<HttpAnswer, String>,
    ) -> Option<Result<Reply, Fault>> {
        let address = self.address(brokers).to_owned();
        if let Demand::Release(request) = &self.demand {
            // Whatever comes of it: if the node was not given back, it expires.
            brokers.forget(request.node);
        }
        let reply = match answer {
            Err(reason) => Err(Failure::Unreachable(format!("{address}: {reason}"))),
            Ok(answer) => self.read(brokers, &address, &answer),
        };
        let reason = match reply {
            Ok(reply) => return Some(Ok(reply)),
            Err(Failure::Answer(fault)) => {
                if let (Demand::Renew(request), Fault::Refused(Refusal::FencedOff)) =
                    (&self.demand, &fault)
                {
                    brokers.forget(request.node);
                }
                return Some(Err(fault));
            }
            Err(Failure::Unreachable(reason)) => reason,
        };
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
        let is_release = matches!(self.demand, Demand::Release(_));
        if self.is_at_granter {
            // Any other one says that the node is lost, unless it is the same under another address.
            self.is_at_granter = false;
        } else {
            brokers.turn();
            self.asked += 1;
        }
        let is_over = is_release || self.asked == brokers.count();
        is_over.then(|| Err(Fault::Unavailable(self.reasons.join("; "))))
    }

    fn address<'a>(&'a self, brokers: &'a Brokers) -> &'a str {
        match &self.granter {
            Some(granter) if self.is_at_granter => &granter.address,
            _ => brokers.first(),
        }
    }

    fn read(
        &self,
        brokers: &mut Brokers,
        address: &str,
        answer: &HttpAnswer,
    ) -> Result<Reply, Failure> {
        match &self.demand {
            Demand::Acquire { request, is_of_layout } => {
                let granted: GrantJson = read_answer(address, answer)?;
                let grant = granted.to_grant().map_err(|error| no_answer(address, &error))?;
                let layout: Layout =
                    granted.layout.parse().map_err(|error| no_answer(address, &error))?;
                if *is_of_layout && !request.layout.is_same_space(&layout) {
                    let text = format!("{address} grants nodes of the layout {layout}");
                    return Err(Failure::Answer(Fault::Rejected(text)));
                }
                brokers.note(grant.node, granted.broker, address);
                Ok(Reply::Granted(grant, layout))
            }
            Demand::Renew(_) => read_answer::<RenewedJson>(address, answer)
                .map(|renewed| Reply::Renewed(renewed.into())),
            Demand::Release(_) => read_answer::<()>(address, answer).map(|()| Reply::Released),
        }
    }
}

/// Why there is no answer of use.
pub(super) enum Failure {
    /// Nobody knows whether the request arrived.
    Unreachable(String),
    /// A broker has answered.
    Answer(Fault),
}

fn no_answer(address: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::Answer(Fault::Rejected(format!("{address}: no answer of a broker: {error}")))
}

/// What a broker has answered.
pub(super) fn read_answer<T: DeserializeOwned>(
    address: &str,
    answer: &HttpAnswer,
) -> Result<T, Failure> {
    let HttpAnswer { status, body } = answer;
    if (200..300).contains(status) {
        let body = if body.is_empty() { b"null" } else { body.as_slice() };
        return serde_json::from_slice(body).map_err(|error| no_answer(address, &error));
    }
    Err(match serde_json::from_slice::<ErrorJson>(body) {
        Ok(ErrorJson { error }) => error.into_failure(address),
        // A proxy in between.
        Err(_) if *status >= 500 => Failure::Unreachable(format!("{address}: status {status}")),
        Err(_) => Failure::Answer(Fault::Rejected(format!(
            "{address}: status {status}: this is no broker"
        ))),
    })
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
    fn into_failure(self, address: &str) -> Failure {
        let Self { code, message, retry_after_ms, refusal } = self;
        let text = || format!("{address}: {message}");
        let kind = ErrorKind::ALL.into_iter().find(|kind| kind.code() == code);
        Failure::Answer(match (refusal.as_deref(), kind) {
            (Some("fenced-off"), _) => Refusal::FencedOff.into(),
            (Some("restored"), _) => {
                Refusal::Restored { retry_after_ms: retry_after_ms.unwrap_or_default() }.into()
            }
            (_, Some(ErrorKind::StoreUnavailable)) => Fault::Unavailable(text()),
            (_, Some(ErrorKind::StoreRejected)) => Fault::Rejected(text()),
            (_, Some(kind)) => Refusal::Relayed { kind, text: message, retry_after_ms }.into(),
            (_, None) if code == "HTTP_MISDIRECTED" || retry_after_ms.is_some() => {
                return Failure::Unreachable(text());
            }
            (_, None) => Fault::Rejected(text()),
        })
    }
}
