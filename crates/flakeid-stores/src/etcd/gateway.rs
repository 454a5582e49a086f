//! A client for the JSON gateway of one etcd member: its requests, responses, login and connection.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Response;
use ureq::unversioned::transport::{ConnectionDetails, Connector, DefaultConnector, Transport};

use crate::http_date::unix_ms;
use crate::transport::transport_fault;
use flakeid_protocol::store::Fault;

/// The size limit for a response, in bytes. The limit is far above the total size of a namespace's rows.
const LONGEST_ANSWER: u64 = 256 << 20;

/// A response, and the time at which the member sent the response, in Unix milliseconds by the member's clock.
pub(super) struct Answer {
    pub body: Value,
    pub date: i64,
}

/// A client for the JSON gateway of one etcd member.
pub(super) struct Gateway {
    pub agent: Agent,
    /// The switch that prevents the HTTP client from opening a new connection.
    pub pin: ConnectionPin,
    /// The base URLs from which flakeid requests the start times of the members' processes.
    pub places: Vec<String>,
    /// The HTTP client for requests to `places`.
    pub reporter: Agent,
    /// The timeout for a response.
    pub timeout: Duration,
    /// The gateway's base URL: `http://host:port` or `https://host:port`.
    pub base: String,
    pub user: Option<(String, String)>,
    pub token: Option<String>,
}

impl Gateway {
    /// Logs in if the URL contains a user name.
    pub(super) fn authenticate(&mut self) -> Result<(), Fault> {
        let Some((name, password)) = &self.user else { return Ok(()) };
        self.token = None;
        let request = json!({ "name": name, "password": password });
        let answer = self.post("/v3/auth/authenticate", &request)?;
        self.token = answer.body["token"].as_str().map(str::to_owned);
        Ok(())
    }

    /// Sends a request. If the member rejects the request because the login has expired, logs in again and repeats the
    /// request. The rejected request had no effect.
    pub(super) fn call(&mut self, path: &str, request: &Value) -> Result<Answer, Fault> {
        match self.post(path, request) {
            Err(Fault::Rejected(text)) if self.user.is_some() && is_old_login(&text) => {
                self.authenticate()?;
                self.post(path, request)
            }
            answer => answer,
        }
    }

    fn post(&self, path: &str, request: &Value) -> Result<Answer, Fault> {
        let post = self.agent.post(format!("{}{path}", self.base));
        let mut post = post.config().timeout_global(Some(self.timeout)).build();
        if let Some(token) = &self.token {
            post = post.header("Authorization", token);
        }
        let sent = post.content_type("application/json").send(request.to_string());
        let answer = sent.map_err(|error| transport_fault(&self.base, &error))?;
        self.read(path, answer)
    }

    fn read(&self, path: &str, mut answer: Response<ureq::Body>) -> Result<Answer, Fault> {
        let status = answer.status();
        let date = answer.headers().get("date").and_then(|date| date.to_str().ok());
        // The `Date` header contains only whole seconds, so the middle of the second is used.
        let date = date.and_then(unix_ms).map(|second| second + 500);
        let body = answer.body_mut().with_config().limit(LONGEST_ANSWER).read_to_string();
        let body = body.map_err(|error| transport_fault(&self.base, &error))?;
        let body: Option<Value> = serde_json::from_str(&body).ok();
        let shown = &self.base;
        let Some(body) = body.filter(Value::is_object) else {
            let text = format!("{shown} responded to {path} with status {status} and without JSON");
            return Err(if status == 404 {
                Fault::Rejected(format!(
                    "{text}: etcd 3.4 or later is required, with its gRPC gateway enabled"
                ))
            } else {
                Fault::Unavailable(text)
            });
        };
        if status.is_success() {
            let date = date.ok_or_else(|| {
                Fault::Rejected(format!(
                    "{shown} sends no Date header: configure the proxy in front of it to forward the \
                     header"
                ))
            })?;
            return Ok(Answer { body, date });
        }
        Err(refusal(&self.base, path, &body))
    }
}

fn is_old_login(text: &str) -> bool {
    text.ends_with("invalid auth token") || text.ends_with("revision of auth store is old")
}

/// A switch that keeps all requests of a transaction on one connection, so that all responses come from the same member
/// and the same run of the cluster. Data from different runs must not be compared, because runs that begin with the
/// same restored copy have the same term and the same revisions.
#[derive(Clone, Debug, Default)]
pub(super) struct ConnectionPin(Arc<AtomicBool>);

impl ConnectionPin {
    /// Forbids new connections until [`release`](Self::release) is called.
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn release(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// A connector that does not open a new connection while requests must stay on the current connection.
#[derive(Debug)]
pub(super) struct PinnedConnector {
    pin: ConnectionPin,
    inner: DefaultConnector,
}

impl PinnedConnector {
    pub(super) fn new(pin: ConnectionPin) -> Self {
        Self { pin, inner: DefaultConnector::new() }
    }
}

impl Connector for PinnedConnector {
    type Out = Box<dyn Transport>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<()>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        if self.pin.0.load(Ordering::Relaxed) {
            let lost = "the connection was lost in the middle of a transaction";
            return Err(io::Error::other(lost).into());
        }
        self.inner.connect(details, chained)
    }
}

/// Converts a member's error response into a fault.
fn refusal(shown: &str, path: &str, answer: &Value) -> Fault {
    let reason = answer["message"].as_str().or(answer["error"].as_str()).unwrap_or_default();
    let reason: String = reason.chars().take(300).collect();
    let text = format!("{shown} refuses {path}: {reason}");
    // These gRPC status codes represent permanent errors.
    match answer["code"].as_i64() {
        Some(3 | 5 | 7 | 9 | 12 | 16) => Fault::Rejected(text),
        _ => Fault::Unavailable(text),
    }
}
