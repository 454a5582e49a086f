//! Tests of CORS: the allowed origins, and the headers that browsers receive.

use flakeid_server::{Origins, ServeOptions, Tokens};

use crate::client::{Reply, TestServer, service};

const TOKEN: &str = "0123456789abcdef";

fn server(origins: &[&str]) -> TestServer {
    let mut allowed = Origins::default();
    for origin in origins {
        allowed.allow(origin).unwrap();
    }
    let tokens = Tokens::parse(TOKEN).unwrap();
    TestServer::new(service().origins(allowed).tokens(tokens), ServeOptions::default())
}

fn preflight(server: &TestServer, target: &str, origin: &str, more: &str) -> Reply {
    let headers = format!("Origin: {origin}\r\nAccess-Control-Request-Method: POST\r\n{more}");
    server.ask("OPTIONS", target, &headers)
}

#[test]
fn web_pages_from_allowed_origins_can_send_requests() {
    let server = server(&["https://app.example", "http://localhost:3000"]);
    for origin in ["https://app.example", "http://localhost:3000"] {
        let allowed = preflight(&server, "/v1/default/ids", origin, "");
        assert_eq!(allowed.status, 204, "{}", allowed.text());
        assert_eq!(allowed.header("access-control-allow-origin"), Some(origin));
        assert_eq!(allowed.header("access-control-allow-methods"), Some("POST"));
        assert_eq!(
            allowed.header("access-control-allow-headers"),
            Some("authorization, content-type, accept")
        );
        assert_eq!(allowed.header("access-control-max-age"), Some("7200"));
        assert_eq!(allowed.header("vary"), Some("origin"));
        assert_eq!(allowed.header("access-control-allow-credentials"), None);
        assert_eq!(allowed.header("access-control-allow-private-network"), None);

        let headers = format!("Origin: {origin}\r\nAuthorization: Bearer {TOKEN}\r\n");
        let issued = server.ask("POST", "/v1/default/ids", &headers);
        assert_eq!(issued.ids().len(), 1);
        assert_eq!(issued.header("access-control-allow-origin"), Some(origin));
        assert_eq!(issued.header("vary"), Some("origin"));
        // An error response also needs the CORS header, so that the web page can read the error.
        let refused = server.ask("POST", "/v1/default/ids", &format!("Origin: {origin}\r\n"));
        assert_eq!(refused.status, 401);
        assert_eq!(refused.header("access-control-allow-origin"), Some(origin));
    }
    let leases = preflight(&server, "/v1/default/leases/7", "https://app.example", "");
    assert_eq!(leases.header("access-control-allow-methods"), Some("PATCH, DELETE"));
    let private = "Access-Control-Request-Private-Network: true\r\n";
    let private = preflight(&server, "/v1/default/ids", "https://app.example", private);
    assert_eq!(private.header("access-control-allow-private-network"), Some("true"));
}

#[test]
fn preflight_requests_from_unlisted_origins_are_rejected() {
    let named = server(&["https://app.example"]);
    let without = server(&[]);
    for (server, vary) in [(&named, Some("origin")), (&without, None)] {
        for origin in ["https://app.example.evil", "http://app.example", "null"] {
            let refused = preflight(server, "/v1/default/ids", origin, "");
            assert_eq!(refused.status, 403, "{}", refused.text());
            assert_eq!(refused.header("access-control-allow-origin"), None);
            assert_eq!(refused.header("access-control-allow-methods"), None);
            assert_eq!(refused.header("vary"), vary);
        }
    }
    // A request without an `Origin` header is not a cross-origin request, so its response has no
    // CORS headers.
    let headers = format!("Authorization: Bearer {TOKEN}\r\n");
    let issued = named.ask("POST", "/v1/default/ids", &headers);
    assert_eq!(issued.ids().len(), 1);
    assert_eq!(issued.header("access-control-allow-origin"), None);
    // An `OPTIONS` request without an `Origin` header is not a CORS preflight request.
    let options = named.ask("OPTIONS", "/v1/default/ids", &headers);
    assert_eq!(options.status, 405);
}

#[test]
fn wildcard_allows_web_pages_from_every_origin() {
    let server = server(&["*"]);
    let private = "Access-Control-Request-Private-Network: true\r\n";
    let allowed = preflight(&server, "/v1/default/ids", "https://any.example", private);
    assert_eq!(allowed.status, 204);
    assert_eq!(allowed.header("access-control-allow-origin"), Some("*"));
    assert_eq!(allowed.header("access-control-allow-private-network"), None);
    let unknown = preflight(&server, "/v1/default/", "https://any.example", "");
    assert_eq!(unknown.status, 404);
    let headers = format!("Origin: https://a.example\r\nAuthorization: Bearer {TOKEN}\r\n");
    assert_eq!(server.ask("POST", "/v1/default/ids", &headers).ids().len(), 1);
}

/// A server that does not require tokens can recognize requests from web pages only by the request
/// headers, such as `Origin` and `Host`.
#[test]
fn web_pages_cannot_use_servers_that_require_no_token() {
    let server = TestServer::new(service().loopback_names_only(), ServeOptions::default());
    let send = |headers: &str| {
        let request = format!("POST /v1/default/ids HTTP/1.1\r\n{headers}\r\n");
        let mut client = server.connect();
        std::io::Write::write_all(&mut client.stream, request.as_bytes()).unwrap();
        let reply = client.reply().unwrap();
        (reply.status, reply.text().to_owned())
    };
    for headers in ["Host: localhost\r\n", "Host: 127.0.0.1:7117\r\n", "Host: [::1]\r\n"] {
        assert_eq!(send(headers).0, 200, "{headers}");
    }
    for (headers, status, part) in [
        ("Host: localhost\r\nOrigin: https://evil.example\r\n", 403, "--allow-origin"),
        ("Host: localhost\r\nSec-Fetch-Site: cross-site\r\n", 403, "--allow-origin"),
        ("Host: evil.example\r\nOrigin: http://evil.example\r\n", 403, "--token-file"),
        ("", 400, "exactly one Host"),
        ("Host: localhost\r\nHost: evil.example\r\n", 400, "exactly one Host"),
    ] {
        let (found, text) = send(headers);
        assert_eq!(found, status, "{headers}: {text}");
        assert!(text.contains(part), "{headers}: {text}");
    }
}
