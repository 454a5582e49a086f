//! The service: routes requests and builds responses.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use flakeid::Generator;
use flakeid::broker::Broker;
use flakeid_core::Error;
use flakeid_protocol::Namespace;
use hyper::body::Body as HttpBody;
use hyper::header::{
    ALLOW, CONTENT_SECURITY_POLICY, REFERRER_POLICY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Request, Response, StatusCode};

use crate::answer::Answer;
use crate::body::Body;
use crate::cors::Origins;
use crate::holders::HistoryReaders;
use crate::leases::Leases;
use crate::metrics::Metrics;
use crate::pieces::IdPieces;
use crate::rate::RateLimiter;
use crate::reads;
use crate::route::{Resource, Route};
use crate::served::{Limits, NoIds, Served};
use crate::tokens::Tokens;
use crate::turns::Turns;
use flakeid_json::layout_name;

const OPEN_API: &str = include_str!("openapi.json");

/// Generators by namespace, with the limits of a request. Any server based on hyper can mount it;
/// [`Server`](crate::Server) is one.
#[derive(Debug)]
pub struct Service {
    namespaces: BTreeMap<String, Served>,
    brokers: BTreeMap<String, Broker>,
    tokens: Tokens,
    origins: Origins,
    page: Option<Bytes>,
    limits: Limits,
    metrics: Metrics,
    turns: Arc<Turns>,
    reads: HistoryReaders,
}

impl Service {
    /// Serves IDs of each namespace from its generator. The defaults are at most 100,000 IDs per
    /// request, and at most one second of waiting for each 4,096 of them.
    #[must_use]
    pub fn new(generators: BTreeMap<String, Generator>) -> Self {
        let (metrics, turns) = (Metrics::new(&generators), Arc::new(Turns::new()));
        let serve = |(name, generator): (String, Generator)| {
            let layout_name = layout_name(generator.layout());
            let (ids, waits) = (metrics.ids_of(&name), metrics.waits_of(&name));
            let turns = Arc::clone(&turns);
            (name, Served { generator, layout_name, ids, waits, turns, rates: None })
        };
        let namespaces = generators.into_iter().map(serve).collect();
        let limits = Limits { max_count: 100_000, max_wait: Duration::from_secs(1) };
        let (brokers, tokens) = (BTreeMap::new(), Tokens::default());
        let (reads, origins) = (HistoryReaders::default(), Origins::default());
        let page = None;
        Self { namespaces, brokers, tokens, origins, page, limits, metrics, turns, reads }
    }

    /// Also grants leases, with a broker for each namespace.
    #[must_use]
    pub fn brokers(mut self, brokers: impl IntoIterator<Item = Broker>) -> Self {
        let named = brokers.into_iter().map(|broker| (broker.namespace().name.clone(), broker));
        self.brokers = named.collect();
        self.metrics.watch_brokers(&self.brokers);
        self
    }

