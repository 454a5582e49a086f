//! A broker as those see it who lease from it.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use flakeid_core::ErrorKind;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use ureq::Agent;
use ureq::http::Method;

use super::agent::{agent, unix_agent};
use super::json::{AcquireJson, GrantJson, ReleaseJson, RenewJson, RenewedJson};
use crate::protocol::{Acquire, Grant, Refusal, Release, Renew, Renewed};
use crate::random;
use crate::store::certificates::tls_config;
use crate::store::url::ServerUrl;
use crate::store::{Fault, Lessor};

/// How long a renewal may take: a broker answers from memory, and a holder that asks in vain needs the
/// rest of its window to ask another one.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long an acquire may take, for which the broker may have to lease another block first.
const ACQUIRE_PATIENCE: Duration = Duration::from_millis(2_500);
/// No answer to a lease is longer.
const LONGEST_ANSWER: u64 = 64 << 10;

/// Brokers that can be asked, and which of them granted what.
pub(super) struct HttpLessor {
    pub(super) agent: Agent,
    /// The addresses of the URL; the first is asked first.
    pub(super) addresses: Vec<String>,
    /// What goes into the header `Authorization`.
    pub(super) authorization: Option<String>,
    /// Which broker granted a node: there it is renewed and given back.
    granted_by: HashMap<u64, Granter>,
}

/// Who granted a node.
#[derive(Clone)]
struct Granter {
    /// As the broker calls itself.
    name: String,
    /// Where it is reached.
    address: String,
}

/// Reads the URL; does not connect.
pub(in crate::store) fn connect(url: &str) -> Result<Box<dyn Lessor>, Fault> {
    Ok(Box::new(parse(url)?))
}

