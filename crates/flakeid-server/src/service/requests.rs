//! Routes HTTP requests and builds their responses.

use std::collections::BTreeMap;
use std::time::Instant;

use bytes::Bytes;
use flakeid_core::Error;
use hyper::body::Body as HttpBody;
use hyper::header::{
    ALLOW, CONNECTION, CONTENT_SECURITY_POLICY, REFERRER_POLICY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use tracing::field::display;
use tracing::info;

use super::{DEFAULT_MAX_COUNT, Service};
use crate::admission::{Caller, Rejected, delay};
use crate::answer::{Answer, FORBIDDEN, UNAUTHORIZED};
use crate::body::Body;
use crate::connections::State;
use crate::leases::Leases;
use crate::pages;
use crate::rate::Peer;
use crate::rate::TooMany;
use crate::reads;
use crate::route::{Resource, Route};
use crate::tokens::Denied;

const OPEN_API: &str = include_str!("../openapi.json");

impl Service {
    /// Responds to a request.
    pub async fn respond<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let peer = request.extensions().get().copied();
        self.respond_and_note(request, peer, &[], None).await
    }

    /// Responds to a request on one of the server's connections. If the request is permitted and its path is not
    /// public, marks the connection as accepted.
    pub(crate) fn respond_on<B>(
        &self,
        state: &State,
        peer: Option<Peer>,
        names: &[String],
        request: Request<B>,
    ) -> impl Future<Output = Response<Body>>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.respond_and_note(request, peer, names, Some(state))
    }

    /// Responds to a request on the admin listener, which serves only health checks and metrics.
    pub(crate) fn respond_to_admin<B>(&self, request: &Request<B>) -> Response<Body> {
        let route = Route::parse(request.uri().path());
        let answer = match route {
            Some(route @ (Route::Live | Route::Ready | Route::Metrics)) => {
                if route.allows(request.method()) {
                    self.answer_simple(&route, false)
                } else {
                    not_allowed(&route)
                }
            }
            _ => Answer::not_found("this address serves only /livez, /readyz and /metrics"),
        };
        answer.response
    }

    async fn respond_and_note<B>(
        &self,
        request: Request<B>,
        peer: Option<Peer>,
        names: &[String],
        state: Option<&State>,
    ) -> Response<Body>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let began = Instant::now();
        let (request, body) = request.into_parts();
        let peer = self.proxies.client(peer, &request.headers);
        let route = Route::parse(request.uri.path());
        let operation = route.as_ref().map_or("none", Route::operation);
        let preflight = self.origins.preflight(route.as_ref(), &request);
        let sharing = self.origins.sharing(&request.headers);
        let is_public = route.as_ref().is_none_or(Route::is_public);
        let refusal = self.refuse_page(is_public, &request).filter(|_| preflight.is_none());
        let mut answer = match preflight.or(refusal) {
            Some(answer) => answer,
            None => match self.admit_to(route.as_ref(), &request, peer, names) {
                Err(rejected) => Box::pin(self.reject(&rejected)).await,
                Ok(caller) => {
                    let answer = self.answer(route, &caller, names, state, &request, body).await;
                    answer.unwrap_or_else(Answer::from)
                }
            },
        };
        let ended = Instant::now();
        if answer.response.body().is_whole() {
            self.pacing.record_short(ended);
        }
        if self.logs_access {
            let status = answer.response.status().as_u16();
            let (method, path, took) = (&request.method, request.uri.path(), ended - began);
            let peer = peer.map(display);
            info!(target: "access", %method, path, status, code = answer.code, ?took, peer);
        }
        sharing.mark(&mut answer.response);
        self.metrics.count_request(operation, answer.code, ended - began);
        answer.response
    }

    /// Admits a request, unless its path is public.
    fn admit_to(
        &self,
        route: Option<&Route<'_>>,
        request: &Parts,
        peer: Option<Peer>,
        names: &[String],
    ) -> Result<Caller, Rejected> {
        if route.is_some_and(Route::is_public) {
            return Ok(Caller { peer, client: None });
        }
        let need = route.and_then(|route| route.need(&request.method));
        let client = match need {
            Some(_) => self.client_of(&request.headers, names),
            None => Ok(None),
        };
        let acquires = request.method == Method::POST
            && matches!(route, Some(Route::OfNamespace { resource: Resource::Leases, .. }));
        self.admit(peer, client, need, acquires)
    }

    async fn reject(&self, rejected: &Rejected) -> Answer {
        let closes = delay(rejected).await;
        let answer = match rejected {
            Rejected::TooMany(TooMany { message, wait })
            | Rejected::Guess(TooMany { message, wait }) => Answer::too_many(message, *wait),
            Rejected::Denied(denied @ Denied::Forbidden { .. }) => {
                Answer::http(StatusCode::FORBIDDEN, FORBIDDEN, &denied.to_string())
            }
            Rejected::Denied(denied) => unauthorized(&denied.to_string()),
        };
        if closes { answer.with(CONNECTION, "close") } else { answer }
    }

    /// Returns an error response if the request may come from a web page that the operator has not allowed.
    fn refuse_page(&self, is_public: bool, request: &Parts) -> Option<Answer> {
        let refused = pages::refuse_ambiguous_host(request);
        if is_public || refused.is_some() {
            return refused;
        }
        if self.loopback_names_only
            && !self.requires_tokens()
            && let Some(refused) = pages::refuse_other_hosts(request)
        {
            return Some(refused);
        }
        pages::refuse_foreign_page(&self.origins, request)
    }

    async fn answer<B>(
        &self,
        route: Option<Route<'_>>,
        caller: &Caller,
        names: &[String],
        state: Option<&State>,
        request: &Parts,
        body: B,
    ) -> Result<Answer, Error>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let Some(route) = route else {
            return Ok(Answer::not_found("unknown path; /openapi.json lists the paths"));
        };
        if !route.allows(&request.method) {
            return Ok(not_allowed(&route));
        }
        if let Some(state) = state.filter(|_| !route.is_public()) {
            state.accept(Instant::now());
        }
        // The large futures are boxed, because hyper moves the future of each request.
        Ok(match route {
            Route::OfNamespace { namespace, resource: Resource::Leases } => {
                match self.leases(namespace, caller) {
                    Some(leases) => return Box::pin(leases.answer_all(request, body)).await,
                    None => self.without_leases(namespace),
                }
            }
            Route::OfNamespace { namespace, resource: Resource::Lease(node) } => {
                match self.leases(namespace, caller) {
                    Some(leases) => {
                        return Box::pin(leases.answer_one(node, request, body)).await;
                    }
                    None => self.without_leases(namespace),
                }
            }
            Route::OfNamespace { namespace, resource: Resource::Holder(id) } => {
                match self.leases(namespace, caller) {
                    Some(leases) => {
                        let query = request.uri.query();
                        return Box::pin(leases.holder(id, query, &self.reads)).await;
                    }
                    None => self.without_leases(namespace),
                }
            }
            Route::OfNamespace { namespace, resource } => {
                let Some(served) = self.namespaces.get(namespace) else {
                    return Ok(self.unknown(namespace));
                };
                return served.answer(resource, request, caller, self.limits).await;
            }
            Route::Live | Route::Ready | Route::Metrics | Route::OpenApi | Route::Page => {
                let client = self.client_of(&request.headers, names);
                self.answer_simple(&route, client.is_ok())
            }
        })
    }

    /// Responds to a request for a fixed path, such as `/readyz`. Only an admitted client gets error messages, because
    /// the messages can contain the address and the user name of the store.
    fn answer_simple(&self, route: &Route<'_>, is_admitted: bool) -> Answer {
        match route {
            Route::Live => Answer::text("ok\n", "text/plain"),
            Route::Ready => self.readiness(is_admitted),
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
            Route::OpenApi => {
                let limit = |count: u64| format!("\"maximum\": {count},");
                let limits = (limit(DEFAULT_MAX_COUNT), limit(self.limits.max_count));
                Answer::text(OPEN_API.replace(&limits.0, &limits.1), "application/json")
            }
            Route::Page => match &self.page {
                Some(html) => page(html.clone()),
                None => Answer::not_found(
                    "this server does not serve a web page: start the server with --ui FILE",
                ),
            },
            Route::OfNamespace { .. } => Answer::not_found("unknown path"),
        }
    }

    fn leases<'a>(&'a self, namespace: &'a str, caller: &Caller) -> Option<Leases<'a>> {
        let quotas = &self.quotas;
        let leases = |broker| Leases { broker, namespace, quotas, sender: caller.sender() };
        self.brokers.get(namespace).map(leases)
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

    fn readiness(&self, with_messages: bool) -> Answer {
        let namespaces = self.namespaces.iter();
        let namespaces: BTreeMap<_, _> = namespaces
            .map(|(name, of)| (name, reads::readiness(&of.generator).shown(with_messages)))
            .collect();
        let brokers = self.brokers.iter();
        let brokers: BTreeMap<_, _> = brokers
            .map(|(name, of)| (name, reads::broker_readiness(of).shown(with_messages)))
            .collect();
        let draining = self.is_draining();
        let is_ready = !draining
            && namespaces.values().all(|namespace| namespace.ready)
            && brokers.values().all(|broker| broker.ready);
        let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        Answer::json(status, &reads::ReadinessOfAll { draining, namespaces, brokers })
    }

    fn unknown(&self, namespace: &str) -> Answer {
        match self.unknown_namespace_message(namespace) {
            Ok(message) => Answer::not_found(&message),
            Err(error) => error.into(),
        }
    }
}

fn unauthorized(message: &str) -> Answer {
    let answer = Answer::http(StatusCode::UNAUTHORIZED, UNAUTHORIZED, message);
    answer.with(WWW_AUTHENTICATE, "Bearer realm=\"flakeid\"")
}

/// Returns the response that contains the web page. The page's `<meta>` tag sets the content security policy, except
/// the directive `frame-ancestors`, which only a header can set.
fn page(html: Bytes) -> Answer {
    Answer::text(html, "text/html; charset=utf-8")
        .with(CONTENT_SECURITY_POLICY, "frame-ancestors 'none'")
        .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .with(REFERRER_POLICY, "no-referrer")
}

fn not_allowed(route: &Route<'_>) -> Answer {
    let message = if route.issues() {
        "request IDs with POST: a cache may send the same GET response to two clients"
    } else if route.is_read_only() {
        "this path is read-only: use GET"
    } else {
        "this path does not support the method: the `Allow` header lists the supported methods"
    };
    let answer = Answer::http(StatusCode::METHOD_NOT_ALLOWED, "HTTP_METHOD_NOT_ALLOWED", message);
    answer.with(ALLOW, route.allowed())
}
