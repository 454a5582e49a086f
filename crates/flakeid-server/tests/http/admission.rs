//! Tests of the limits and codes that are the same in every protocol.

use std::io::{Read, Write};
use std::net::TcpStream;

use flakeid_server::{Listener, ServeOptions, Service, Tokens};

use crate::client::{TestServer, service};

const FILE: &str = "web ids:default 0123456789abcdef\nprometheus metrics 3123456789abcdef\n";
const WEB: &str = "Authorization: Bearer 0123456789abcdef\r\n";
const PROMETHEUS: &str = "Authorization: Bearer 3123456789abcdef\r\n";

fn server(customize: impl FnOnce(Service) -> Service) -> TestServer {
    let resp = Some(Listener::Tcp("127.0.0.1:0".parse().unwrap()));
    let service = customize(service().tokens(Tokens::parse(FILE).unwrap()));
    TestServer::new(service, ServeOptions { resp, ..ServeOptions::default() })
}

/// Sends commands over the Redis protocol, and returns the replies until the server ends the connection.
fn resp(server: &TestServer, commands: &str) -> String {
    let mut stream = TcpStream::connect(server.resp.unwrap()).unwrap();
    stream.write_all(commands.as_bytes()).unwrap();
    let mut replies = String::new();
    stream.read_to_string(&mut replies).unwrap();
    replies
}

#[test]
fn clients_without_a_token_use_up_no_limit_of_clients_with_one() {
    let server = server(|service| service.request_rate_limit(50));
    let mut stranger = server.connect();
    let statuses: Vec<u16> =
        (0..300).map(|_| stranger.ask("POST", "/v1/unknown/leases", "").status).collect();
    assert_eq!(statuses[0], 401);
    assert!(statuses.contains(&429), "the server answers every stranger");
    let many = format!("{}QUIT\r\n", "PING\r\n".repeat(100));
    let replies = resp(&server, &many);
    assert!(replies.contains("-TRYAGAIN "), "{replies}");
    let mut known = server.connect();
    for _ in 0..40 {
        assert_eq!(known.ask("POST", "/v1/default/ids", WEB).status, 200);
    }
}

#[test]
fn request_rate_limit_applies_to_the_redis_protocol() {
    let server = server(|service| service.request_rate_limit(3));
    let replies = resp(
        &server,
        &format!("AUTH 0123456789abcdef\r\n{}QUIT\r\n", "INCR default\r\n".repeat(50)),
    );
    let issued = replies.lines().filter(|line| line.starts_with(':')).count();
    // `AUTH` counts, too.
    assert!((2..=20).contains(&issued), "{replies}");
    assert!(replies.contains("-TRYAGAIN rate limit exceeded"), "{replies}");
}

#[test]
fn wrong_token_ends_a_connection_of_the_redis_protocol() {
    let server = server(|service| service);
    let replies = resp(&server, "AUTH 9999999999999999\r\nPING\r\n");
    assert!(replies.starts_with("-WRONGPASS ") && !replies.contains("NOAUTH"), "{replies}");
    assert_eq!(replies.lines().count(), 1);
}

/// Alerts distinguish errors of the server from those of clients by these codes.
#[test]
fn codes_in_metrics_are_the_same_in_every_protocol() {
    let server = server(|service| service);
    for (commands, prefix, code) in [
        ("INCR default\r\nQUIT\r\n", "-NOAUTH", "operation=\"none\",code=\"HTTP_UNAUTHORIZED\""),
        (
            "AUTH 9999999999999999\r\n",
            "-WRONGPASS",
            "operation=\"connection\",code=\"HTTP_UNAUTHORIZED\"",
        ),
        (
            "AUTH 3123456789abcdef\r\nINCR default\r\nQUIT\r\n",
            "-NOPERM",
            "operation=\"ids\",code=\"HTTP_FORBIDDEN\"",
        ),
        (
            "AUTH 0123456789abcdef\r\nINCR\r\nQUIT\r\n",
            "-ERR",
            "operation=\"ids\",code=\"HTTP_BAD_REQUEST\"",
        ),
    ] {
        let replies = resp(&server, commands);
        assert!(replies.contains(prefix), "{commands}: {replies}");
        let metrics = server.ask("GET", "/metrics", PROMETHEUS);
        assert!(metrics.text().contains(&format!("{code}}} 1")), "{code}: {}", metrics.text());
    }
    let metrics = server.ask("GET", "/metrics", PROMETHEUS);
    for counted in [
        "reason=\"no_token\",client=\"\"} 1",
        "reason=\"wrong_token\",client=\"\"} 1",
        "reason=\"scope\",client=\"prometheus\"} 1",
    ] {
        assert!(metrics.text().contains(counted), "{counted}: {}", metrics.text());
    }
}
