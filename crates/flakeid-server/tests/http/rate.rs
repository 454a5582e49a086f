//! Tests of the rate limit per client, over HTTP and over the Redis protocol.

use std::io::{Read, Write};
use std::net::TcpStream;

use flakeid_server::{Listener, ServeOptions};

use crate::client::{TestServer, service};

#[test]
fn rate_limited_http_client_gets_429_with_retry_after() {
    let server = TestServer::new(service().rate_limit(100), ServeOptions::default());
    let ask = |count: u32| server.ask("POST", &format!("/v1/default/ids?count={count}"), "");
    // This request uses up all IDs that the client may request in the next ten minutes, so a busy
    // machine does not affect the result. The unit tests check the exact waiting times with manual clocks.
    assert_eq!(ask(60_000).ids().len(), 60_000);
    let refused = ask(1);
    assert_eq!(refused.status, 429, "{}", refused.text());
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    let error: serde_json::Value = serde_json::from_str(refused.text()).unwrap();
    assert_eq!(error["error"]["code"], "HTTP_TOO_MANY_REQUESTS");
    let wait = error["error"]["retry_after_ms"].as_u64().unwrap();
    assert!((500_000..=600_000).contains(&wait), "{wait}");
    assert_eq!(seconds, wait.div_ceil(1_000));
    // The rate limit does not apply to requests that do not generate IDs.
    for path in ["/livez", "/v1/default/layout", "/metrics"] {
        assert_eq!(server.ask("GET", path, "").status, 200, "{path}");
    }
}

#[test]
fn redis_and_http_clients_share_one_rate_limit() {
    let listener = Listener::Tcp(([127, 0, 0, 1], 0).into());
    let options = ServeOptions { resp: Some(listener), ..ServeOptions::default() };
    let server = TestServer::new(service().rate_limit(10), options);
    assert_eq!(server.ask("POST", "/v1/default/ids?count=6000", "").ids().len(), 6_000);
    let mut stream = TcpStream::connect(server.resp.unwrap()).unwrap();
    stream.write_all(b"INCR default\r\nQUIT\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("-TRYAGAIN rate limit exceeded"), "{reply}");
    assert!(reply.ends_with("+OK\r\n"), "{reply}");
    let metrics = server.ask("GET", "/metrics", "");
    let counted = "operation=\"ids\",code=\"HTTP_TOO_MANY_REQUESTS\"} 1";
    assert!(metrics.text().contains(counted), "{}", metrics.text());
}

/// The server limits the request rate of each client. Health checks do not count toward this limit.
#[test]
fn request_rate_limit_does_not_apply_to_health_checks() {
    let server = TestServer::new(service().request_rate_limit(1), ServeOptions::default());
    let mut client = server.connect();
    let mut statuses = Vec::new();
    for _ in 0..8 {
        assert_eq!(client.ask("GET", "/readyz", "").status, 200);
        statuses.push(client.ask("GET", "/v1/default/layout", "").status);
    }
    assert_eq!(statuses[0], 200);
    assert!(statuses.contains(&429), "{statuses:?}");
}
