//! Tests of the Redis protocol: connection commands, requests for IDs, and malformed input.

use std::collections::HashSet;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use flakeid_server::{Listener, ServeOptions, Service, Tokens};

use crate::client::{TestServer, service};

/// An address with port 0, for which the operating system selects a free port.
const FREE: &str = "127.0.0.1:0";

fn options() -> ServeOptions {
    ServeOptions { resp: Some(Listener::Tcp(FREE.parse().unwrap())), ..ServeOptions::default() }
}

fn serving(service: Service, options: ServeOptions) -> (TestServer, SocketAddr) {
    let server = TestServer::new(service, options);
    let address = server.resp.unwrap();
    (server, address)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Sends commands, and checks that the server replies with the expected bytes.
fn ask(stream: &mut TcpStream, sent: &str, expected: &str) {
    stream.write_all(sent.as_bytes()).unwrap();
    let mut reply = vec![0; expected.len()];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(String::from_utf8_lossy(&reply), expected, "{sent:?}");
}

/// Sends the given bytes and then `QUIT`, and returns everything that the server sends.
fn all(address: SocketAddr, sent: &[u8]) -> String {
    let mut stream = connect(address);
    // Write errors are ignored, because the server may close the connection before it has read all
    // bytes.
    drop(stream.write_all(sent));
    drop(stream.write_all(b"QUIT\r\n"));
    rest(&mut stream)
}

/// Returns all bytes that the server sends until it closes the connection.
fn rest(stream: &mut TcpStream) -> String {
    let mut reply = Vec::new();
    match stream.read_to_end(&mut reply) {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            panic!("the server neither replied nor closed the connection: {error}")
        }
        _ => String::from_utf8_lossy(&reply).into_owned(),
    }
}

#[test]
fn server_replies_to_redis_connection_commands_in_the_redis_protocol() {
    let (_server, address) = serving(service(), options());
    let mut stream = connect(address);
    let hello = format!(
        "$6\r\nserver\r\n$7\r\nflakeid\r\n$7\r\nversion\r\n$5\r\n{}\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n\
         $4\r\nrole\r\n$6\r\nmaster\r\n$5\r\nproto\r\n",
        env!("CARGO_PKG_VERSION")
    );
    let rest = "$2\r\nid\r\n:0\r\n$7\r\nmodules\r\n*0\r\n";
    for (sent, expected) in [
        ("PING\r\n", "+PONG\r\n".to_owned()),
        ("*2\r\n$4\r\nPiNg\r\n$2\r\nhi\r\n", "$2\r\nhi\r\n".to_owned()),
        ("*2\r\n$4\r\nECHO\r\n$3\r\n\0\r\n\r\n", "$3\r\n\0\r\n\r\n".to_owned()),
        ("HELLO\r\n", format!("*14\r\n{hello}:2\r\n{rest}")),
        ("CLIENT GETNAME\r\n", "$-1\r\n".to_owned()),
        ("HELLO 3 SETNAME me\r\n", format!("%7\r\n{hello}:3\r\n{rest}")),
        ("CLIENT GETNAME\r\n", "$2\r\nme\r\n".to_owned()),
        ("COMMAND DOCS\r\n", "%0\r\n".to_owned()),
        ("RESET\r\n", "+RESET\r\n".to_owned()),
        ("COMMAND DOCS\r\n", "*0\r\n".to_owned()),
        ("COMMAND COUNT\r\n", ":12\r\n".to_owned()),
        ("CLIENT SETINFO LIB-NAME redis-py\r\n", "+OK\r\n".to_owned()),
        ("CLIENT ID\r\nSELECT 0\r\n", ":0\r\n+OK\r\n".to_owned()),
        ("\r\n*0\r\nPING\r\n", "+PONG\r\n".to_owned()),
        ("QUIT\r\n", "+OK\r\n".to_owned()),
    ] {
        ask(&mut stream, sent, &expected);
    }
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "the connection must be closed");
}

