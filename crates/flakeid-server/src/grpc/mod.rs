//! IDs over gRPC: accepts connections, and dispatches requests to services.

mod health;
mod ids;
mod messages;
mod refusal;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tonic::Code;
use tonic::body::Body;
use tonic::codegen::Service as Called;
use tonic::server::NamedService;
use tonic_health::pb::health_server::HealthServer;

use crate::connection::{EndWatch, encrypted, ended};
use crate::listener::Stream;
use crate::rate::Peer;
use crate::service::Service;
use crate::tls::TlsSettings;
use health::Readiness;
use ids::IdCalls;
use messages::IdsServer;
use refusal::status;

pub use messages::{IdsClient, NextRequest, NextResponse, StreamRequest, StreamResponse};

/// The bytes that a client sends first.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The largest number of concurrent calls per connection; its client delays further calls.
const MOST_CALLS: u32 = 100;

/// The longest head of a request, in bytes.
const LONGEST_HEAD: u32 = 16 * 1_024;

/// The longest message that a client may send, in bytes. It contains a namespace and a number, or
/// the name of a symbol.
const LONGEST_MESSAGE: usize = 4_096;

/// The only call that requires no token. Watching the health takes memory, so it requires one.
const CHECK: &str = "/grpc.health.v1.Health/Check";

type Answer = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;
type Answers = Box<dyn Fn(Request<Incoming>) -> Answer + Send + Sync>;

/// All services of one listener by name.
pub(crate) struct Services {
    service: Arc<Service>,
    by_name: BTreeMap<&'static str, Answers>,
    is_ending: EndWatch,
}

impl Services {
    #[expect(
        clippy::expect_used,
        reason = "the descriptors are compiled in, and every test would fail if they were invalid"
    )]
    pub(crate) fn new(service: &Arc<Service>, is_ending: &EndWatch) -> Self {
        let services = Self {
            service: Arc::clone(service),
            by_name: BTreeMap::new(),
            is_ending: is_ending.clone(),
        };
        let ids = IdsServer::new(IdCalls(Arc::clone(service)));
        let readiness = Readiness::new(Arc::clone(service), is_ending.clone());
        let services = services
            .with(ids.max_decoding_message_size(LONGEST_MESSAGE))
            .with(HealthServer::new(readiness).max_decoding_message_size(LONGEST_MESSAGE));
        let reflection = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(messages::DESCRIPTORS)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        };
        // Newer clients use the first name of the service, older ones the second.
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

    async fn respond(&self, request: Request<Incoming>) -> Response<Body> {
        let began = Instant::now();
        let path = request.uri().path();
        let name = path.split('/').nth(1).unwrap_or_default();
        let refused = |code, name: &'static str, text: &str| {
            self.service.count_request("none", name, began);
            status(code, name, text, None).into_http()
        };
        if path != CHECK && !self.service.admits(&request) {
            let text = "send a token that this server accepts: authorization: Bearer TOKEN";
            return refused(Code::Unauthenticated, "HTTP_UNAUTHORIZED", text);
        }
        let Some(answer) = self.by_name.get(name) else {
            let known: Vec<_> = self.by_name.keys().copied().collect();
            let text = format!("unknown service; this server has: {}", known.join(", "));
            return refused(Code::Unimplemented, "HTTP_NOT_FOUND", &text);
        };
        answer(request).await
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.by_name.keys()).finish()
    }
}

/// Serves a connection until its client or the server ends it. Clients keep connections without
/// calls open, and must respond to pings on them.
pub(crate) async fn serve(
    stream: Box<dyn Stream>,
    peer: Option<IpAddr>,
    tls: Option<TlsSettings>,
    services: Arc<Services>,
    idle_timeout: Duration,
) {
    let mut is_ending = services.is_ending.clone();
    let stream = encrypted(stream, tls, &mut is_ending, idle_timeout).await;
    let Some(mut stream) = stream else { return };
    let mut preface = [0; PREFACE.len()];
    let begins = tokio::select! {
        // Nothing else limits the time until a client has sent its preface.
        read = timeout(idle_timeout, stream.read_exact(&mut preface)) => matches!(read, Ok(Ok(_))),
        () = ended(&mut is_ending) => false,
    };
    if !begins || preface != *PREFACE {
        return drop(timeout(idle_timeout, stream.shutdown()).await);
    }
    let (rest, write) = tokio::io::split(stream);
    let stream = tokio::io::join(PREFACE.chain(rest), write);
    let respond = service_fn(move |mut request: Request<Incoming>| {
        let services = Arc::clone(&services);
        if let Some(peer) = peer {
            request.extensions_mut().insert(Peer(peer));
        }
        async move { Ok::<_, Infallible>(services.respond(request).await) }
    });
    let connection = Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(idle_timeout)
        .keep_alive_timeout(idle_timeout)
        .max_concurrent_streams(MOST_CALLS)
        .max_header_list_size(LONGEST_HEAD)
        // This limits the part of a response that is buffered for a slow client, in addition to one
        // piece per call.
        .max_send_buf_size(64 * 1_024)
        .serve_connection(TokioIo::new(stream), respond);
    let mut connection = pin!(connection);
    // Errors are ignored, because the client may close the connection at any time.
    tokio::select! {
        ended = connection.as_mut() => return drop(ended),
        () = ended(&mut is_ending) => connection.as_mut().graceful_shutdown(),
    }
    drop(connection.await);
}
