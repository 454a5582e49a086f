//! Tests of gRPC calls, errors and malformed input.

mod limits;

use std::collections::HashSet;
use std::future::Future;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::process::Command;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use flakeid_server::grpc::{IdsClient, NextRequest, StreamRequest};
use flakeid_server::{Listener, ServeOptions, Service, Tokens};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tonic::body::Body;
use tonic::codegen::tokio_stream::iter;
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::client::{TestServer, service};
use crate::secured::Certificates;

/// A connection for gRPC calls, with an optional `authorization` header.
#[derive(Clone)]
struct Channel {
    sender: SendRequest<Body>,
    authorization: Option<&'static str>,
}

impl tonic::codegen::Service<Request<Body>> for Channel {
    type Response = Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        self.sender.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        if let Some(token) = self.authorization {
            request.headers_mut().insert("authorization", token.parse().unwrap());
        }
        Box::pin(self.sender.send_request(request))
    }
}

/// A gRPC server, and the Tokio runtime on which the test's clients run.
struct Pair {
    server: TestServer,
    runtime: Runtime,
}

impl Pair {
    fn new(service: Service) -> Self {
        Self::with(service, ServeOptions::default())
    }

    fn with(service: Service, options: ServeOptions) -> Self {
        let grpc = Some(Listener::Tcp("127.0.0.1:0".parse().unwrap()));
        let server = TestServer::new(service, ServeOptions { grpc, ..options });
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        Self { server, runtime }
    }

    fn address(&self) -> SocketAddr {
        self.server.grpc.unwrap()
    }

    fn channel(&self) -> Channel {
        self.runtime.block_on(async {
            let stream = tokio::net::TcpStream::connect(self.address()).await.unwrap();
            over(stream).await.unwrap()
        })
    }

    fn ids(&self) -> Calls<'_> {
        Calls { client: client(self.channel()), runtime: &self.runtime }
    }
}

async fn over(
    stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
) -> Result<Channel, hyper::Error> {
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(Channel { sender, authorization: None })
}

fn client(channel: Channel) -> IdsClient<Channel> {
    IdsClient::with_origin(channel, "http://localhost".parse().unwrap())
}

/// A gRPC client whose methods block until they receive the result of the call.
struct Calls<'a> {
    client: IdsClient<Channel>,
    runtime: &'a Runtime,
}

impl Calls<'_> {
    fn next(&mut self, namespace: &str, count: Option<u32>) -> Result<Vec<u64>, Status> {
        let request = NextRequest { namespace: namespace.to_owned(), count };
        let response = self.runtime.block_on(self.client.next(request));
        Ok(response?.into_inner().ids)
    }

    /// Requests a stream of IDs, and returns the IDs of each message.
    fn stream(&mut self, namespace: &str, count: u64) -> Result<Vec<Vec<u64>>, Status> {
        let request = StreamRequest { namespace: namespace.to_owned(), count };
        self.runtime.block_on(async {
            let mut messages = self.client.stream(request).await?.into_inner();
            let mut all = Vec::new();
            while let Some(message) = messages.message().await? {
                all.push(message.ids);
            }
            Ok(all)
        })
    }
}

fn is_increasing(ids: &[u64]) -> bool {
    ids.windows(2).all(|pair| pair[0] < pair[1])
}

fn code(status: &Status) -> &str {
    status.metadata().get("flakeid-code").map_or("", |code| code.to_str().unwrap())
}

#[test]
fn grpc_returns_ids_in_one_message_or_a_stream() {
    let pair = Pair::new(service());
    let mut calls = pair.ids();
    assert_eq!(calls.next("default", None).unwrap().len(), 1);
    let ids = calls.next("default", Some(4_096)).unwrap();
    assert!(ids.len() == 4_096 && is_increasing(&ids));
    let messages = calls.stream("default", 10_000).unwrap();
    let lengths: Vec<_> = messages.iter().map(Vec::len).collect();
    assert_eq!(lengths, [4_096, 4_096, 10_000 - 2 * 4_096]);
    assert!(is_increasing(&messages.concat()));
    let metrics = pair.server.ask("GET", "/metrics", "");
    let issued = format!("flakeid_ids_total{{id_namespace=\"default\"}} {}", 1 + 4_096 + 10_000);
    assert!(metrics.text().contains(&issued), "{}", metrics.text());
}