/// Reads the URL.
pub(super) fn parse(url: &str) -> Result<HttpLessor, Fault> {
    let url = ServerUrl::parse(url, &["token-file", "tls-ca", "tls-cert", "tls-key"])?;
    let (scheme, rest) = url.base.split_once("://").unwrap_or_default();
    let from_file = url.file("token-file")?.map(|file| {
        let text = String::from_utf8_lossy(&file);
        text.lines().next().unwrap_or_default().trim().to_owned()
    });
    if scheme == "http+unix" {
        let path = url.decode("path of the socket", rest)?;
        if !path.starts_with('/') {
            return Err(url.reject("the URL is not of the form http+unix:///path/of/the/socket"));
        }
        return Ok(HttpLessor {
            agent: unix_agent(Path::new(&path))?,
            addresses: vec!["http://localhost".into()],
            authorization: from_file.as_deref().map(bearer),
            granted_by: HashMap::new(),
        });
    }
    let (token, hosts) = match rest.rsplit_once('@') {
        None => (None, rest),
        Some((user, hosts)) => {
            let token = user.split_once(':').map_or(user, |(_, token)| token);
            (Some(url.decode("token", token)?), hosts)
        }
    };
    let hosts = hosts.strip_suffix('/').unwrap_or(hosts);
    if hosts.is_empty() || hosts.contains(['/', '#']) {
        return Err(url.reject("the URL is not of the form http://host:port,host:port/"));
    }
    let mut addresses: Vec<_> = hosts.split(',').map(|host| format!("{scheme}://{host}")).collect();
    // So that not every process asks the same broker.
    let first = (random::fraction() * addresses.len() as f64) as usize % addresses.len();
    addresses.rotate_left(first);
    let tls = if scheme == "https" { Some(tls_config(&url)?) } else { None };
    Ok(HttpLessor {
        agent: agent(tls),
        addresses,
        authorization: from_file.or(token).as_deref().map(bearer),
        granted_by: HashMap::new(),
    })
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

impl HttpLessor {
    /// Asks the brokers of the URL one after the other until one answers.
    fn ask_any<T: DeserializeOwned>(
        &mut self,
        method: &Method,
        path: &str,
        body: &impl Serialize,
    ) -> Result<(T, String), Fault> {
        let mut texts = Vec::new();
        for address in self.addresses.clone() {
            match self.ask(method, &address, path, body) {
                Ok(answer) => return Ok((answer, address)),
                Err(Failure::Unreachable(text)) => texts.push(text),
                Err(Failure::Answer(fault)) => return Err(fault),
            }
            // Another one is asked first from now on.
            self.addresses.rotate_left(1);
        }
        Err(Fault::Unavailable(texts.join("; ")))
    }

    fn ask<T: DeserializeOwned>(
        &self,
        method: &Method,
        address: &str,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Failure> {
        let unreachable =
            |error: &dyn std::fmt::Display| Failure::Unreachable(format!("{address}: {error}"));
        let text = serde_json::to_vec(body).map_err(|error| unreachable(&error))?;
        let mut request = ureq::http::Request::builder()
            .method(method.clone())
            .uri(format!("{address}{path}"))
            .header("Content-Type", "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        let request = request.body(text).map_err(|error| unreachable(&error))?;
        let patience = if *method == Method::POST { ACQUIRE_PATIENCE } else { PATIENCE };
        let request = self.agent.configure_request(request);
        let request =
            request.allow_non_standard_methods(true).timeout_global(Some(patience)).build();
        let answer = self.agent.run(request).map_err(|error| unreachable(&error))?;
        read_answer(address, answer, LONGEST_ANSWER)
    }

    /// At the broker that granted the node; if that one cannot be reached, at any other, which says
    /// that the node is lost, unless it is the same one under another address.
    fn renew_at_granter(
        &mut self,
        namespace: &str,
        request: &Renew,
        read: Instant,
    ) -> Result<Renewed, Fault> {
        let path = Self::path(namespace, request.node);
        let granter = self.granted_by.get(&request.node).cloned();
        let name = granter.as_ref().map_or("", |granter| granter.name.as_str());
        let mut unreachable = None;
        if let Some(granter) = &granter {
            let body = RenewJson::new(request, waited(request.waited_ms, read), name, false);
            match self.ask::<RenewedJson>(&Method::PATCH, &granter.address, &path, &body) {
                Ok(renewed) => return Ok(renewed.into()),
                Err(Failure::Unreachable(text)) => unreachable = Some(text),
                Err(Failure::Answer(fault)) => return Err(fault),
            }
        }
        let is_in_vain = unreachable.is_some();
        let body = RenewJson::new(request, waited(request.waited_ms, read), name, is_in_vain);
        let answer = self.ask_any::<RenewedJson>(&Method::PATCH, &path, &body);
        match (answer, unreachable) {
            (Ok((renewed, _)), _) => Ok(renewed.into()),
            (Err(Fault::Unavailable(text)), Some(first)) if !text.contains(&first) => {
                Err(Fault::Unavailable(format!("{first}; {text}")))
            }
            (Err(fault), _) => Err(fault),
        }
    }

    fn path(namespace: &str, node: u64) -> String {
        format!("/v1/{namespace}/leases/{node}")
    }
}

impl Lessor for HttpLessor {
    fn acquire(
        &mut self,
        namespace: &str,
        request: &Acquire,
        read: Instant,
    ) -> Result<Grant, Fault> {
        let body = AcquireJson::new(request, waited(request.waited_ms, read));
        let path = format!("/v1/{namespace}/leases");
        let (granted, asked): (GrantJson, _) = self.ask_any(&Method::POST, &path, &body)?;
        let grant = granted
            .to_grant()
            .map_err(|error| Fault::Rejected(format!("{asked}: no answer of a broker: {error}")))?;
        if !granted.layout.parse().is_ok_and(|layout| request.layout.is_same_space(&layout)) {
            let text = format!("{asked} grants nodes of the layout {}", granted.layout);
            return Err(Fault::Rejected(text));
        }
        // Over a Unix socket there is one broker, whatever it calls itself.
        let is_elsewhere =
            granted.broker.starts_with("http://") || granted.broker.starts_with("https://");
        let is_local = self.addresses == ["http://localhost"];
        let address = if is_elsewhere && !is_local { granted.broker.clone() } else { asked };
        self.granted_by.insert(grant.node, Granter { name: granted.broker, address });
        Ok(grant)
    }

    fn renew(&mut self, namespace: &str, request: &Renew, read: Instant) -> Result<Renewed, Fault> {
        let renewed = self.renew_at_granter(namespace, request, read);
        if renewed == Err(Fault::Refused(Refusal::FencedOff)) {
            self.granted_by.remove(&request.node);
        }
        renewed
    }

    fn release(&mut self, namespace: &str, request: &Release) -> Result<(), Fault> {
        let path = Self::path(namespace, request.node);
        let Some(granter) = self.granted_by.remove(&request.node) else { return Ok(()) };
        let body = ReleaseJson { token: request.token.to_text(), used_until: request.used_until };
        match self.ask::<()>(&Method::DELETE, &granter.address, &path, &body) {
            Ok(()) => Ok(()),
            Err(Failure::Unreachable(text)) => Err(Fault::Unavailable(text)),
            Err(Failure::Answer(fault)) => Err(fault),
        }
    }

    /// It keeps no state of a transaction, and knows who granted what.
    fn outlives_faults(&self) -> bool {
        true
    }
}

/// What a broker has answered, if it has at most so many bytes.
pub(super) fn read_answer<T: DeserializeOwned>(
    address: &str,
    mut answer: ureq::http::Response<ureq::Body>,
    longest: u64,
) -> Result<T, Failure> {
    let unreachable =
        |error: &dyn std::fmt::Display| Failure::Unreachable(format!("{address}: {error}"));
    let status = answer.status();
    let body = answer.body_mut().with_config().limit(longest).read_to_vec();
    let body = body.map_err(|error| unreachable(&error))?;
    if status.is_success() {
        let body = if body.is_empty() { b"null" } else { body.as_slice() };
        return serde_json::from_slice(body).map_err(|error| {
            let text = format!("{address}: no answer of a broker: {error}");
            Failure::Answer(Fault::Rejected(text))
        });
    }
    match serde_json::from_slice::<ErrorJson>(&body) {
        Ok(ErrorJson { error }) => Err(error.into_failure(address)),
        // A proxy in between.
        Err(_) if status.is_server_error() => Err(unreachable(&status)),
        Err(_) => {
            let text = format!("{address}: {status}: this is no broker");
            Err(Failure::Answer(Fault::Rejected(text)))
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

fn waited(before_ms: u64, read: Instant) -> u64 {
    before_ms.saturating_add(u64::try_from(read.elapsed().as_millis()).unwrap_or(u64::MAX))
}
