//! HTTP requests to a store, and the store's time in the responses.

use std::time::Duration;

use ureq::Agent;
use ureq::http::{HeaderMap, Request};
use ureq::tls::TlsConfig;

use crate::http_date::unix_ms;
use crate::retry::ANSWER_TIMEOUT;
use crate::transport::transport_fault;
use flakeid_protocol::store::{CONNECT_TIMEOUT, Fault};

/// The size limit for a response, in bytes. The limit is above the size limit of every document.
const LONGEST_ANSWER: u64 = 32 << 20;

/// An HTTP client for one store.
pub(crate) struct Client {
    agent: Agent,
    /// The store's name in messages.
    pub(crate) shown: String,
}

/// A response of a store.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
    shown: String,
}

impl Client {
    pub(crate) fn new(shown: &str, tls: Option<TlsConfig>) -> Self {
        let mut config = Agent::config_builder()
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(ANSWER_TIMEOUT))
            .http_status_as_error(false)
            .max_redirects(0)
            // The proxy that environment variables specify is not used, because it is meant for Internet access.
            .proxy(None);
        if let Some(tls) = tls {
            config = config.tls_config(tls);
        }
        Self { agent: config.build().into(), shown: shown.to_owned() }
    }

    /// Sends a request, and returns the response with any status.
    pub(crate) fn send(
        &self,
        method: &str,
        url: &str,
        headers: &[(&str, String)],
        body: &str,
    ) -> Result<Response, Fault> {
        self.send_within(ANSWER_TIMEOUT, method, url, headers, body)
    }

    /// Sends a request, and returns the response with any status. The response must arrive within `timeout`.
    pub(crate) fn send_within(
        &self,
        timeout: Duration,
        method: &str,
        url: &str,
        headers: &[(&str, String)],
        body: &str,
    ) -> Result<Response, Fault> {
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let outcome = if body.is_empty() && method != "PUT" && method != "POST" {
            let request = request.body(()).map_err(|error| self.invalid(&error))?;
            self.agent.run(self.timed(request, timeout))
        } else {
            let request = request.body(body).map_err(|error| self.invalid(&error))?;
            self.agent.run(self.timed(request, timeout))
        };
        let mut answer = outcome.map_err(|error| transport_fault(&self.shown, &error))?;
        let text = answer.body_mut().with_config().limit(LONGEST_ANSWER).read_to_string();
        Ok(Response {
            status: answer.status().as_u16(),
            body: text.map_err(|error| transport_fault(&self.shown, &error))?,
            headers: std::mem::take(answer.headers_mut()),
            shown: self.shown.clone(),
        })
    }

    fn timed<B: ureq::AsSendBody>(&self, request: Request<B>, timeout: Duration) -> Request<B> {
        self.agent.configure_request(request).timeout_global(Some(timeout)).build()
    }

    fn invalid(&self, error: &ureq::http::Error) -> Fault {
        Fault::Rejected(format!(
            "{}: cannot build the HTTP request ({error}); check the URL",
            self.shown
        ))
    }
}

impl Response {
    /// Returns a header, or an empty string if the response lacks it.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the time by the store's clock, in Unix milliseconds. The `Date` header contains only whole seconds, so
    /// the middle of the second is used.
    ///
    /// # Errors
    /// [`Fault::Rejected`] if the response has no valid `Date` header.
    pub(crate) fn date(&self) -> Result<i64, Fault> {
        self.time("date").ok_or_else(|| {
            Fault::Rejected(format!(
                "{} sends no Date header: configure the proxy in front of it to forward the header",
                self.shown
            ))
        })
    }

    /// Returns the middle of the second in a header, in Unix milliseconds.
    pub(crate) fn time(&self, header: &str) -> Option<i64> {
        unix_ms(self.header(header)).map(|second| second + 500)
    }
}
