//! Tests that malicious and faulty clients get an error or a closed connection, and that other
//! clients are still served.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use flakeid_server::{Listener, ServeOptions, Server};

use crate::client::{TestServer, service};

#[test]
fn malformed_requests_get_an_error_or_a_closed_connection() {
    let server = TestServer::new(service(), ServeOptions::default());
    let long = format!("GET /livez HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "a".repeat(100_000));
    let many = format!("GET /livez HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(5_000));
    let path = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(60_000));
    for sent in [
        &b"\0\0\0\0\0\0\0\0\r\n\r\n"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET /livez\r\n\r\n",
        b"GET /liv\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nBad\x00Name: x\r\n\r\n",
        // If a request has two lengths, a proxy and this server could disagree about where the
        // request ends.
        b"POST /v1/default/ids HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST /v1/default/ids HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nabcde",
        b"POST /v1/default/ids HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"POST /v1/default/ids HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, x\r\n\r\n",
        long.as_bytes(),
        many.as_bytes(),
        path.as_bytes(),
    ] {
        let mut client = server.connect();
        // Write errors are ignored, because the server may close the connection before it has read
        // the whole request.
        drop(client.stream.write_all(sent));
        let shown: String = String::from_utf8_lossy(sent).chars().take(60).collect();
        if let Some(reply) = client.reply() {
            assert!((400..500).contains(&reply.status), "{shown}: {reply:?}");
        }
        assert_eq!(server.ask("GET", "/livez", "").status, 200, "after {shown}");
    }
}

/// The server must never process a request that is hidden in the body of another request.
#[test]
fn requests_hidden_in_a_body_are_never_processed() {
    let server = TestServer::new(service(), ServeOptions::default());
    let hidden = "POST /v1/default/ids?count=7 HTTP/1.1\r\nHost: x\r\n\r\n";
    let length = hidden.len();
    for sent in [
        format!(
            "POST /v1/default/ids HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{hidden}"
        ),
        format!(
            "POST /v1/default/ids HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
             {length:x}\r\n{hidden}\r\n0\r\n\r\n"
        ),
        // To smuggle a request, an attacker sends both `Content-Length` and `Transfer-Encoding`.
        // The server must ignore `Content-Length` (RFC 9112, section 6.3).
        format!(
            "POST /v1/default/ids HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\
             Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{hidden}\r\n0\r\n\r\n"
        ),
    ] {
        let mut client = server.connect();
        // The last request makes the server close the connection, so the test can read all replies
        // until the end of the stream.
        let last = "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        drop(client.stream.write_all(format!("{sent}{last}").as_bytes()));
        let replies: Vec<_> = std::iter::from_fn(|| client.reply()).collect();
        assert!(!replies.is_empty() && replies.len() <= 2, "{sent}: {replies:?}");
        for reply in replies.iter().filter(|reply| reply.status == 200) {
            let is_last = reply.text() == "ok\n";
            assert!(is_last || reply.ids().len() == 1, "the hidden request was processed: {sent}");
        }
    }
}

/// The server must close idle connections and connections with an incomplete request head. In the
/// meantime, the server must still serve other clients.
#[test]
fn slow_and_idle_clients_are_disconnected() {
    let options = ServeOptions { idle_timeout: Duration::from_millis(700), ..Default::default() };
    let server = TestServer::new(service(), options);
    let mut waiting: Vec<_> = (0..400).map(|_| server.connect()).collect();
    for client in waiting.iter_mut().step_by(2) {
        client.stream.write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\nX: ").unwrap();
    }
    let began = Instant::now();
    let mut answers = 0;
    while began.elapsed() < Duration::from_millis(500) {
        assert_eq!(server.ask("POST", "/v1/default/ids", "").status, 200);
        answers += 1;
    }
    assert!(answers > 5, "{answers}");
    for client in &mut waiting {
        // Before the server closes the connection, it may send a response that states the reason.
        if let Some(reply) = client.reply() {
            assert_eq!(reply.status, 408);
        }
    }
}

/// When a broker becomes available again, all its clients reconnect at the same time. A client
/// whose connection does not fit into the listen backlog would retry only after a second.
#[cfg(target_os = "linux")]
#[test]
fn listen_backlog_has_room_for_a_thousand_connections() {
    let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
    let wanted = allowed.trim().parse::<usize>().unwrap().min(1_000);
    let any = "127.0.0.1:0".parse().unwrap();
    for listener in [Listener::Tcp(any), Listener::bound(any).unwrap()] {
        let server = Server::bind(service(), &listener, ServeOptions::default()).unwrap();
        let Listener::Tcp(address) = server.address().unwrap() else { panic!("TCP") };
        // The server is bound but does not run, so all connections wait in the backlog.
        let connect = |_| TcpStream::connect_timeout(&address, Duration::from_millis(500));
        let waiting: Vec<_> = (0..wanted).map_while(|number| connect(number).ok()).collect();
        assert_eq!(waiting.len(), wanted, "{listener:?}");
    }
}

/// A client that requests many IDs but does not read the responses must not delay other clients.
#[test]
fn large_unread_http_responses_do_not_delay_other_clients() {
    // On a busy machine, part of a response may be delayed for a long time, so `max_wait` is one
    // minute.
    let service = service().max_wait(Duration::from_secs(60));
    let server = TestServer::new(service, ServeOptions::default());
    let mut greedy: Vec<_> = (0..16).map(|_| server.connect()).collect();
    let request = "POST /v1/default/ids?count=100000 HTTP/1.1\r\nHost: x\r\n\r\n";
    for client in &mut greedy {
        client.stream.write_all(request.repeat(20).as_bytes()).unwrap();
    }
    let mut client = server.connect();
    for _ in 0..200 {
        assert_eq!(client.ask("POST", "/v1/default/ids", "").ids().len(), 1);
    }
    assert_eq!(greedy[0].reply().unwrap().ids().len(), 100_000);
}
