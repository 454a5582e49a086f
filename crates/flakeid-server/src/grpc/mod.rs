//! The gRPC server, which serves connections and forwards each call to its service.

mod frames;
mod health;
mod ids;
mod messages;
mod refusal;
mod streams;
mod unread;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io::Cursor;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited as BoundedBody};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tonic::Code;
use tonic::body::Body;
use tonic::codegen::Service as Called;
use tonic::server::NamedService;
use tonic_health::pb::health_server::HealthServer;

use crate::admission::delay;
use crate::connection::{
    Connection, Guarded, Phase, Phases, Serving, Shared, encrypted, has_reached, reached,
};
use crate::connections::{Busy, State};
use crate::rate::Peer;
use crate::service::Service;
use frames::Limited;
use health::Readiness;
use ids::IdCalls;
use messages::IdsServer;
use refusal::{rejection, status};
use streams::OfConnection;
pub(crate) use streams::{STREAMS, STREAMS_OF_CLIENT, WAITING_CALLS};
use unread::{Calls, Offering};

pub use messages::{IdsClient, NextRequest, NextResponse, StreamRequest, StreamResponse};

/// The preface of an HTTP/2 connection, which the client must send first.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The largest number of concurrent calls per connection. A client delays further calls until an earlier call ends.
pub(crate) const MOST_CALLS: u32 = 100;

/// The maximum total size of a request's headers, in bytes.
pub(crate) const LONGEST_HEAD: u32 = 16 * 1_024;

/// The maximum length of a client's message, in bytes. A message contains a namespace and the number of IDs or, for
/// reflection, the name of a symbol.
pub(crate) const LONGEST_MESSAGE: usize = 4_096;

/// The path of the only call that does not require a token. `Watch` requires a token, because each watching client uses
/// memory.
const CHECK: &str = "/grpc.health.v1.Health/Check";

type Answer = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;
type Answers = Box<dyn Fn(Request<Incoming>) -> Answer + Send + Sync>;

/// The gRPC services of one listener, indexed by service name.
pub(crate) struct Services {
    service: Arc<Service>,
    by_name: BTreeMap<&'static str, Answers>,
}

impl Services {
    #[expect(
        clippy::expect_used,
        reason = "the descriptors are compiled in, and every test would fail if they were invalid"
    )]
    pub(crate) fn new(service: &Arc<Service>, phases: &Phases) -> Self {
        let services = Self { service: Arc::clone(service), by_name: BTreeMap::new() };
        let ids = IdsServer::new(IdCalls::new(Arc::clone(service)));
        let readiness = Readiness::new(Arc::clone(service), phases.clone());
        let services = services
            .with(ids.max_decoding_message_size(LONGEST_MESSAGE))
            .with(HealthServer::new(readiness).max_decoding_message_size(LONGEST_MESSAGE));
        let reflection = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(messages::DESCRIPTORS)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        };
        // Both versions of the reflection service are registered, because newer clients use v1 and older clients use
        // v1alpha.
        let (newer, older) = (reflection().build_v1(), reflection().build_v1alpha());
        services
            .with(newer.expect("descriptors").max_decoding_message_size(LONGEST_MESSAGE))
            .with(older.expect("descriptors").max_decoding_message_size(LONGEST_MESSAGE))
    }

    fn with<S>(mut self, server: S) -> Self
    where
        S: NamedService + Clone + Send + Sync + 'static,
        S: Called<Request<Incoming>, Response = Response<Body>, Error = Infallible>,
        S::Future: Send + 'static,
    {
        let call = move |request| {
            let called = server.clone().call(request);
            let answer: Answer = Box::pin(async {
                let Ok(response) = called.await;
                response
            });
            answer
        };
        self.by_name.insert(S::NAME, Box::new(call));
        self
    }

    async fn respond(
        &self,
        state: Arc<State>,
        peer: Option<Peer>,
        names: Arc<[String]>,
        mut request: Request<Incoming>,
    ) -> Response<Body> {
        let began = Instant::now();
        let path = request.uri().path();
        let name = path.split('/').nth(1).unwrap_or_default().to_owned();
        let refused = |code, name: &'static str, text: &str| {
            self.service.count_request("none", name, began);
            status(code, name, text, None).into_http()
        };
        if !is_grpc(request.headers()) {
            self.service.count_request("none", "HTTP_UNSUPPORTED_MEDIA_TYPE", began);
            // The connection detects a mismatch between `content-length` and the body only while the body is read.
            drop(BoundedBody::new(request, LONGEST_MESSAGE).collect().await);
            return unsupported_media_type();
        }
        if path != CHECK {
            let peer = self.service.proxies.client(peer, request.headers());
            let client = self.service.client_of(request.headers(), &names);
            match self.service.admit(peer, client, None, false) {
                Err(rejected) => {
                    if delay(&rejected).await {
                        state.close();
                    }
                    let (name, status) = rejection(rejected);
                    self.service.count_request("none", name, began);
                    return status.into_http();
                }
                Ok(caller) => {
                    state.accept(began);
                    request.extensions_mut().insert(caller);
                }
            }
        }
        let Some(answer) = self.by_name.get(&*name) else {
            let known: Vec<_> = self.by_name.keys().copied().collect();
            let text = format!("unknown service; this server provides: {}", known.join(", "));
            return refused(Code::Unimplemented, "HTTP_NOT_FOUND", &text);
        };
        answer(request).await
    }
}

