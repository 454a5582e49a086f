//! Tests of proxies that name the addresses of their clients with the PROXY protocol.

use std::io::{Read, Write};
use std::net::TcpStream;

use flakeid_server::{Listener, ServeOptions, TrustedProxies};

use crate::client::{Client, TestServer, service};

/// Starts a server that trusts the proxies in a network, and allows each client three requests per second.
fn server(network: &str) -> TestServer {
    let mut proxies = TrustedProxies::default();
    proxies.trust(network).unwrap();
    let service = service().trusted_proxies(proxies.with_proxy_protocol()).request_rate_limit(3);
    let any = || Some(Listener::Tcp("127.0.0.1:0".parse().unwrap()));
    let options = ServeOptions { resp: any(), admin: any(), ..ServeOptions::default() };
    #[cfg(feature = "grpc")]
    let options = ServeOptions { grpc: any(), ..options };
    TestServer::new(service, options)
}

/// Returns the header of version 1 that names 192.0.2.LAST.
fn text(last: u8) -> Vec<u8> {
    format!("PROXY TCP4 192.0.2.{last} 127.0.0.1 5000 80\r\n").into_bytes()
}

/// Returns the header of version 2 that names 192.0.2.LAST, with an addition of 300 bytes.
fn binary(last: u8) -> Vec<u8> {
    let mut header = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x01\x3b".to_vec();
    header.extend([192, 0, 2, last, 127, 0, 0, 1, 0x13, 0x88, 0, 80]);
    header.extend([0xe0, 0x01, 0x2c]);
    header.resize(header.len() + 300, 0);
    header
}

/// Sends 20 requests after the header, and returns the statuses of the responses.
fn statuses(server: &TestServer, header: &[u8]) -> Vec<u16> {
    let mut client = server.connect();
    client.stream.write_all(header).unwrap();
    (0..20).map(|_| client.ask("POST", "/v1/default/ids", "").status).collect()
}

/// Sends commands after the header, and returns all replies.
fn replies(server: &TestServer, header: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.resp.unwrap()).unwrap();
    let commands = format!("{}QUIT\r\n", "INCR default\r\n".repeat(20));
    stream.write_all(&[header, commands.as_bytes()].concat()).unwrap();
    let mut replies = String::new();
    stream.read_to_string(&mut replies).unwrap();
    replies
}

#[test]
fn clients_of_a_trusted_proxy_have_limits_of_their_own() {
    let server = server("127.0.0.1");
    for (header, first) in [(text as fn(u8) -> Vec<u8>, 1), (binary, 11)] {
        for last in [first, first + 1] {
            let statuses = statuses(&server, &header(last));
            assert_eq!(statuses[0], 200, "client {last}: {statuses:?}");
            assert!(statuses.contains(&429), "client {last}: {statuses:?}");
        }
        for last in [first + 2, first + 3] {
            let replies = replies(&server, &header(last));
            assert!(
                replies.starts_with(':') && replies.contains("-TRYAGAIN "),
                "{last}: {replies}"
            );
        }
        // All protocols share the limit of a client.
        assert!(replies(&server, &header(first)).contains("-TRYAGAIN "));
    }
}

#[test]
fn proxy_that_names_no_client_counts_as_the_client() {
    let server = server("127.0.0.1");
    for header in [&b"PROXY UNKNOWN\r\n"[..], b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"] {
        assert!(statuses(&server, header).contains(&429));
    }
    assert_eq!(statuses(&server, &text(1))[0], 200);
}

#[test]
fn headers_of_other_senders_are_refused() {
    for header in [text(1), binary(1)] {
        let server = server("192.0.2.0/24");
        assert_eq!(server.ask("POST", "/v1/default/ids", "").status, 200, "no header is required");
        let mut client = server.connect();
        client.stream.write_all(&header).unwrap();
        client.stream.write_all(b"POST /v1/default/ids HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let reply = client.reply();
        assert!(reply.as_ref().is_none_or(|reply| reply.status == 400), "{reply:?}");
        let replies = replies(&server, &header);
        assert!(replies.starts_with('-'), "{replies}");
    }
}

#[test]
fn connections_of_a_trusted_proxy_without_a_header_are_closed() {
    let server = server("127.0.0.1");
    // These connections send nothing, so the server waits for their headers.
    let silent: Vec<_> = (0..20).map(|_| server.connect()).collect();
    let long = [b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x10\x00".to_vec(), vec![0; 4_096]].concat();
    for wrong in [
        &b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"[..],
        b"PROXY TCP5 192.0.2.1 127.0.0.1 5000 80\r\n",
        &long,
    ] {
        let mut client = server.connect();
        client.stream.write_all(wrong).unwrap();
        assert!(client.reply().is_none(), "the server read a connection without a header");
    }
    assert_eq!(statuses(&server, &text(1))[0], 200, "other connections are served meanwhile");
    // Probes of the admin address send no header.
    let admin = TcpStream::connect(server.admin.unwrap()).unwrap();
    let metrics = Client::new(admin).ask("GET", "/metrics", "");
    let refused = "flakeid_refused_connections_total{reason=\"proxy_header\"} 3";
    assert!(metrics.text().contains(refused), "{}", metrics.text());
    drop(silent);
}

#[cfg(feature = "grpc")]
#[test]
fn grpc_connection_of_a_trusted_proxy_begins_with_a_header() {
    let server = server("127.0.0.1");
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let first_frame = |header: &[u8]| {
        let mut stream = TcpStream::connect(server.grpc.unwrap()).unwrap();
        stream.write_all(&[header, preface].concat()).unwrap();
        let mut frame = Vec::new();
        drop(stream.take(9).read_to_end(&mut frame));
        frame
    };
    for header in [text(1), binary(2)] {
        // The type of the first frame is SETTINGS.
        assert_eq!(first_frame(&header).get(3), Some(&4));
    }
    assert!(first_frame(b"").is_empty());
}
