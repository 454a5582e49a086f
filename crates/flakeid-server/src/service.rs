//! What is answered to a request.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flakeid_core::{Error, Layout};
use flakeid_lease::AnyGenerator;
use flakeid_lease::protocol::Namespace;
use hyper::header::{ALLOW, WWW_AUTHENTICATE};
use hyper::{Request, Response, StatusCode};

use crate::answer::Answer;
use crate::body::{Body, Pieces};
use crate::forms::Form;
use crate::id_json::layout_name;
use crate::metrics::Metrics;
use crate::query::{number, parameters};
use crate::reads;
use crate::route::Route;
use crate::tokens::Tokens;

const OPEN_API: &str = include_str!("openapi.json");

/// Generators by their namespaces, and how much one request may ask of them. Mounted by any server
/// of hyper's; [`Server`](crate::Server) is one.
#[derive(Debug)]
pub struct Service {
    generators: Arc<BTreeMap<String, AnyGenerator>>,
    tokens: Tokens,
    max_count: u64,
    max_wait: Duration,
    metrics: Metrics,
}

impl Default for Service {
    fn default() -> Self {
        Self::new()
    }
}

impl Service {
    /// Nothing yet: at most 100,000 IDs per request, and a second of waiting for them.
    #[must_use]
    pub fn new() -> Self {
        let generators = Arc::default();
        let metrics = Metrics::new(&generators);
        let (max_count, max_wait) = (100_000, Duration::from_secs(1));
        Self { generators, tokens: Tokens::default(), max_count, max_wait, metrics }
    }

    /// Answers for a namespace with IDs of this generator. Counts begin again.
    #[must_use]
    pub fn namespace(mut self, name: &str, generator: impl Into<AnyGenerator>) -> Self {
        let mut generators = (*self.generators).clone();
        generators.insert(name.to_owned(), generator.into());
        self.generators = Arc::new(generators);
        self.metrics = Metrics::new(&self.generators);
        self
    }

