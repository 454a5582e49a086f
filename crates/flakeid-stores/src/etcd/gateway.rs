//! The JSON gateway of one member: requests, responses, logins and the connection.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Response;
use ureq::unversioned::transport::{ConnectionDetails, Connector, DefaultConnector, Transport};

use flakeid_protocol::store::Fault;

/// The size limit for a response, which is far larger than all rows of a namespace together.
const LONGEST_ANSWER: u64 = 256 << 20;

/// A response, with the time at which the member sent it, by the member's clock, in Unix milliseconds.
pub(super) struct Answer {
    pub body: Value,
    pub date: i64,
}

/// One member's JSON gateway.
pub(super) struct Gateway {
    pub agent: Agent,
    /// The switch that keeps the agent on its current connection.
    pub pin: ConnectionPin,
    /// The addresses at which members may report their processes, and the agent for requests to these addresses.
    pub places: Vec<String>,
    pub reporter: Agent,
    /// The timeout for a response.
    pub timeout: Duration,
    /// The base URL: `http://host:port`.
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

    /// Sends a request. If the login has expired, the request had no effect, so this function logs in again and
    /// repeats the request.
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
                Fault::Rejected(format!("{text}: etcd 3.4 or later with its gateway is required"))
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

/// A switch that keeps a transaction's requests on one connection, and therefore in one run of one member. Data that
/// was read in one run must not be compared with data from another run, because an older copy that is restored twice
/// has the same term and the same revisions both times.
#[derive(Clone, Debug, Default)]
pub(super) struct ConnectionPin(Arc<AtomicBool>);

impl ConnectionPin {
    /// Forbids new connections from now on.
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn release(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// A connector that fails while requests are pinned to an existing connection.
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

/// Parses an HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT`, the only format that Go servers send, and returns it
/// in Unix milliseconds.
fn unix_ms(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, text) = text.split_once(", ")?;
    let parts: Vec<&str> = text.strip_suffix(" GMT")?.split([' ', ':']).collect();
    let number = |at: usize, max: i64| -> Option<i64> {
        parts.get(at)?.parse().ok().filter(|number| (0..=max).contains(number))
    };
    let month = MONTHS.iter().position(|name| parts.get(1) == Some(name))? as i64;
    let (day, year) = (number(0, 31)?, number(2, 9999)?);
    let (hour, minute, second) = (number(3, 23)?, number(4, 59)?, number(5, 60)?);
    // Days are counted from 1970-03-01 in years that begin in March, so that February 29 is the last day of a year.
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000)
}

/// Returns the fault for a member's refusal of a request.
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

/// Returns the fault for an error that occurred while sending a request or reading its response. The agent's errors
/// contain neither the user nor the URL.
fn transport_fault(shown: &str, error: &ureq::Error) -> Fault {
    let text = format!("{shown}: {error}");
    match error {
        // The client or the server rejected the other's certificate.
        ureq::Error::Io(_)
            if text.contains("invalid peer certificate")
                || text.contains("received fatal alert") =>
        {
            Fault::Rejected(text)
        }
        ureq::Error::Tls(_)
        | ureq::Error::Rustls(_)
        | ureq::Error::Pem(_)
        | ureq::Error::BadUri(_)
        | ureq::Error::Http(_) => Fault::Rejected(text),
        _ => Fault::Unavailable(text),
    }
}

#[cfg(test)]
mod tests {
    use super::unix_ms;

    #[test]
    fn http_dates_are_converted_to_unix_milliseconds() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
            ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
            ("Sat, 31 Dec 2044 12:00:00 GMT", 2_366_798_400),
        ] {
            assert_eq!(unix_ms(text), Some(seconds * 1000), "{text}");
        }
        for bad in ["", "now", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Foo 1994 08:49:37 GMT"] {
            assert_eq!(unix_ms(bad), None, "{bad}");
        }
        assert_eq!(unix_ms("Sun, 06 Nov 1994 24:49:37 GMT"), None);
    }
}
