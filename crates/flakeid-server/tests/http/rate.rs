//! The rate limit for one client: over HTTP and for Redis clients.

use std::io::{Read, Write};
use std::net::TcpStream;

use flakeid_server::{Listener, ServeOptions};

use crate::client::{TestServer, service};

#[test]
fn http_client_over_its_rate_gets_429_with_retry_after() {
    let server = TestServer::new(service().rate_limit(100), ServeOptions::default());
    let ask = |count: u32| server.ask("POST", &format!("/v1/default/ids?count={count}"), "");
    // These are the IDs of ten minutes, so that a busy machine does not affect the result. The unit
    // tests check the exact waits with their own clocks.
    assert_eq!(ask(60_000).ids().len(), 60_000);
    let refused = ask(1);
    assert_eq!(refused.status, 429, "{}", refused.text());
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    let error: serde_json::Value = serde_json::from_str(refused.text()).unwrap();
    assert_eq!(error["error"]["code"], "HTTP_TOO_MANY_REQUESTS");
    let wait = error["error"]["retry_after_ms"].as_u64().unwrap();
    assert!((500_000..=600_000).contains(&wait), "{wait}");
    assert_eq!(seconds, wait.div_ceil(1_000));
    // Requests without new IDs are not limited.
    for path in ["/livez", "/v1/default/layout", "/metrics"] {
        assert_eq!(server.ask("GET", path, "").status, 200, "{path}");
    }
}

#[test]
fn redis_clients_share_the_rate_limit_of_http() {
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