    /// Requires one of these tokens for every request except health checks.
    #[must_use]
    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = tokens;
        self
    }

    /// Lets web pages of these origins send requests and read the responses.
    #[must_use]
    pub fn origins(mut self, origins: Origins) -> Self {
        self.origins = origins;
        self
    }

    /// Serves this HTML document at `/ui` without a token, so it must not contain secrets. `cargo
    /// xtask page` builds one that explains IDs.
    #[must_use]
    pub fn page(mut self, html: impl Into<Bytes>) -> Self {
        self.page = Some(html.into());
        self
    }

    /// Sets the largest number of IDs per request. A larger number is rejected, never reduced.
    #[must_use]
    pub const fn max_count(mut self, max_count: u64) -> Self {
        self.limits.max_count = max_count;
        self
    }

    /// Sets the largest number of IDs per second for one client in all namespaces together. A
    /// client is one address or, for IPv6, one network of 64 bits. It may take the IDs of one
    /// second at once. A single larger request is served, and the client then waits correspondingly
    /// longer. There is no limit by default.
    #[must_use]
    pub fn rate_limit(mut self, ids_per_second: u64) -> Self {
        let rates = Arc::new(RateLimiter::new(ids_per_second, Instant::now()));
        for served in self.namespaces.values_mut() {
            served.rates = Some(Arc::clone(&rates));
        }
        self
    }

    /// Sets the longest wait of a request for each 4,096 of its IDs.
    #[must_use]
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.limits.max_wait = max_wait;
        self
    }

    /// Whether requests must contain a token.
    #[must_use]
    pub fn requires_tokens(&self) -> bool {
        self.tokens.are_required()
    }

    /// Closes all generators and brokers, and releases leased nodes and blocks.
    pub fn close(&self) {
        self.namespaces.values().for_each(|served| served.generator.close());
        self.brokers.values().for_each(|broker| broker.close(Duration::from_secs(2)));
    }

    /// Responds to a request.
    pub async fn respond<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let began = Instant::now();
        let uri = request.uri().clone();
        let route = Route::parse(uri.path());
        let operation = route.as_ref().map_or("none", Route::operation);
        let preflight = self.origins.preflight(route.as_ref(), &request);
        let sharing = self.origins.sharing(request.headers());
        let mut answer = match (route, preflight) {
            (_, Some(answer)) => answer,
            (None, _) => Answer::not_found("unknown path; /openapi.json lists the paths"),
            (Some(route), _) if !route.is_public() && !self.admits(&request) => unauthorized(),
            (Some(route), _) if !route.allows(request.method()) => not_allowed(&route),
            (Some(route), _) => self.answer(&route, request).await.unwrap_or_else(Answer::from),
        };
        let ended = Instant::now();
        if answer.response.body().is_whole() {
            self.turns.record_short(ended);
        }
        sharing.mark(&mut answer.response);
        self.metrics.count_request(operation, answer.code, ended - began);
        answer.response
    }

    /// Returns IDs for a client of another protocol than HTTP, at most as many as an HTTP request
    /// gets.
    pub(crate) fn pieces(
        &self,
        namespace: &str,
        count: u64,
        peer: Option<IpAddr>,
    ) -> Result<IdPieces, NoIds> {
        let max_count = self.limits.max_count;
        if !(1..=max_count).contains(&count) {
            return Err(NoIds::Refused(Error::field_out_of_range("count", &count, 1, max_count)));
        }
        let Some(served) = self.namespaces.get(namespace) else {
            return Err(match self.unknown_namespace_message(namespace) {
                Ok(message) => NoIds::Unknown(message),
                Err(error) => NoIds::Refused(error),
            });
        };
        served.take_from_rate_limit(count, peer).map_err(NoIds::TooMany)?;
        Ok(served.pieces(count, self.limits))
    }

    /// Counts IDs of a response that has begun.
    pub(crate) fn count_ids(&self, namespace: &str, count: u64) {
        if let Some(served) = self.namespaces.get(namespace) {
            served.ids.inc_by(count);
        }
    }

    /// Counts a request of another protocol than HTTP.
    pub(crate) fn count_request(
        &self,
        operation: &'static str,
        code: &'static str,
        began: Instant,
    ) {
        let ended = Instant::now();
        self.metrics.count_request(operation, code, ended - began);
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Whether this is one of the accepted tokens.
    pub(crate) fn admits_token(&self, token: &[u8]) -> bool {
        self.tokens.admit_token(token)
    }

    /// Counts a connection that could not be accepted.
    pub(crate) fn count_accept_failure(&self) {
        self.metrics.count_accept_failure();
    }

    pub(crate) fn admits<B>(&self, request: &Request<B>) -> bool {
        !self.tokens.are_required() || self.tokens.admit(request.headers())
    }

    async fn answer<B>(&self, route: &Route<'_>, request: Request<B>) -> Result<Answer, Error>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Ok(match *route {
            Route::OfNamespace { namespace, resource: Resource::Leases } => {
                match self.leases(namespace) {
                    Some(leases) => return leases.answer_all(request).await,
                    None => self.without_leases(namespace),
                }
            }
            Route::OfNamespace { namespace, resource: Resource::Lease(node) } => {
                match self.leases(namespace) {
                    Some(leases) => return leases.answer_one(node, request).await,
                    None => self.without_leases(namespace),
                }
            }
            Route::OfNamespace { namespace, resource: Resource::Holder(id) } => {
                match self.leases(namespace) {
                    Some(leases) => {
                        return leases.holder(id, request.uri().query(), &self.reads).await;
                    }
                    None => self.without_leases(namespace),
                }
            }
            Route::OfNamespace { namespace, resource } => {
                let Some(served) = self.namespaces.get(namespace) else {
                    return Ok(self.unknown(namespace));
                };
                return served.answer(resource, &request, self.limits).await;
            }
            Route::Live => Answer::text("ok\n", "text/plain"),
            Route::Ready => self.readiness(),
            Route::Metrics => match self.metrics.to_text() {
                Ok(text) => {
                    Answer::text(text, "application/openmetrics-text; version=1.0.0; charset=utf-8")
                }
                Err(error) => Answer::http(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "HTTP_INTERNAL",
                    &format!("the metrics cannot be encoded: {error}"),
                ),
            },
            Route::OpenApi => Answer::text(OPEN_API, "application/json"),
            Route::Page => match &self.page {
                Some(html) => page(html.clone()),
                None => Answer::not_found("this server has no page: start it with --ui FILE"),
            },
        })
    }

    fn leases<'a>(&'a self, namespace: &'a str) -> Option<Leases<'a>> {
        self.brokers.get(namespace).map(|broker| Leases { broker, namespace })
    }

    fn without_leases(&self, namespace: &str) -> Answer {
        if !self.namespaces.contains_key(namespace) {
            return self.unknown(namespace);
        }
        Answer::not_found(&format!(
            "this server grants no leases of namespace {namespace:?}: lease from its store, or serve a \
             namespace with blocks"
        ))
    }

    /// Whether every namespace can issue IDs and every broker can grant leases now.
    #[cfg(feature = "grpc")]
    pub(crate) fn is_ready(&self) -> bool {
        self.namespaces.values().all(|of| reads::readiness(&of.generator).ready)
            && self.brokers.values().all(|of| reads::broker_readiness(of).ready)
    }

    fn readiness(&self) -> Answer {
        let namespaces = self.namespaces.iter();
        let namespaces: BTreeMap<_, _> =
            namespaces.map(|(name, of)| (name, reads::readiness(&of.generator))).collect();
        let brokers = self.brokers.iter();
        let brokers: BTreeMap<_, _> =
            brokers.map(|(name, of)| (name, reads::broker_readiness(of))).collect();
        let is_ready = namespaces.values().all(|namespace| namespace.ready)
            && brokers.values().all(|broker| broker.ready);
        let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        Answer::json(status, &reads::ReadinessOfAll { namespaces, brokers })
    }

    fn unknown(&self, namespace: &str) -> Answer {
        match self.unknown_namespace_message(namespace) {
            Ok(message) => Answer::not_found(&message),
            Err(error) => error.into(),
        }
    }

    fn unknown_namespace_message(&self, namespace: &str) -> Result<String, Error> {
        Namespace::check_name(namespace)?;
        let mut known: Vec<_> = self.namespaces.keys().map(String::as_str).collect();
        known.extend(
            self.brokers
                .keys()
                .filter(|name| !self.namespaces.contains_key(*name))
                .map(String::as_str),
        );
        let known = known.join(", ");
        Ok(format!("this server has no namespace {namespace:?}; it serves: {known}"))
    }
}

fn unauthorized() -> Answer {
    let answer = Answer::http(
        StatusCode::UNAUTHORIZED,
        "HTTP_UNAUTHORIZED",
        "send a token that this server accepts: Authorization: Bearer TOKEN",
    );
    answer.with(WWW_AUTHENTICATE, "Bearer realm=\"flakeid\"")
}

/// Serves the web page. These headers set the directives that a `<meta>` tag cannot, such as
/// `frame-ancestors`; the page's `<meta>` tag sets the rest of its policy.
fn page(html: Bytes) -> Answer {
    Answer::text(html, "text/html; charset=utf-8")
        .with(CONTENT_SECURITY_POLICY, "frame-ancestors 'none'")
        .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .with(REFERRER_POLICY, "no-referrer")
}

fn not_allowed(route: &Route<'_>) -> Answer {
    let message = if route.issues() {
        "request IDs with POST: a cache may return the response to a GET to two clients"
    } else if route.is_read_only() {
        "this path is read-only: use GET"
    } else {
        "this path does not support the method: the header Allow lists the supported ones"
    };
    let answer = Answer::http(StatusCode::METHOD_NOT_ALLOWED, "HTTP_METHOD_NOT_ALLOWED", message);
    answer.with(ALLOW, route.allowed())
}
