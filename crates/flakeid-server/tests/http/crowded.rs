//! Tests of clients that occupy connections without using them. The server must still serve other clients and health
//! checks.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use flakeid_server::{Listener, ServeOptions, Tokens};

use crate::client::{Client, TestServer, service};

const TOKEN: &str = "0123456789abcdef";
/// The longest acceptable time until a new client gets a response on a busy machine. If the server did not close
/// connections to make room for new clients, a new client would wait until the clients without a token disconnect.
#[cfg(target_os = "linux")]
const LIMIT: Duration = Duration::from_secs(10);

fn free_port() -> Listener {
    Listener::Tcp("127.0.0.1:0".parse().unwrap())
}

/// Connects from the loopback address whose last byte is `last`. The server treats each loopback address as a
/// different client.
#[cfg(target_os = "linux")]
fn connect_from(last: u8, server: SocketAddr) -> TcpStream {
    let source = SocketAddr::new(IpAddr::from([127, 0, 0, last]), 0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(source).unwrap();
        socket.connect(server).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Returns the time that a new client needs to get an ID.
#[cfg(target_os = "linux")]
fn time_of_a_new_client(last: u8, server: SocketAddr) -> Duration {
    let began = Instant::now();
    let mut client = Client::new(connect_from(last, server));
    let authorization = format!("Authorization: Bearer {TOKEN}\r\n");
    let reply = client.ask("POST", "/v1/default/ids", &authorization);
    assert_eq!(reply.status, 200, "{reply:?}");
    began.elapsed()
}

/// Checks that 600 connections without a token do not lock out other clients of a server with room for 300
/// connections. Of the 600 connections, 200 send nothing, 200 send requests without reading the responses, and 200
/// send one health check.
#[cfg(target_os = "linux")]
#[test]
fn clients_without_a_token_cannot_lock_out_other_clients() {
    let options =
        ServeOptions { max_connections: 300, admin: Some(free_port()), ..Default::default() };
    let service = service().tokens(Tokens::parse(TOKEN).unwrap());
    let server = TestServer::new(service, options);
    let mut holder = Client::new(connect_from(9, server.address));
    let authorization = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(holder.ask("POST", "/v1/default/ids", &authorization).status, 200);
    for addresses in [1_u8, 100] {
        let mut strangers = Vec::new();
        for number in 0..600_usize {
            let mut stream =
                connect_from(100 + (number % addresses as usize) as u8, server.address);
            stream.set_write_timeout(Some(Duration::from_millis(5))).unwrap();
            let sent = match number % 3 {
                0 => String::new(),
                1 => "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n".repeat(500),
                _ => "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n".into(),
            };
            // Write errors are ignored, because the server may have stopped reading from the connection, or may have
            // closed the connection to make room for another client.
            drop(stream.write_all(sent.as_bytes()));
            strangers.push(stream);
        }
        let waited = time_of_a_new_client(8, server.address);
        assert!(waited < LIMIT, "{addresses} addresses: {waited:?}");
        let reply = holder.ask("POST", "/v1/default/ids", &authorization);
        assert_eq!(reply.status, 200, "an accepted connection must not be replaced");
        let began = Instant::now();
        let stream = TcpStream::connect(server.admin.unwrap()).unwrap();
        assert_eq!(Client::new(stream).ask("GET", "/readyz", "").status, 200);
        let waited = began.elapsed();
        assert!(waited < LIMIT, "{addresses} addresses: {waited:?}");
    }
    let authorized = server.ask("GET", "/metrics", &authorization);
    let metrics = authorized.text();
    let line = "flakeid_connections{listener=\"http\",state=\"accepted\"} ";
    assert!(metrics.contains(line), "{metrics}");
    assert!(metrics.contains("flakeid_max_connections 300"), "{metrics}");
}

/// A client without a token keeps its connection only for the idle timeout, even if the client sends pings or
/// requests that require no token.
#[test]
fn connections_without_an_accepted_request_are_closed() {
    let options = ServeOptions {
        idle_timeout: Duration::from_millis(600),
        resp: Some(free_port()),
        #[cfg(feature = "grpc")]
        grpc: Some(free_port()),
        ..Default::default()
    };
    let service = service().tokens(Tokens::parse(TOKEN).unwrap());
    let server = TestServer::new(service, options);
    let mut accepted = server.connect();
    let authorization = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(accepted.ask("POST", "/v1/default/ids", &authorization).status, 200);
    #[cfg(feature = "grpc")]
    let (mut pinging, mut began_http2) = {
        let mut stream = TcpStream::connect(server.grpc.unwrap()).unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").unwrap();
        stream.set_nonblocking(true).unwrap();
        (stream, true)
    };
    let (mut polite, mut redis) = (server.connect(), server.resp.map(TcpStream::connect));
    let redis = redis.as_mut().unwrap().as_mut().unwrap();
    let began = Instant::now();
    let (mut is_polite_open, mut is_redis_open) = (true, true);
    while began.elapsed() < Duration::from_secs(5) && (is_polite_open || is_redis_open) {
        let request = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
        is_polite_open =
            is_polite_open && polite.stream.write_all(request).is_ok() && polite.reply().is_some();
        let mut reply = [0; 64];
        is_redis_open = is_redis_open
            && redis.write_all(b"PING\r\n").is_ok()
            && redis.read(&mut reply).is_ok_and(|count| count > 0);
        #[cfg(feature = "grpc")]
        {
            // The payload of an HTTP/2 PING frame has 8 bytes.
            began_http2 &= pinging.write_all(b"\0\0\x08\x06\0\0\0\0\0flakeid!").is_ok();
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(!is_polite_open && !is_redis_open, "{is_polite_open} {is_redis_open}");
    #[cfg(feature = "grpc")]
    {
        let mut rest = Vec::new();
        pinging.set_nonblocking(false).unwrap();
        pinging.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let ended = pinging.read_to_end(&mut rest);
        // A client that is still writing may receive a connection reset instead of the end of the stream.
        let is_timeout = ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!is_timeout, "pings must not keep a connection open (writing: {began_http2})");
    }
}

/// A client that sends requests but never reads the responses loses its connection after the write timeout.
#[test]
fn http_clients_that_do_not_read_responses_are_disconnected() {
    let options = ServeOptions { write_timeout: Duration::from_millis(300), ..Default::default() };
    let server = TestServer::new(service(), options);
    let mut greedy = server.connect();
    let request = "POST /v1/default/ids?count=100000 HTTP/1.1\r\nHost: x\r\n\r\n";
    greedy.stream.write_all(request.repeat(20).as_bytes()).unwrap();
    let line = "flakeid_connections{listener=\"http\",state=\"accepted\"} ";
    let began = Instant::now();
    loop {
        let metrics = server.ask("GET", "/metrics", "");
        let count = metrics.text().lines().find_map(|text| text.strip_prefix(line)).unwrap();
        // The connection of the metrics request itself is also counted.
        if count.starts_with('1') {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{count} connections");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The admin listener serves health checks and metrics without a token, and serves nothing else.
#[test]
fn admin_listener_serves_only_health_checks_and_metrics() {
    let options = ServeOptions { admin: Some(free_port()), ..Default::default() };
    let service = service().tokens(Tokens::parse(TOKEN).unwrap());
    let server = TestServer::new(service, options);
    let ask = |method, path| {
        Client::new(TcpStream::connect(server.admin.unwrap()).unwrap()).ask(method, path, "")
    };
    assert_eq!(ask("GET", "/livez").status, 200);
    assert_eq!(ask("GET", "/readyz").status, 200);
    assert!(ask("GET", "/metrics").text().contains("flakeid_ready{"));
    assert_eq!(ask("POST", "/metrics").status, 405);
    for path in ["/v1/default/ids", "/v1/default/layout", "/openapi.json", "/ui", "/"] {
        assert_eq!(ask("POST", path).status, 404, "{path}");
    }
    assert_eq!(server.ask("GET", "/metrics", "").status, 401, "the public listener needs a token");
}

/// Builds an HTTP/2 frame.
#[cfg(feature = "grpc")]
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The server must respond to each flood with a GOAWAY frame, and then end the connection. The server in this test
/// requires no token, so it accepts all clients.
#[cfg(feature = "grpc")]
#[test]
fn floods_of_http2_frames_end_the_connection() {
    type Flood = fn(u32) -> Vec<u8>;
    // The header block contains `POST`, `http` and a path of two characters, without Huffman coding.
    const HEAD: &[u8] = b"\x83\x86\x04\x02/x";
    const END_HEADERS: u8 = 4;
    let options = ServeOptions { grpc: Some(free_port()), ..Default::default() };
    let server = TestServer::new(service(), options);
    // The first frame of a flood opens a stream, because some frames are valid only on open streams.
    let floods: [(&str, Flood); 7] = [
        ("SETTINGS", |_| frame(4, 0, 0, b"")),
        ("PING", |_| frame(6, 0, 0, b"flakeid!")),
        ("PRIORITY", |_| frame(2, 0, 1, b"\0\0\0\0\x10")),
        ("WINDOW_UPDATE", |number| match number {
            0 => frame(1, END_HEADERS, 1, HEAD),
            _ => frame(8, 0, 1, &[0, 0, 0, 1]),
        }),
        ("empty DATA", |number| match number {
            0 => frame(1, END_HEADERS, 1, HEAD),
            _ => frame(0, 0, 1, b""),
        }),
        ("CONTINUATION", |number| match number {
            0 => frame(1, 0, 1, HEAD),
            _ => frame(9, 0, 1, b"\0\x01x\x01y"),
        }),
        ("rapid reset", |number| {
            let stream = 2 * number + 1;
            let reset = frame(3, 0, stream, &[0, 0, 0, 8]);
            [frame(1, END_HEADERS, stream, HEAD), reset].concat()
        }),
    ];
    for (name, flood) in floods {
        let mut stream = TcpStream::connect(server.grpc.unwrap()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let settings = frame(4, 0, 0, b"");
        let begin = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &settings[..]].concat();
        stream.write_all(&begin).unwrap();
        let mut reader = stream.try_clone().unwrap();
        let flood = std::thread::spawn(move || {
            for thousand in 0.. {
                let frames = (thousand * 1_000..(thousand + 1) * 1_000).flat_map(flood);
                // Writing fails once the server has closed the connection.
                if stream.write_all(&frames.collect::<Vec<_>>()).is_err() {
                    break;
                }
            }
        });
        let mut received = Vec::new();
        let mut buffer = [0; 16_384];
        while let Ok(count) = reader.read(&mut buffer)
            && count > 0
        {
            received.extend_from_slice(&buffer[..count]);
        }
        flood.join().unwrap();
        let mut rest = &received[..];
        let mut kinds = Vec::new();
        while let Some((head, after)) = rest.split_at_checked(9) {
            kinds.push(head[3]);
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            rest = after.get(length..).unwrap_or_default();
        }
        assert!(kinds.contains(&7), "{name}: {kinds:?}");
    }
    assert_eq!(server.ask("POST", "/v1/default/ids", "").status, 200);
}