/// Whether a request is a gRPC call, according to its content type.
fn is_grpc(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

/// Returns the response to a request that is not a gRPC call. The gRPC specification for HTTP/2 recommends status 415.
/// See <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>.
fn unsupported_media_type() -> Response<Body> {
    let text = "this address serves only gRPC: send the content type application/grpc, or send HTTP requests to the \
                address of --listen\n";
    let mut response = Response::new(Body::new(Full::new(Bytes::from_static(text.as_bytes()))));
    *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

impl fmt::Debug for Services {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.by_name.keys()).finish()
    }
}

/// Serves a connection until the client or the server ends the connection. A client may keep the connection open
/// between calls, but must respond to the server's pings. A connection with no traffic except pings counts as idle.
pub(crate) async fn serve(connection: Connection, shared: Shared, services: Arc<Services>) {
    let Some(connection) = encrypted(connection, &shared).await else { return };
    let Connection { mut stream, peer, names, slot } = connection;
    let (mut phases, idle_timeout) = (shared.phases, shared.idle_timeout);
    let mut preface = [0; PREFACE.len()];
    let begins = tokio::select! {
        // Without this timeout, a client could take arbitrarily long to send its preface.
        read = timeout(idle_timeout, stream.read_exact(&mut preface)) => matches!(read, Ok(Ok(_))),
        () = slot.must_end(idle_timeout) => false,
        () = reached(&mut phases, Phase::Closing) => false,
    };
    if !begins || preface != *PREFACE {
        return drop(timeout(idle_timeout, stream.shutdown()).await);
    }
    let (rest, write) = tokio::io::split(stream);
    let rest = Limited::new(rest, &slot.state);
    let stream = tokio::io::join(Cursor::new(*PREFACE).chain(rest), write);
    let state = Arc::clone(&slot.state);
    let streams = OfConnection::default();
    let respond = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(streams.clone());
        let (services, state) = (Arc::clone(&services), Arc::clone(&state));
        let names = Arc::clone(&names);
        async move {
            let busy = Busy::new(&state);
            let response = services.respond(state, peer, names, request).await;
            Ok::<_, Infallible>(response.map(|body| Offering(Guarded { body, _busy: busy })))
        }
    });
    let connection = Builder::new(Calls { timeout: shared.write_timeout })
        .timer(TokioTimer::new())
        .keep_alive_interval(idle_timeout)
        .keep_alive_timeout(idle_timeout)
        .max_concurrent_streams(MOST_CALLS)
        .max_header_list_size(LONGEST_HEAD)
        // The send buffer is limited, because the server would otherwise buffer too much of a response to a slow
        // client. Each call also buffers one piece of IDs.
        .max_send_buf_size(16 * 1_024)
        .serve_connection(TokioIo::new(stream), respond);
    // A connection that begins in the second half of the drain comes from a load balancer that still uses this server.
    // The server serves this connection until the drain ends.
    let is_late = *phases.borrow() >= Phase::Leaving;
    let last = if is_late { Phase::Closing } else { Phase::Leaving };
    Serving::new(connection, slot, has_reached(phases, last), idle_timeout).await;
}
