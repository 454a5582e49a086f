//! IDs over gRPC: connections, and which service a request is for.

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
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::timeout;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Service as Called;
use tonic::server::NamedService;
use tonic_health::pb::health_server::HealthServer;

use crate::connection::encrypted;
use crate::listener::Stream;
use crate::rate::Peer;
use crate::service::Service;
use crate::tls::TlsSettings;
use health::Readiness;
use ids::IdCalls;

use messages::IdsServer;

pub use messages::{IdsClient, NextRequest, NextResponse, StreamRequest, StreamResponse};

/// What a client sends first.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How many calls of one connection are served at a time; its client keeps others back.
const MOST_CALLS: u32 = 100;

/// The longest head of a request, in bytes.
const LONGEST_HEAD: u32 = 16 * 1_024;

/// The longest message that a client may send, in bytes: a namespace and a number, or a name that is looked for.
const LONGEST_MESSAGE: usize = 4_096;

type Answer = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;
type Answers = Box<dyn Fn(Request<Incoming>) -> Answer + Send + Sync>;

/// Every service of one listener, by name.
pub(crate) struct Services {
    service: Arc<Service>,
    by_name: BTreeMap<&'static str, Answers>,
    is_ending: watch::Receiver<bool>,
}

impl Services {
    pub(crate) fn new(service: &Arc<Service>, is_ending: &watch::Receiver<bool>) -> Self {
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
        // Newer clients ask by the first name, older ones by the second.
        let reflection = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(messages::DESCRIPTORS)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        };
        let services = match reflection().build_v1() {
            Ok(server) => services.with(server.max_decoding_message_size(LONGEST_MESSAGE)),
            Err(_) => services,
        };
        match reflection().build_v1alpha() {
            Ok(server) => services.with(server.max_decoding_message_size(LONGEST_MESSAGE)),
            Err(_) => services,
        }
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
        let name = request.uri().path().split('/').nth(1).unwrap_or_default();
        let is_public = name == HealthServer::<Readiness>::NAME;
        if !is_public && !self.service.admits(&request) {
            let text = "send a token that this server knows: authorization: Bearer TOKEN";
            return Status::unauthenticated(text).into_http();
        }
        let Some(answer) = self.by_name.get(name) else {
            let known: Vec<_> = self.by_name.keys().copied().collect();
            let text = format!("there is no such service; there are {}", known.join(", "));
            return Status::unimplemented(text).into_http();
        };
        answer(request).await
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.by_name.keys()).finish()
    }
}

/// Serves a connection until its client or the server ends it. Clients keep connections on which they ask for
/// nothing, and must answer to pings on them.
pub(crate) async fn serve(
    stream: Box<dyn Stream>,
    peer: Option<IpAddr>,
    tls: Option<TlsSettings>,
    services: Arc<Services>,
    idle_timeout: Duration,
) {
    let Some(mut stream) = encrypted(stream, tls, idle_timeout).await else { return };
    // Nothing else limits how long a client takes for it.
    let mut preface = [0; PREFACE.len()];
    match timeout(idle_timeout, stream.read_exact(&mut preface)).await {
        Ok(Ok(_)) if preface == *PREFACE => {}
        _ => return drop(timeout(idle_timeout, stream.shutdown()).await),
    }
    let (rest, write) = tokio::io::split(stream);
    let stream = tokio::io::join(PREFACE.chain(rest), write);
    let mut is_ending = services.is_ending.clone();
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
        // As much of an answer as is kept for a client that does not take it, besides one piece a call.
        .max_send_buf_size(64 * 1_024)
        .serve_connection(TokioIo::new(stream), respond);
    let mut connection = pin!(connection);
    // How it ends is the client's business: it may leave at any time.
    // The sender lives longer than the connection, or the process ends.
    let ending = async { drop(is_ending.wait_for(|is_ending| *is_ending).await) };
    tokio::select! {
        ended = connection.as_mut() => return drop(ended),
        () = ending => connection.as_mut().graceful_shutdown(),
    }
    drop(connection.await);
}