#[test]
fn rejected_grpc_calls_return_a_code_and_a_reason() {
    let pair = Pair::new(service());
    let mut calls = pair.ids();
    let out_of_range = (Code::InvalidArgument, "FLAKEID_FIELD_OUT_OF_RANGE");
    for (refused, (expected, name), text) in [
        (calls.next("default", Some(0)).err(), out_of_range, "from 1 to 4096"),
        (calls.next("default", Some(4_097)).err(), out_of_range, "count 4097"),
        (calls.stream("default", 0).err(), out_of_range, "from 1 to 100000"),
        (calls.stream("default", 100_001).err(), out_of_range, "count 100001"),
        (calls.next("other", None).err(), (Code::NotFound, "HTTP_NOT_FOUND"), "it serves: default"),
        (
            calls.next("no name", None).err(),
            (Code::InvalidArgument, "FLAKEID_INVALID_OPTION"),
            "namespace",
        ),
    ] {
        let refused = refused.unwrap();
        assert_eq!((refused.code(), code(&refused)), (expected, name), "{refused:?}");
        assert!(refused.message().contains(text), "{refused:?}");
    }
    let long = "x".repeat(5_000);
    assert_eq!(calls.next(&long, None).unwrap_err().code(), Code::OutOfRange);
    assert_eq!(calls.next("default", None).unwrap().len(), 1, "the connection must stay open");
}

#[test]
fn grpc_requires_a_token_except_for_health_checks() {
    let pair = Pair::new(service().tokens(Tokens::parse("0123456789abcdef\n").unwrap()));
    for wrong in [None, Some("Bearer 0123456789abcdeX")] {
        // An unknown namespace causes the same error, so that errors do not reveal which namespaces exist.
        for namespace in ["default", "other"] {
            let mut channel = pair.channel();
            channel.authorization = wrong;
            let mut calls = Calls { client: client(channel), runtime: &pair.runtime };
            let refused = calls.next(namespace, None).unwrap_err();
            let expected = (Code::Unauthenticated, "HTTP_UNAUTHORIZED");
            assert_eq!((refused.code(), code(&refused)), expected);
        }
    }
    let mut channel = pair.channel();
    assert_eq!(health(&pair, channel.clone(), ""), Ok(ServingStatus::Serving));
    let origin = "http://localhost".parse().unwrap();
    let mut watching = HealthClient::with_origin(channel.clone(), origin);
    let refused = pair.runtime.block_on(watching.watch(HealthCheckRequest::default()));
    assert_eq!(refused.unwrap_err().code(), Code::Unauthenticated);
    channel.authorization = Some("Bearer 0123456789abcdef");
    let mut calls = Calls { client: client(channel), runtime: &pair.runtime };
    assert_eq!(calls.next("default", None).unwrap().len(), 1);
    let token = "Authorization: Bearer 0123456789abcdef\r\n";
    let metrics = pair.server.ask("GET", "/metrics", token);
    let refused = "flakeid_requests_total{operation=\"none\",code=\"HTTP_UNAUTHORIZED\"} 5";
    assert!(metrics.text().contains(refused), "{}", metrics.text());
}

#[test]
fn grpc_with_tls_requires_a_client_certificate_and_http2() {
    let certificates = Certificates::new();
    let tls = Some(certificates.settings());
    let pair = Pair::with(service(), ServeOptions { tls, ..ServeOptions::default() });
    let ask = |shows: bool, protocol: &'static [u8]| {
        let mut config = certificates.client(shows);
        config.alpn_protocols = vec![protocol.to_vec()];
        pair.runtime.block_on(async {
            let stream = tokio::net::TcpStream::connect(pair.address()).await.ok()?;
            let connector = TlsConnector::from(Arc::new(config));
            let stream = connector.connect("localhost".try_into().unwrap(), stream).await.ok()?;
            let request = NextRequest { namespace: "default".to_owned(), count: Some(3) };
            let response = client(over(stream).await.ok()?).next(request).await.ok()?;
            Some(response.into_inner().ids.len())
        })
    };
    assert_eq!(ask(true, b"h2"), Some(3));
    assert_eq!(ask(false, b"h2"), None, "a client without a certificate must get no response");
    assert_eq!(ask(true, b"http/1.1"), None, "the server must not accept HTTP/1.1");
}

#[test]
fn rate_limited_grpc_client_gets_a_retry_delay() {
    let pair = Pair::new(service().rate_limit(1_000));
    let mut calls = pair.ids();
    assert_eq!(calls.next("default", Some(1_000)).unwrap().len(), 1_000);
    let refused = calls.stream("default", 1_000).unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(code(&refused), "HTTP_TOO_MANY_REQUESTS");
    let wait = refused.metadata().get("grpc-retry-pushback-ms").unwrap();
    let wait: u64 = wait.to_str().unwrap().parse().unwrap();
    assert!((1..=1_001).contains(&wait), "{wait}");
}