/// Eight concurrent clients, four over the Redis protocol and four over HTTP, must never get the
/// same ID.
#[test]
fn redis_and_http_clients_never_get_the_same_id() {
    let (server, address) = serving(service(), options());
    let ids: Vec<u64> = thread::scope(|scope| {
        let redis = (0..4).map(|_| {
            scope.spawn(|| {
                let sent =
                    "INCR default\r\nFLAKEID.NEXT default COUNT 5000\r\nflakeid.next default\r\n";
                let reply = all(address, sent.repeat(3).as_bytes());
                let is_id = |text: &&str| text.len() > 15;
                let numbers = reply.split("\r\n").map(|line| line.trim_start_matches(':'));
                numbers.filter(is_id).map(|text| text.parse().unwrap()).collect::<Vec<u64>>()
            })
        });
        let http = (0..4).map(|_| {
            scope.spawn(|| {
                let ask = || server.ask("POST", "/v1/default/ids?count=5000", "").ids();
                (0..3).flat_map(|_| ask()).collect::<Vec<u64>>()
            })
        });
        let all: Vec<_> = redis.chain(http).collect();
        all.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ids.len(), 4 * 3 * 5_002 + 4 * 3 * 5_000);
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    let metrics = server.ask("GET", "/metrics", "");
    let issued = format!("flakeid_ids_total{{id_namespace=\"default\"}} {}", ids.len());
    assert!(metrics.text().contains(&issued), "{}", metrics.text());
}

#[test]
fn invalid_redis_commands_get_an_error_with_a_code() {
    let (_server, address) = serving(service().max_count(10), options());
    for (sent, parts) in [
        ("FLAKEID.NEXT default COUNT 11", ["-FLAKEID_FIELD_OUT_OF_RANGE", "10"]),
        ("FLAKEID.NEXT default COUNT 0", ["-FLAKEID_FIELD_OUT_OF_RANGE", "count"]),
        ("FLAKEID.NEXT default COUNT -1", ["-FLAKEID_INVALID_OPTION", "count"]),
        ("FLAKEID.NEXT default COUNT 99999999999999999999", ["-FLAKEID_", "10"]),
        ("FLAKEID.NEXT default 3", ["-ERR", "COUNT N"]),
        ("INCR other", ["-ERR", "it serves: default"]),
        ("INCR a/b", ["-FLAKEID_INVALID_OPTION", "1 to 64"]),
        ("INCR", ["-ERR", "INCR NAMESPACE"]),
        ("INCRBY default 3", ["-ERR", "FLAKEID.NEXT"]),
        ("SELECT 1", ["-ERR", "SELECT 0"]),
        ("HELLO 4", ["-NOPROTO", "HELLO 3"]),
        ("AUTH secret", ["-ERR", "does not require a token"]),
        ("CLIENT KILL x", ["-ERR", "SETNAME"]),
        ("PING a b", ["-ERR", "PING"]),
    ] {
        let reply = all(address, format!("{sent}\r\n").as_bytes());
        assert!(reply.starts_with(parts[0]) && reply.contains(parts[1]), "{sent}: {reply}");
        assert!(
            reply.ends_with("\r\n+OK\r\n"),
            "the connection must stay open after one error: {reply}"
        );
        assert_eq!(reply.matches("\r\n").count(), 2, "{reply}");
    }
}

#[test]
fn redis_clients_must_authenticate_with_a_token() {
    let tokens = Tokens::parse("0123456789abcdef\n").unwrap();
    let (_server, address) = serving(service().tokens(tokens), options());
    for sent in
        ["PING", "INCR default", "FLAKEID.NEXT default", "INFO", "HELLO 3", "CLIENT ID", "X"]
    {
        let reply = all(address, format!("{sent}\r\n").as_bytes());
        assert!(reply.starts_with("-NOAUTH "), "{sent}: {reply}");
    }
    for sent in
        ["AUTH 0123456789abcdeX", "AUTH default x", "HELLO 3 AUTH default 0123456789abcdef0"]
    {
        let reply = all(address, format!("{sent}\r\nINCR default\r\n").as_bytes());
        assert!(reply.starts_with("-WRONGPASS ") && reply.lines().count() == 1, "{sent}: {reply}");
    }
    for sent in [
        "AUTH 0123456789abcdef",
        "AUTH default 0123456789abcdef",
        "HELLO 3 AUTH default 0123456789abcdef",
    ] {
        let reply =
            all(address, format!("{sent}\r\nINCR default\r\nRESET\r\nINCR default\r\n").as_bytes());
        assert!(reply.contains("\r\n:") && reply.contains("+RESET\r\n-NOAUTH"), "{sent}: {reply}");
    }
}

#[test]
fn malformed_redis_commands_end_the_connection() {
    let (_server, address) = serving(service(), options());
    for sent in [
        &b"*1000000000\r\n"[..],
        b"*2\r\n$4\r\nINCR\r\n$1000000000\r\n",
        b"*99999999999999999999999999\r\n",
        b"*1\r\n$4\r\nPINGPONG\r\n",
        b"*1\r\n+PING\r\n",
        b"POST /v1/default/ids HTTP/1.1\r\nHost: x\r\n\r\nINCR default\r\n",
        &vec![b'a'; 100_000],
    ] {
        let shown: String = String::from_utf8_lossy(sent).chars().take(60).collect();
        let reply = all(address, sent);
        // If a client is still sending, the connection may be reset before the client has read the
        // reply.
        let is_error = reply.starts_with("-ERR Protocol error") && reply.matches('\n').count() == 1;
        assert!(is_error || reply.is_empty(), "{shown}: {reply}");
        ask(&mut connect(address), "PING\r\n", "+PONG\r\n");
    }
    let reply =
        all(address, b"\xff\xfe\x00\r\n*2\r\n$4\r\nINCR\r\n$2\r\n\xff\xfe\r\n\x16\x03\x01\r\n");
    assert_eq!(reply.matches("\r\n-").count() + 1, 3, "{reply}");
}

#[test]
fn pipelined_commands_get_replies_in_order() {
    let (_server, address) = serving(service(), options());
    let mut stream = connect(address);
    let mut writer = stream.try_clone().unwrap();
    let sent = "*2\r\n$4\r\nINCR\r\n$7\r\ndefault\r\n".repeat(10_000) + "QUIT\r\n";
    let writing = thread::spawn(move || writer.write_all(sent.as_bytes()).unwrap());
    let reply = rest(&mut stream);
    writing.join().unwrap();
    let ids: Vec<i64> =
        reply.lines().filter_map(|line| line.strip_prefix(':')?.parse().ok()).collect();
    assert_eq!(ids.len(), 10_000);
    assert!(ids.is_sorted_by(|a, b| a < b));
}

#[test]
fn server_closes_idle_and_stalled_redis_connections() {
    let idle_timeout = Duration::from_millis(200);
    let (_server, address) = serving(service(), ServeOptions { idle_timeout, ..options() });
    let began = Instant::now();
    let mut silent = connect(address);
    for sent in ["*2\r\n$4\r\nINC", "*1\r\n$4\r\n", "PIN", "*"] {
        let mut stream = connect(address);
        stream.write_all(sent.as_bytes()).unwrap();
        assert_eq!(rest(&mut stream), "", "{sent:?}");
    }
    assert!(began.elapsed() < idle_timeout * 9, "{:?}", began.elapsed());
    ask(&mut silent, "PING\r\n", "+PONG\r\n");
    assert_eq!(rest(&mut silent), "");
    assert!(began.elapsed() >= idle_timeout * 10);
}

/// A client that does not read its replies gets no further replies and is disconnected. In the
/// meantime, the server must still serve other clients.
#[test]
fn redis_clients_that_do_not_read_replies_are_disconnected() {
    let idle_timeout = Duration::from_millis(500);
    let (server, address) = serving(service(), ServeOptions { idle_timeout, ..options() });
    let mut slow = connect(address);
    slow.write_all("FLAKEID.NEXT default COUNT 100000\r\n".repeat(20).as_bytes()).unwrap();
    thread::sleep(idle_timeout / 2);
    ask(&mut connect(address), "PING\r\n", "+PONG\r\n");
    let issued = || {
        let text = server.ask("GET", "/metrics", "").text().to_owned();
        let count = text
            .lines()
            .find_map(|line| line.strip_prefix("flakeid_ids_total{id_namespace=\"default\"} "));
        count.unwrap().parse::<u64>().unwrap()
    };
    // The server stops when the buffers of the connection are full, and then waits for the idle timeout.
    let mut before = 0;
    let issued = loop {
        thread::sleep(idle_timeout * 3);
        let now = issued();
        if now > 0 && now == before {
            break now;
        }
        before = now;
    };
    let reply = rest(&mut slow);
    assert!(reply.len() < 20 * 100_000 * 20, "the reply must be incomplete: {}", reply.len());
    assert!(issued < 2_000_000, "{issued}");
}

#[test]
fn idle_redis_connections_do_not_delay_requests_or_shutdown() {
    let (mut server, address) = serving(service(), options());
    let idle: Vec<_> = (0..1_000).map(|_| connect(address)).collect();
    ask(&mut connect(address), "PING\r\n", "+PONG\r\n");
    let began = Instant::now();
    server.stop();
    server.wait();
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    for mut stream in idle {
        assert_eq!(rest(&mut stream), "");
    }
}

/// The server completes a reply in progress before it shuts down.
#[test]
fn shutdown_completes_redis_replies_in_progress() {
    let (mut server, address) = serving(service(), options());
    let mut stream = connect(address);
    stream.write_all(b"FLAKEID.NEXT default COUNT 100000\r\n").unwrap();
    let mut first = [0; 9];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"*100000\r\n");
    server.stop();
    let reply = rest(&mut stream);
    assert_eq!(reply.lines().filter(|line| line.len() > 15).count(), 100_000);
    server.wait();
    assert!(TcpStream::connect(address).is_err());
}

