//! Tests of the scopes of tokens and client certificates.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use flakeid_server::{Listener, ServeOptions, Tokens};

use crate::client::{Client, TestServer, service};
use crate::secured::Certificates;

const FILE: &str = "web ids:default 0123456789abcdef\n\
                    logs ids:logs 1123456789abcdef\n\
                    jobs leases,read 2123456789abcdef\n\
                    prometheus metrics 3123456789abcdef\n\
                    orders ids,metrics san:localhost\n";

fn authorization(token: char) -> String {
    format!("Authorization: Bearer {token}123456789abcdef\r\n")
}

#[test]
fn tokens_permit_only_requests_within_their_scopes() {
    let service = service().tokens(Tokens::parse(FILE).unwrap());
    let server = TestServer::new(service, ServeOptions::default());
    for (token, statuses) in [
        ('0', [200, 403, 403, 200, 403]),
        ('1', [403, 403, 403, 403, 403]),
        // The server grants no leases, so even a permitted lease request gets status 404.
        ('2', [403, 404, 404, 200, 403]),
        ('3', [403, 403, 403, 403, 200]),
    ] {
        for (request, status) in [
            ("POST /v1/default/ids", statuses[0]),
            ("POST /v1/default/leases", statuses[1]),
            ("GET /v1/default/leases", statuses[2]),
            ("GET /v1/default/layout", statuses[3]),
            ("GET /metrics", statuses[4]),
        ] {
            let (method, path) = request.split_once(' ').unwrap();
            let reply = server.ask(method, path, &authorization(token));
            assert_eq!(reply.status, status, "{token}: {request}: {}", reply.text());
        }
        assert_eq!(server.ask("GET", "/openapi.json", &authorization(token)).status, 200);
    }
    let refused = server.ask("GET", "/metrics", &authorization('0'));
    assert!(refused.text().contains("the client \\\"web\\\" lacks the scope metrics"));
    let metrics = server.ask("GET", "/metrics", &authorization('3'));
    let line = "flakeid_denied_requests_total{reason=\"scope\",client=\"web\"} 4";
    assert!(metrics.text().contains(line), "{}", metrics.text());
}

#[test]
fn redis_clients_get_only_ids_of_their_namespaces() {
    let resp = Some(Listener::Tcp("127.0.0.1:0".parse().unwrap()));
    let service = service().tokens(Tokens::parse(FILE).unwrap());
    let server = TestServer::new(service, ServeOptions { resp, ..ServeOptions::default() });
    for (token, begin) in [('0', ":"), ('1', "-NOPERM "), ('3', "-NOPERM ")] {
        let mut stream = TcpStream::connect(server.resp.unwrap()).unwrap();
        let sent = format!("AUTH {token}123456789abcdef\r\nINCR default\r\nQUIT\r\n");
        stream.write_all(sent.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let reply = reply.strip_prefix("+OK\r\n").unwrap();
        assert!(reply.starts_with(begin), "{token}: {reply}");
    }
}

/// A client with a certificate needs no token if the token file contains the certificate's name.
#[test]
fn client_certificate_permits_only_the_scopes_of_its_name() {
    let certificates = Certificates::new();
    for (file, status) in [
        (FILE, 200),
        ("orders metrics san:localhost", 403),
        ("orders ids san:other.example", 401),
        ("web ids 0123456789abcdef", 401),
    ] {
        let service = service().tokens(Tokens::parse(file).unwrap());
        let tls = Some(certificates.settings());
        let server = TestServer::new(service, ServeOptions { tls, ..ServeOptions::default() });
        let mut client = Client::new(certificates.connect(server.address, true));
        let reply = client.ask("POST", "/v1/default/ids", "");
        assert_eq!(reply.status, status, "{file}: {}", reply.text());
    }
}

/// A client that guesses tokens gets only one response per connection, and each response is
/// delayed.
#[test]
fn wrong_token_delays_the_response_and_closes_the_connection() {
    let service = service().tokens(Tokens::parse(FILE).unwrap());
    let server = TestServer::new(service, ServeOptions::default());
    let began = Instant::now();
    let refused = server.ask("POST", "/v1/default/ids", &authorization('9'));
    assert_eq!((refused.status, refused.header("connection")), (401, Some("close")));
    assert!(began.elapsed() >= Duration::from_millis(200));
    assert_eq!(server.ask("POST", "/v1/default/ids", "").header("connection"), None);
}