fn health(pair: &Pair, channel: Channel, service: &str) -> Result<ServingStatus, Code> {
    let origin = "http://localhost".parse().unwrap();
    let request = HealthCheckRequest { service: service.to_owned() };
    let response = pair.runtime.block_on(HealthClient::with_origin(channel, origin).check(request));
    Ok(response.map_err(|status| status.code())?.into_inner().status())
}

#[test]
fn grpc_health_watch_ends_at_shutdown() {
    let mut pair = Pair::new(service());
    let channel = pair.channel();
    for name in ["", "flakeid.v1.Ids"] {
        assert_eq!(health(&pair, channel.clone(), name), Ok(ServingStatus::Serving));
    }
    assert_eq!(health(&pair, channel.clone(), "other"), Err(Code::NotFound));
    let origin = "http://localhost".parse().unwrap();
    let mut client = HealthClient::with_origin(channel, origin);
    let request = HealthCheckRequest { service: String::new() };
    let watched = pair.runtime.block_on(client.watch(request)).unwrap();
    let mut watched = watched.into_inner();
    let first = pair.runtime.block_on(watched.message()).unwrap().unwrap();
    assert_eq!(first.status(), ServingStatus::Serving);
    // Clients that have not sent a complete HTTP/2 preface must not delay the shutdown.
    let silent = TcpStream::connect(pair.address()).unwrap();
    let mut half = TcpStream::connect(pair.address()).unwrap();
    half.write_all(b"PRI * HTTP/2.0\r\n").unwrap();
    thread::sleep(Duration::from_millis(100));
    let began = Instant::now();
    pair.server.stop();
    let last = pair.runtime.block_on(watched.message());
    assert!(matches!(last, Ok(None)), "{last:?}");
    pair.server.wait();
    assert!(began.elapsed() < Duration::from_secs(8), "clients delayed the shutdown");
    drop((silent, half));
}

