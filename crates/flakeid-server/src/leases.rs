//! The handlers for requests to a broker, which leases nodes to clients.

use std::time::{Duration, Instant};

use bytes::Bytes;
use flakeid::broker::Broker;
use flakeid_core::{Error, ErrorKind, Layout};
use flakeid_protocol::Refusal;
use flakeid_protocol::http::{AcquireJson, GrantJson, ReleaseJson, RenewJson, RenewedJson};
use flakeid_protocol::store::Fault;
use flakeid_stores::fresh_token;
use flakeid_stores::http::{LeaseJson, LeasesJson};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body as HttpBody;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::answer::Answer;
use crate::body::Body;
use crate::pages;
use crate::query::{number, parameters};
use crate::quota::Quotas;
use crate::rate::Sender;

/// The maximum length of a request body, in bytes. Holders send bodies of about 500 bytes.
pub(crate) const LONGEST_BODY: usize = 8 << 10;
/// The longest time that a client may take to send the request body.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// The time after which a client whose quota is used up should try again.
const QUOTA_RETRY: Duration = Duration::from_secs(5);
/// The largest number of leases that one response can list.
pub(crate) const MOST_LISTED: u64 = 10_000;

/// The handlers for requests about a broker's leases. Error messages contain the namespace.
pub(crate) struct Leases<'a> {
    pub(crate) broker: &'a Broker,
    pub(crate) namespace: &'a str,
    pub(crate) quotas: &'a Quotas,
    pub(crate) sender: Sender,
}

impl Leases<'_> {
    pub(crate) async fn answer_all<B>(&self, request: &Parts, body: B) -> Result<Answer, Error>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if request.method == Method::POST {
            return self.acquire(request, body).await;
        }
        self.list(request.uri.query())
    }

    pub(crate) async fn answer_one<B>(
        &self,
        node: &str,
        request: &Parts,
        body: B,
    ) -> Result<Answer, Error>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let [] = parameters(request.uri.query(), [])?;
        let node = number("node", node, 0, self.layout().max_node())?;
        let read = Instant::now();
        if request.method == Method::DELETE {
            let body: ReleaseJson = match json(&request.headers, body).await? {
                Ok(body) => body,
                Err(answer) => return Ok(answer),
            };
            return Ok(match self.broker.take_back(&body.to_request(node)?) {
                Ok(()) => {
                    self.quotas.release(self.broker, self.sender, node);
                    Answer::new(StatusCode::NO_CONTENT, "text/plain", Body::whole(""))
                }
                Err(fault) => self.refuse(&fault),
            });
        }
        let body: RenewJson = match json(&request.headers, body).await? {
            Ok(body) => body,
            Err(answer) => return Ok(answer),
        };
        Ok(match self.broker.renew_here(&body.to_request(node)?, read) {
            Ok(Some(renewed)) => Answer::json(StatusCode::OK, &RenewedJson::from(renewed)),
            Ok(None) => self.refuse_unheld(node, &body),
            Err(fault) => self.refuse(&fault),
        })
    }

    async fn acquire<B>(&self, request: &Parts, body: B) -> Result<Answer, Error>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let [] = parameters(request.uri.query(), [])?;
        let read = Instant::now();
        let body: AcquireJson = match json(&request.headers, body).await? {
            Ok(body) => body,
            Err(answer) => return Ok(answer),
        };
        let acquire = body.to_request(self.layout(), fresh_token())?;
        let place = match self.quotas.enter(self.broker, self.sender, acquire.token) {
            Ok(place) => place,
            Err(most) => return Ok(refuse_more(most)),
        };

        let granted = timeout(self.broker.max_wait(), self.broker.acquiring(acquire, read)).await;
        Ok(match granted.unwrap_or_else(|_| Err(self.broker.waiting_fault())) {
            Ok(grant) => {
                place.keep(grant.node, grant.token);
                let grant = GrantJson::new(&grant, self.broker.address(), self.layout());
                Answer::json(StatusCode::OK, &grant)
            }
            Err(fault) => self.refuse(&fault),
        })
    }

    fn list(&self, query: Option<&str>) -> Result<Answer, Error> {
        let [from, limit] = parameters(query, ["from", "limit"])?;
        let from = from.map(|text| number("from", &text, 0, u64::MAX)).transpose()?;
        let limit = limit.map(|text| number("limit", &text, 1, MOST_LISTED)).transpose()?;
        let rows = self.broker.rows(from.unwrap_or(0), limit.unwrap_or(1_000) as usize);
        let listed = rows.and_then(|rows| Ok((rows, self.broker.status()?)));
        Ok(match listed {
            Ok((rows, status)) => {
                let leases = LeasesJson {
                    leases: rows.iter().map(LeaseJson::from).collect(),
                    layout: self.layout().to_string(),
                    block_bits: self.broker.namespace().block_bits,
                    blocks: status.blocks as u64,
                    broker: self.broker.address().into(),
                    now: self.broker.unix_ms(),
                };
                Answer::json(StatusCode::OK, &leases)
            }
            Err(fault) => self.refuse(&fault),
        })
    }

    /// Rejects the renewal of a node whose block this broker does not hold. If this broker granted the node, for example
    /// before it restarted, the response states that the holder has lost the node. Otherwise, the response refers the
    /// client to the broker that granted the node.
    fn refuse_unheld(&self, node: u64, body: &RenewJson) -> Answer {
        if body.broker == self.broker.address() {
            return self.refuse(&Refusal::FencedOff.into());
        }
        let message = format!(
            "node {node} was not granted by this broker, {}: renew it at the address in `broker` of \
             the response that granted it, or lease another node",
            self.broker.address()
        );
        let broker = Some(body.broker.as_str()).filter(|broker| !broker.is_empty());
        Answer::misdirected(&message, broker)
    }

    pub(crate) fn refuse(&self, fault: &Fault) -> Answer {
        let (status, refusal) = match fault {
            Fault::Refused(Refusal::FencedOff) => (StatusCode::CONFLICT, Some("fenced-off")),
            Fault::Refused(Refusal::Restored { .. }) => {
                (StatusCode::SERVICE_UNAVAILABLE, Some("restored"))
            }
            Fault::Refused(
                Refusal::Skew { .. } | Refusal::TooFarAhead { .. } | Refusal::OtherLayout { .. },
            ) => (StatusCode::CONFLICT, None),
            _ => (StatusCode::SERVICE_UNAVAILABLE, None),
        };
        let error = fault.to_error("the broker", self.namespace, self.layout());
        let status = match error.kind() {
            ErrorKind::FieldOutOfRange | ErrorKind::InvalidOption => StatusCode::BAD_REQUEST,
            _ => status,
        };
        Answer::from_refusal(&error, status, refusal)
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.broker.layout()
    }
}

