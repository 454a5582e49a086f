//! What is answered to a request.

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

/// Generators by their namespaces, and how much one request may ask of them. Any server of hyper's
/// can mount it; [`Server`](crate::Server) is one.
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
    /// Answers for each namespace with IDs of its generator: at most 100,000 per request, with at
    /// most a second of waiting for each 4,096 of them.
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

    /// Grants leases too, each broker those of its namespace.
    #[must_use]
    pub fn brokers(mut self, brokers: impl IntoIterator<Item = Broker>) -> Self {
        let named = brokers.into_iter().map(|broker| (broker.namespace().name.clone(), broker));
        self.brokers = named.collect();
        self.metrics.watch_brokers(&self.brokers);
        self
    }

    /// Every request but for the server's health must show one of these tokens.
    #[must_use]
    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = tokens;
        self
    }

    /// Lets web pages of these origins ask, and read the answers.
    #[must_use]
    pub fn origins(mut self, origins: Origins) -> Self {
        self.origins = origins;
        self
    }

    /// Serves this HTML document at `/ui`, to everybody: it must not need a token, and nothing of it is secret.
    /// `cargo xtask page` makes one that explains IDs.
    #[must_use]
    pub fn page(mut self, html: impl Into<Bytes>) -> Self {
        self.page = Some(html.into());
        self
    }

    /// The most IDs that one request gets. More are refused, never cut short.
    #[must_use]
    pub const fn max_count(mut self, max_count: u64) -> Self {
        self.limits.max_count = max_count;
        self
    }

    /// The most IDs that one client gets in a second, all namespaces together: one address or, of IPv6, one
    /// network of 64 bits. What it gets in a second it may have at once; who asks for more at a time has it,
    /// and waits for as long afterwards. There is no limit unless it is set.
    #[must_use]
    pub fn rate_limit(mut self, ids_per_second: u64) -> Self {
        let rates = Arc::new(RateLimiter::new(ids_per_second, Instant::now()));
        for served in self.namespaces.values_mut() {
            served.rates = Some(Arc::clone(&rates));
        }
        self
    }

    /// How long a request waits at most for each 4,096 of its IDs.
    #[must_use]
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.limits.max_wait = max_wait;
        self
    }

    /// Whether requests must show a token.
    #[must_use]
    pub fn requires_tokens(&self) -> bool {
        self.tokens.are_required()
    }

    /// Ends all generators and brokers, and gives leased nodes and blocks back.
    pub fn close(&self) {
        self.namespaces.values().for_each(|served| served.generator.close());
        self.brokers.values().for_each(|broker| broker.close(Duration::from_secs(2)));
    }

    /// Answers a request.
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
            (None, _) => Answer::not_found("there is no such path; /openapi.json lists the paths"),
            (Some(route), _) if !route.is_public() && !self.admits(&request) => unauthorized(),
            (Some(route), _) if !route.allows(request.method()) => not_allowed(&route),
            (Some(route), _) => self.answer(&route, request).await.unwrap_or_else(Answer::from),
        };
        let ended = Instant::now();
        if answer.response.body().is_whole() {
            self.turns.note_short(ended);
        }
        sharing.mark(&mut answer.response);
        self.metrics.count_request(operation, answer.code, ended - began);
        answer.response
    }

    /// IDs for a client that speaks another protocol than HTTP; at most as many as a request gets.
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
            return Err(match self.why_unknown(namespace) {
                Ok(message) => NoIds::Unknown(message),
                Err(error) => NoIds::Refused(error),
            });
        };
        served.take_share(count, peer).map_err(NoIds::TooMany)?;
        Ok(served.pieces(count, self.limits))
    }

    /// Counts IDs whose answer has begun.
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

    /// Whether this token is one of those that clients must show.
    pub(crate) fn admits_token(&self, token: &[u8]) -> bool {
        self.tokens.admit_token(token)
    }

    /// Notes that a connection could not be accepted.
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
                    &format!("the metrics cannot be written: {error}"),
                ),
            },
            Route::OpenApi => Answer::text(OPEN_API, "application/json"),
            Route::Page => match &self.page {
                Some(html) => page(html.clone()),
                None => Answer::not_found(
                    "this server has no page: start it with --ui and the page's file",
                ),
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
             namespace of blocks"
        ))
    }

    /// Whether every namespace can issue IDs, and every broker grant leases, now.
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
        match self.why_unknown(namespace) {
            Ok(message) => Answer::not_found(&message),
            Err(error) => error.into(),
        }
    }

    fn why_unknown(&self, namespace: &str) -> Result<String, Error> {
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
        "send a token that this server knows: Authorization: Bearer TOKEN",
    );
    answer.with(WWW_AUTHENTICATE, "Bearer realm=\"flakeid\"")
}

/// What the page itself cannot forbid; the rest of its policy is in it.
fn page(html: Bytes) -> Answer {
    Answer::text(html, "text/html; charset=utf-8")
        .with(CONTENT_SECURITY_POLICY, "frame-ancestors 'none'")
        .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .with(REFERRER_POLICY, "no-referrer")
}

fn not_allowed(route: &Route<'_>) -> Answer {
    let message = if route.issues() {
        "ask for IDs with POST: a cache may give the answer to a GET to two clients"
    } else if route.is_read_only() {
        "this can only be read: use GET"
    } else {
        "this path has other methods: the header Allow names them"
    };
    let answer = Answer::http(StatusCode::METHOD_NOT_ALLOWED, "HTTP_METHOD_NOT_ALLOWED", message);
    answer.with(ALLOW, route.allowed())
}