#[test]
fn grpc_reflection_lists_the_services() {
    let pair = Pair::new(service());
    let origin = "http://localhost".parse().unwrap();
    let mut client = ServerReflectionClient::with_origin(pair.channel(), origin);
    let mut query = |message: MessageRequest| {
        let request =
            ServerReflectionRequest { host: String::new(), message_request: Some(message) };
        pair.runtime.block_on(async {
            let responses = client.server_reflection_info(iter([request])).await.unwrap();
            let response = responses.into_inner().message().await.unwrap().unwrap();
            response.message_response.unwrap()
        })
    };
    let MessageResponse::ListServicesResponse(list) =
        query(MessageRequest::ListServices(String::new()))
    else {
        panic!("services")
    };
    let names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
    for name in ["flakeid.v1.Ids", "grpc.health.v1.Health"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    let origin = "http://localhost".parse().unwrap();
    let mut older = tonic_reflection::pb::v1alpha::server_reflection_client::ServerReflectionClient::
        with_origin(pair.channel(), origin);
    let request = tonic_reflection::pb::v1alpha::ServerReflectionRequest::default();
    let answered = pair.runtime.block_on(older.server_reflection_info(iter([request])));
    assert!(answered.is_ok(), "older clients must get a response, too");
    let found = query(MessageRequest::FileContainingSymbol("flakeid.v1.Ids".to_owned()));
    assert!(matches!(found, MessageResponse::FileDescriptorResponse(_)), "{found:?}");
}

/// Concurrent requests over gRPC and HTTP must never return the same ID.
#[test]
fn grpc_and_http_clients_never_get_the_same_id() {
    let pair = Pair::new(service());
    let ids: Vec<u64> = thread::scope(|scope| {
        let grpc = (0..4).map(|_| {
            scope.spawn(|| {
                let mut calls = pair.ids();
                let mut all = calls.stream("default", 15_000).unwrap().concat();
                all.extend((0..50).flat_map(|_| calls.next("default", Some(10)).unwrap()));
                all
            })
        });
        let http = (0..4).map(|_| {
            scope.spawn(|| pair.server.ask("POST", "/v1/default/ids?count=15000", "").ids())
        });
        let all: Vec<_> = grpc.chain(http).collect();
        all.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ids.len(), 4 * 15_500 + 4 * 15_000);
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
}

/// A client that requests many IDs but does not read the responses must not delay other clients.
#[test]
fn large_unread_grpc_responses_do_not_delay_other_clients() {
    // On a busy machine, part of a response may be delayed for a long time, so `max_wait` is one
    // minute, and the calls do not end although their messages are not taken.
    let write_timeout = Duration::from_secs(600);
    let options = ServeOptions { write_timeout, ..ServeOptions::default() };
    let pair = Pair::with(service().max_wait(Duration::from_secs(60)), options);
    let mut greedy = client(pair.channel());
    let calls_in_progress: Vec<_> = (0..150)
        .map_while(|_| {
            let request = StreamRequest { namespace: "default".to_owned(), count: 100_000 };
            let limit = Duration::from_secs(2);
            let started = async { timeout(limit, greedy.stream(request)).await };
            // The server sends at most 8 streams per connection at a time, so further calls wait until they time
            // out.
            Some(pair.runtime.block_on(started).ok()?.unwrap().into_inner())
        })
        .collect();
    // The client may have received a few streams completely.
    assert!((8..50).contains(&calls_in_progress.len()), "{}", calls_in_progress.len());
    let mut calls = pair.ids();
    for _ in 0..200 {
        assert_eq!(calls.next("default", None).unwrap().len(), 1);
    }
    let mut first = calls_in_progress.into_iter().next().unwrap();
    let count = pair.runtime.block_on(async {
        let mut count = 0;
        while let Some(message) = first.message().await.unwrap() {
            count += message.ids.len();
        }
        count
    });
    assert_eq!(count, 100_000);
}

/// The server must close connections that do not use HTTP/2 or that do not send the complete HTTP/2
/// preface in time. A thousand such connections must not delay other clients.
#[test]
fn grpc_server_closes_connections_that_do_not_use_http2() {
    let idle_timeout = Duration::from_millis(700);
    let options = ServeOptions { idle_timeout, ..ServeOptions::default() };
    let pair = Pair::with(service(), options);
    let waiting: Vec<_> = (0..1_000)
        .map(|number| {
            let mut stream = TcpStream::connect(pair.address()).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let sent: &[u8] = match number % 4 {
                0 => b"",
                1 => b"PRI * HTTP/2.0\r\n",
                2 => b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                _ => b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 and so on",
            };
            stream.write_all(sent).unwrap();
            stream
        })
        .collect();
    let mut calls = pair.ids();
    assert_eq!(calls.next("default", None).unwrap().len(), 1);
    for mut stream in waiting {
        let mut reply = Vec::new();
        // The server may close or reset the connection, but the read must not time out.
        if let Err(error) = stream.read_to_end(&mut reply) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
        }
        assert_eq!(reply, b"");
    }
    assert_eq!(
        calls.next("default", None).unwrap().len(),
        1,
        "the client responds to pings, so its connection must stay open"
    );
}

#[test]
fn grpc_server_rejects_requests_with_other_content_types() {
    let pair = Pair::new(service());
    let mut channel = pair.channel();
    let path = "http://localhost/flakeid.v1.Ids/Next";
    for content_type in [None, Some("application/json"), Some("application")] {
        let mut request = Request::post(path);
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        let request = request.body(Body::empty()).unwrap();
        let (status, text) = pair.runtime.block_on(async {
            let response = channel.sender.send_request(request).await.unwrap();
            let status = response.status();
            (status, response.into_body().collect().await.unwrap().to_bytes())
        });
        assert_eq!(status, 415, "{content_type:?}");
        assert!(text.starts_with(b"this address serves only gRPC"), "{text:?}");
    }
    let metrics = pair.server.ask("GET", "/metrics", "").text().to_owned();
    let counter =
        "flakeid_requests_total{operation=\"none\",code=\"HTTP_UNSUPPORTED_MEDIA_TYPE\"} 3";
    assert!(metrics.contains(counter), "{metrics}");
}

/// Runs h2spec, a conformance test for HTTP/2 with 145 cases.
#[test]
fn grpc_server_conforms_to_the_specification_of_http2() {
    let pair = Pair::new(service());
    let output = Command::new("go")
        .args(["run", "github.com/summerwind/h2spec/cmd/h2spec", "--timeout", "10"])
        .args(["--host", "127.0.0.1", "--port", &pair.address().port().to_string()])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/http2"))
        .output()
        .expect("this test needs Go: apt-get install golang-go");
    let report = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{report}{errors}");
    assert!(report.contains("145 tests, 145 passed, 0 skipped, 0 failed"), "{report}{errors}");
}
