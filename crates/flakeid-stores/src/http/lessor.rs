//! A blocking HTTP client that leases nodes from brokers.

use std::path::Path;
use std::time::Instant;

use ureq::Agent;

use super::agent::{agent, unix_agent};
use crate::certificates::tls_config;
use crate::random;
use crate::url::file;
use flakeid_protocol::http::{Brokers, Exchange, HttpAnswer, HttpRequest, Reply};
use flakeid_protocol::keeper::Demand;
use flakeid_protocol::store::Fault;
use flakeid_protocol::url::ServerUrl;
use flakeid_protocol::{Acquire, Grant, Lessor, Release, Renew, Renewed, no_other_lessor};

/// The size limit for a response to a lease request, in bytes.
const LONGEST_ANSWER: u64 = 64 << 10;

/// A lessor that sends requests to brokers over HTTP.
pub(super) struct HttpLessor {
    agent: Agent,
    pub(super) brokers: Brokers,
}

/// Creates a lessor from the URL of a broker, without connecting to the broker.
pub(super) fn connect(url: &str) -> Result<Box<dyn Lessor>, Fault> {
    Ok(Box::new(parse(url)?))
}

/// Parses the URL.
pub(super) fn parse(url: &str) -> Result<HttpLessor, Fault> {
    let url = ServerUrl::parse(url, &["token-file", "brokers", "tls-ca", "tls-cert", "tls-key"])?;
    let (scheme, rest) = url.base.split_once("://").unwrap_or_default();
    let from_file = file(&url, "token-file")?.map(|file| {
        let text = String::from_utf8_lossy(&file);
        text.lines().next().unwrap_or_default().trim().to_owned()
    });
    if scheme == "http+unix" {
        let path = url.decode("path of the socket", rest)?;
        if !path.starts_with('/') {
            return Err(
                url.reject("the URL does not have the form http+unix:///path/of/the/socket")
            );
        }
        let agent = unix_agent(Path::new(&path))?;
        return Ok(HttpLessor::new(agent, Brokers::of_socket(from_file)));
    }
    let brokers = Brokers::parse(&url, from_file, random::fraction())?;
    let tls = if scheme == "https" { Some(tls_config(&url)?) } else { None };
    Ok(HttpLessor::new(agent(tls), brokers))
}

impl HttpLessor {
    fn new(agent: Agent, brokers: Brokers) -> Self {
        Self { agent, brokers }
    }

    /// Sends a lease request to one suitable broker after another until a broker gives a final response. Returns `None`
    /// if no broker is suitable.
    fn ask(
        &mut self,
        namespace: &str,
        demand: Demand,
        read: Instant,
    ) -> Result<Option<Reply>, Fault> {
        let Some(mut exchange) = Exchange::new(&self.brokers, namespace, demand, true) else {
            return Ok(None);
        };
        loop {
            let request = exchange.request(&self.brokers, read.elapsed())?;
            let answer = self.send(request, LONGEST_ANSWER);
            if let Some(reply) = exchange.answered(&mut self.brokers, answer) {
                return reply.map(Some);
            }
        }
    }

    fn ask_for_node(
        &mut self,
        namespace: &str,
        request: &Acquire,
        instead_of: Option<u64>,
        read: Instant,
    ) -> Result<Grant, Fault> {
        let demand = Demand::Acquire { request: request.clone(), instead_of };
        self.ask(namespace, demand, read)?.ok_or_else(no_other_lessor)?.granted()
    }

    /// Sends a request, and returns either a response of at most `longest` bytes or a human-readable error message.
    pub(super) fn send(&self, request: HttpRequest, longest: u64) -> Result<HttpAnswer, String> {
        self.try_send(request, longest).map_err(|error| error.to_string())
    }

    fn try_send(&self, request: HttpRequest, longest: u64) -> Result<HttpAnswer, ureq::Error> {
        let HttpRequest { method, url, authorization, body, timeout, .. } = request;
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(url)
            .header("Content-Type", "application/json");
        if let Some(authorization) = &authorization {
            request = request.header("Authorization", authorization);
        }
        let request = self.agent.configure_request(request.body(body)?);
        let request =
            request.allow_non_standard_methods(true).timeout_global(Some(timeout)).build();
        let mut answer = self.agent.run(request)?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(longest).read_to_vec()?;
        Ok(HttpAnswer::new(status, body))
    }
}

impl Lessor for HttpLessor {
    fn acquire(
        &mut self,
        namespace: &str,
        request: &Acquire,
        read: Instant,
    ) -> Result<Grant, Fault> {
        self.ask_for_node(namespace, request, None, read)
    }

    fn acquire_elsewhere(
        &mut self,
        namespace: &str,
        request: &Acquire,
        held: u64,
        read: Instant,
    ) -> Result<Grant, Fault> {
        self.ask_for_node(namespace, request, Some(held), read)
    }

    fn renew(&mut self, namespace: &str, request: &Renew, read: Instant) -> Result<Renewed, Fault> {
        let reply = self.ask(namespace, Demand::Renew(*request), read)?;
        reply.ok_or_else(no_other_lessor)?.renewed()
    }

    fn release(&mut self, namespace: &str, request: &Release) -> Result<(), Fault> {
        self.ask(namespace, Demand::Release(*request), Instant::now()).map(drop)
    }

    /// Returns `true`. This lessor must be kept after a fault, because it records which broker granted each node. A
    /// fault cannot leave a transaction open.
    fn outlives_faults(&self) -> bool {
        true
    }
}