/// The clients send the next command so soon that the server never finds a pause. Before each command, they check
/// whether the server has ended the connection, as connection pools do.
#[cfg(target_os = "linux")]
#[test]
fn shutdown_loses_no_command_of_redis_clients_that_never_pause() {
    let (mut server, address) = serving(service(), options());
    let begun = AtomicUsize::new(0);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    let mut stream = connect(address);
                    for number in 0.. {
                        stream.set_nonblocking(true).unwrap();
                        if matches!(stream.peek(&mut [0]), Ok(0)) {
                            return;
                        }
                        stream.set_nonblocking(false).unwrap();
                        stream.write_all(b"INCR default\r\n").unwrap();
                        let mut reply = [0; 64];
                        let length = stream.read(&mut reply).unwrap();
                        assert!(
                            reply[..length].ends_with(b"\r\n"),
                            "command {number} got no reply"
                        );
                        if number == 10 {
                            begun.fetch_add(1, Ordering::Relaxed);
                        }
                        thread::sleep(Duration::from_micros(300));
                    }
                })
            })
            .collect();
        let waited = Instant::now();
        while begun.load(Ordering::Relaxed) < 16 && waited.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(1));
        }
        server.stop();
        for client in clients {
            client.join().unwrap();
        }
    });
    server.wait();
    assert_eq!(begun.load(Ordering::Relaxed), 16, "every client was busy before the shutdown");
}