/// Rejects a request of a client that holds as many leases as one client may hold.
fn refuse_more(most: u64) -> Answer {
    let message = format!(
        "this client holds {most} leases, the most that one client may hold \
         (--max-leases-per-client): release some of them, or wait until they end"
    );
    Answer::too_many(&message, QUOTA_RETRY)
}

/// Parses a JSON request body. The inner error is the response if the body is not declared as JSON, cannot be read, is
/// too long or arrives too slowly.
async fn json<B, T>(headers: &HeaderMap, body: B) -> Result<Result<T, Answer>, Error>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    T: DeserializeOwned,
{
    if let Some(refused) = pages::refuse_other_types(headers) {
        return Ok(Err(refused));
    }
    let body = Limited::new(body, LONGEST_BODY);
    let Ok(body) = timeout(BODY_TIMEOUT, body.collect()).await else {
        let message = "the request body did not arrive in time";
        return Ok(Err(Answer::http(StatusCode::REQUEST_TIMEOUT, "HTTP_TIMEOUT", message)));
    };
    let body = match body {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            let message = format!("the request body must not exceed {LONGEST_BODY} bytes");
            let status = StatusCode::PAYLOAD_TOO_LARGE;
            return Ok(Err(Answer::http(status, "HTTP_TOO_LARGE", &message)));
        }
        Err(error) => {
            let message = format!("the request body cannot be read: {error}");
            return Ok(Err(Answer::http(StatusCode::BAD_REQUEST, "HTTP_BAD_REQUEST", &message)));
        }
    };
    let parsed = serde_json::from_slice(&body);
    parsed.map(Ok).map_err(|error| Error::invalid_option("body", &format!("{error}")))
}
