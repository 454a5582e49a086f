//! A client that has had its share.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use flakeid_server::{Listener, ServeOptions};

use crate::client::{TestServer, service};

#[test]
fn who_has_had_its_share_waits() {
    let server = TestServer::new(service().rate_limit(100), ServeOptions::default());
    let ask = |count: u32| server.ask("POST", &format!("/v1/default/ids?count={count}"), "");
    assert_eq!(ask(100).ids().len(), 100);
    let refused = ask(100);
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert_eq!(refused.header("retry-after"), Some("1"));
    let error: serde_json::Value = serde_json::from_str(refused.text()).unwrap();
    assert_eq!(error["error"]["code"], "HTTP_TOO_MANY_REQUESTS");
    let wait = error["error"]["retry_after_ms"].as_u64().unwrap();
    assert!((1..=1_001).contains(&wait), "{wait}");
    // Whoever makes no ID is not limited.
    for path in ["/livez", "/v1/default/layout", "/metrics"] {
        assert_eq!(server.ask("GET", path, "").status, 200, "{path}");
    }
    std::thread::sleep(Duration::from_millis(wait));
    assert_eq!(ask(100).ids().len(), 100);
}

#[test]
fn clients_of_redis_have_the_same_share() {
    let listener = Listener::Tcp(([127, 0, 0, 1], 0).into());
    let options = ServeOptions { resp: Some(listener), ..ServeOptions::default() };
    // More than its share, so that it waits for a minute.
    let server = TestServer::new(service().rate_limit(10), options);
    assert_eq!(server.ask("POST", "/v1/default/ids?count=600", "").ids().len(), 600);
    let mut stream = TcpStream::connect(server.resp.unwrap()).unwrap();
    stream.write_all(b"INCR default\r\nQUIT\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("-TRYAGAIN this client has had its share"), "{reply}");
    assert!(reply.ends_with("+OK\r\n"), "{reply}");
    let metrics = server.ask("GET", "/metrics", "");
    let counted = "operation=\"ids\",code=\"HTTP_TOO_MANY_REQUESTS\"} 1";
    assert!(metrics.text().contains(counted), "{}", metrics.text());
}
