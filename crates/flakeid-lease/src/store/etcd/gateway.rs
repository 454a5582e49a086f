use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Response;

use super::super::Fault;
use super::date::unix_ms;
use super::pin::Pin;

/// No answer is longer: it would be far more than all rows.
const LONGEST_ANSWER: u64 = 256 << 20;

/// An answer, and the member's clock in Unix milliseconds when it was given.
pub(super) struct Answer {
    pub body: Value,
    pub date: i64,
}

/// One member's JSON gateway.
pub(super) struct Gateway {
    pub agent: Agent,
    /// Holds the agent to its connection.
    pub pin: Pin,
    /// How long an answer may take.
    pub patience: Duration,
    /// `http://host:port`.
    pub base: String,
    pub user: Option<(String, String)>,
    pub token: Option<String>,
}

impl Gateway {
    /// Logs in, if there is a user.
    pub(super) fn authenticate(&mut self) -> Result<(), Fault> {
        let Some((name, password)) = &self.user else { return Ok(()) };
        self.token = None;
        let request = json!({ "name": name, "password": password });
        let answer = self.post("/v3/auth/authenticate", &request)?;
        self.token = answer.body["token"].as_str().map(str::to_owned);
        Ok(())
    }

    /// Sends a request. A login that ran out is renewed, because nothing was done under it.
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
        let mut post = post.config().timeout_global(Some(self.patience)).build();
        if let Some(token) = &self.token {
            post = post.header("Authorization", token);
        }
        let sent = post.content_type("application/json").send(request.to_string());
        let answer = sent.map_err(|error| self.broken(&error))?;
        self.read(path, answer)
    }

    fn read(&self, path: &str, mut answer: Response<ureq::Body>) -> Result<Answer, Fault> {
        let status = answer.status();
        let date = answer.headers().get("date").and_then(|date| date.to_str().ok());
        let date = date.and_then(unix_ms);
        let body = answer.body_mut().with_config().limit(LONGEST_ANSWER).read_to_string();
        let body = body.map_err(|error| self.broken(&error))?;
        let body: Option<Value> = serde_json::from_str(&body).ok();
        let place = &self.base;
        let Some(body) = body.filter(Value::is_object) else {
            let text = format!("{place} answers {path} with status {status} and no JSON");
            return Err(if status == 404 {
                Fault::Rejected(format!("{text}: etcd 3.4 or later, with its gateway, is needed"))
            } else {
                Fault::Unavailable(text)
            });
        };
        if status.is_success() {
            let date = date.ok_or_else(|| {
                Fault::Rejected(format!("{place} sends no Date: a proxy must leave it in"))
            })?;
            return Ok(Answer { body, date });
        }
        let told = body["message"].as_str().or(body["error"].as_str()).unwrap_or_default();
        let told: String = told.chars().take(300).collect();
        let text = format!("{place} refuses {path}: {told}");
        // gRPC's codes: what cannot get better by itself, and what may.
        Err(match body["code"].as_i64() {
            Some(3 | 5 | 7 | 9 | 12 | 16) => Fault::Rejected(text),
            _ => Fault::Unavailable(text),
        })
    }

    /// The agent's errors name no user and no URL.
    fn broken(&self, error: &ureq::Error) -> Fault {
        let text = format!("{}: {error}", self.base);
        match error {
            // One side does not like the other's certificate.
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
}

fn is_old_login(text: &str) -> bool {
    text.ends_with("invalid auth token") || text.ends_with("revision of auth store is old")
}