    /// Every request but for the server's health must show one of these tokens.
    #[must_use]
    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = tokens;
        self
    }

    /// The most IDs that one request gets. More are refused, never cut short.
    #[must_use]
    pub const fn max_count(mut self, max_count: u64) -> Self {
        self.max_count = max_count;
        self
    }

    /// How long a request waits at most for each 4,096 of its IDs.
    #[must_use]
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.max_wait = max_wait;
        self
    }

    /// Whether requests must show a token.
    #[must_use]
    pub fn requires_tokens(&self) -> bool {
        self.tokens.are_required()
    }

    /// Ends all generators, and gives leased nodes back.
    pub fn close(&self) {
        self.generators.values().for_each(AnyGenerator::close);
    }

    /// Answers a request. Its body is not read: nothing here needs one.
    pub async fn respond<B>(&self, request: &Request<B>) -> Response<Body> {
        let began = Instant::now();
        let route = Route::parse(request.uri().path());
        let operation = route.as_ref().map_or("none", Route::operation);
        let answer = match route {
            None => not_found("this path; /openapi.json lists those that there are"),
            Some(route) if !route.is_public() && !self.admits(request) => unauthorized(),
            Some(route) if !route.allows(request.method()) => not_allowed(&route),
            Some(route) => self.answer(&route, request).await.unwrap_or_else(Answer::from),
        };
        self.metrics.count_request(operation, answer.code, began.elapsed());
        answer.response
    }

    fn admits<B>(&self, request: &Request<B>) -> bool {
        !self.tokens.are_required() || self.tokens.admit(request.headers())
    }

    async fn answer<B>(&self, route: &Route<'_>, request: &Request<B>) -> Result<Answer, Error> {
        let query = request.uri().query();
        match *route {
            Route::Ids { namespace } => {
                let Some(generator) = self.generators.get(namespace) else {
                    return Ok(self.unknown(namespace));
                };
                self.issue(namespace, generator, request).await
            }
            Route::Id { namespace, id } => {
                let Some(layout) = self.layout(namespace) else {
                    return Ok(self.unknown(namespace));
                };
                let [] = parameters(query, [])?;
                let name = layout_name(layout);
                Ok(Answer::json(StatusCode::OK, &reads::inspect(layout, &name, id)?))
            }
            Route::Bounds { namespace } => {
                let Some(layout) = self.layout(namespace) else {
                    return Ok(self.unknown(namespace));
                };
                Ok(Answer::json(StatusCode::OK, &reads::bounds(layout, query)?))
            }
            Route::Layout { namespace } => {
                let Some(layout) = self.layout(namespace) else {
                    return Ok(self.unknown(namespace));
                };
                let [] = parameters(query, [])?;
                Ok(Answer::json(StatusCode::OK, &reads::layout(layout)))
            }
            Route::Live => Ok(Answer::text("ok\n", "text/plain")),
            Route::Ready => Ok(self.readiness()),
            Route::Metrics => Ok(match self.metrics.to_text() {
                Ok(text) => {
                    Answer::text(text, "application/openmetrics-text; version=1.0.0; charset=utf-8")
                }
                Err(error) => Answer::http(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "HTTP_INTERNAL",
                    &format!("the metrics cannot be written: {error}"),
                ),
            }),
            Route::OpenApi => Ok(Answer::text(OPEN_API, "application/json")),
        }
    }

    /// IDs: in one piece if they are few.
    async fn issue<B>(
        &self,
        namespace: &str,
        generator: &AnyGenerator,
        request: &Request<B>,
    ) -> Result<Answer, Error> {
        let [count] = parameters(request.uri().query(), ["count"])?;
        let count = match count.as_deref() {
            None => 1,
            Some(text) => match number("count", text, 1, self.max_count) {
                Err(error) if error.field().is_some() => {
                    return Ok(Answer::from_error(&error, StatusCode::PAYLOAD_TOO_LARGE));
                }
                count => count?,
            },
        };
        let Some(form) = Form::accepted(request.headers()) else {
            return Ok(Answer::http(
                StatusCode::NOT_ACCEPTABLE,
                "HTTP_NOT_ACCEPTABLE",
                "IDs can be had as application/json, application/x-ndjson, text/plain and \
                 application/octet-stream; name one of them in the header Accept",
            ));
        };
        let mut pieces = Pieces::new(generator.clone(), form, count, self.max_wait);
        let body = match pieces.begin().await? {
            Some(whole) => Body::whole(whole),
            None => Body::pieces(pieces),
        };
        self.metrics.count_ids(namespace, count);
        Ok(Answer::new(StatusCode::OK, form.media_type(), body))
    }

    fn readiness(&self) -> Answer {
        let all: BTreeMap<_, _> =
            self.generators.iter().map(|(name, of)| (name, reads::readiness(of))).collect();
        let status = if all.values().all(|namespace| namespace.ready) {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        Answer::json(status, &BTreeMap::from([("namespaces", all)]))
    }

    fn layout(&self, namespace: &str) -> Option<&Layout> {
        self.generators.get(namespace).map(AnyGenerator::layout)
    }

    fn unknown(&self, namespace: &str) -> Answer {
        if let Err(error) = Namespace::check_name(namespace) {
            return error.into();
        }
        let known: Vec<_> = self.generators.keys().map(String::as_str).collect();
        not_found(&format!("namespace {namespace:?} here; served: {}", known.join(", ")))
    }
}

fn not_found(what: &str) -> Answer {
    Answer::http(StatusCode::NOT_FOUND, "HTTP_NOT_FOUND", &format!("there is no {what}"))
}

fn unauthorized() -> Answer {
    let answer = Answer::http(
        StatusCode::UNAUTHORIZED,
        "HTTP_UNAUTHORIZED",
        "send a token that this server knows: Authorization: Bearer TOKEN",
    );
    answer.with(WWW_AUTHENTICATE, "Bearer realm=\"flakeid\"")
}

fn not_allowed(route: &Route<'_>) -> Answer {
    let message = match route {
        Route::Ids { .. } => {
            "ask for IDs with POST: a cache may give the answer to a GET to two clients"
        }
        _ => "this can only be read: ask with GET",
    };
    let answer = Answer::http(StatusCode::METHOD_NOT_ALLOWED, "HTTP_METHOD_NOT_ALLOWED", message);
    answer.with(ALLOW, route.allowed())
}
