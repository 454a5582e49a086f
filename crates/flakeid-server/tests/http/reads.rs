use std::time::Duration;

use flakeid_core::{Generator, Layout, ManualClock};
use flakeid_server::{ServeOptions, Tokens};
use serde_json::Value;

use crate::client::{TestServer, service, service_of};

#[test]
fn read_only_endpoints_return_the_expected_json() {
    let server = TestServer::new(service(), ServeOptions::default());
    let ask = |target: &str| -> Value {
        let reply = server.ask("GET", target, "");
        assert_eq!(reply.status, 200, "{target}: {}", reply.text());
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        serde_json::from_str(reply.text()).unwrap()
    };
    let id = ask("/v1/default/ids/910499571847892992");
    assert_eq!(id["timestamp"], "2017-09-20T13:43:08.849Z");
    assert_eq!((&id["datacenter"], &id["worker"]), (&17.into(), &25.into()));
    let bounds = ask("/v1/default/bounds?from=2026-01-01&to=2026-01-31T23%3A59%3A59.999Z");
    let lower = Layout::TWITTER.lower_bound(1_767_225_600_000).to_string();
    assert_eq!(bounds["lower"], lower);
    let upper = Layout::TWITTER.upper_bound(1_769_903_999_999).to_string();
    assert_eq!(bounds["upper"], upper);
    assert_eq!(bounds["to"], "2026-01-31T23:59:59.999Z");
    let layout = ask("/v1/default/layout");
    assert_eq!((&layout["name"], &layout["nodes"]), (&"twitter".into(), &1024.into()));
    assert_eq!(ask("/openapi.json")["openapi"], "3.1.0");
    let ready = ask("/readyz");
    assert_eq!(ready["namespaces"]["default"]["ready"], true);
    assert_eq!(ready["namespaces"]["default"]["seconds_left"], Value::Null);
}

#[test]
fn web_page_is_served_without_a_token() {
    let tokens = Tokens::parse("0123456789abcdef").unwrap();
    let html = "<!doctype html><title>IDs</title>";
    let server = TestServer::new(service().page(html).tokens(tokens), ServeOptions::default());
    let page = server.ask("GET", "/ui", "");
    assert_eq!((page.status, page.text()), (200, html));
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.header("content-security-policy"), Some("frame-ancestors 'none'"));
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(server.ask("POST", "/ui", "").status, 405);

    let without = TestServer::new(service(), ServeOptions::default());
    let missing = without.ask("GET", "/ui", "");
    assert_eq!(missing.status, 404);
    assert!(missing.text().contains("--ui"), "{}", missing.text());
}

/// The server supports every path and method in its `OpenAPI` description.
#[test]
fn server_supports_every_path_in_the_openapi_description() {
    let server = TestServer::new(service().page("<!doctype html>"), ServeOptions::default());
    let text = server.ask("GET", "/openapi.json", "");
    let description: Value = serde_json::from_str(text.text()).unwrap();
    let paths = description["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 12);
    let without_broker = "grants no leases of namespace";
    for (path, methods) in paths {
        let target = path
            .replace("{namespace}", "default")
            .replace("{id}", "1")
            .replace("{node}", "1")
            .replace("bounds", "bounds?from=0");
        for method in methods.as_object().unwrap().keys() {
            let reply = server.ask(&method.to_uppercase(), &target, "");
            // The server in this test grants no leases, so it may refuse the lease methods. Other
            // tests cover the lease methods.
            let is_of_leases = path.contains("leases") || path.ends_with("/holder");
            let is_refused = is_of_leases && reply.text().contains(without_broker);
            assert!(reply.status == 200 || is_refused, "{method} {path}: {}", reply.text());
        }
    }
}

#[test]
fn metrics_count_ids_and_requests_by_result() {
    let server = TestServer::new(service(), ServeOptions::default());
    server.ask("POST", "/v1/default/ids?count=5", "");
    server.ask("POST", "/v1/default/ids?count=0", "");
    server.ask("GET", "/nothing", "");
    let metrics = server.ask("GET", "/metrics", "");
    for line in [
        "flakeid_ids_total{id_namespace=\"default\"} 5",
        "flakeid_requests_total{operation=\"ids\",code=\"OK\"} 1",
        "flakeid_requests_total{operation=\"ids\",code=\"FLAKEID_FIELD_OUT_OF_RANGE\"} 1",
        "flakeid_requests_total{operation=\"none\",code=\"HTTP_NOT_FOUND\"} 1",
        "flakeid_request_seconds_count{operation=\"ids\"} 2",
        "flakeid_ready{id_namespace=\"default\"} 1.0",
        "# EOF",
    ] {
        assert!(metrics.text().lines().any(|found| found == line), "{line}: {}", metrics.text());
    }
}

/// The clock does not advance, so only the 4,096 IDs of one tick are available without waiting.
#[test]
fn wait_metric_counts_each_response_at_most_once() {
    let clock = ManualClock::new(1_800_000_000_000);
    // This test needs its own layout, because generators with the same layout and node share the
    // tick and sequence number of the next ID.
    let layout = "t41.n10.s12@1/1ms".parse().unwrap();
    let generator = Generator::builder(layout).node(7).clock(clock).build().unwrap();
    let service = service_of(generator).max_wait(Duration::from_millis(20));
    let server = TestServer::new(service, ServeOptions::default());
    let waits = || {
        let metrics = server.ask("GET", "/metrics", "");
        let of = "flakeid_waits_total{id_namespace=\"default\"} ";
        let line = metrics.text().lines().find_map(|line| line.strip_prefix(of));
        line.unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(server.ask("POST", "/v1/default/ids?count=4096", "").ids().len(), 4_096);
    assert_eq!(waits(), 0);
    assert_eq!(server.ask("POST", "/v1/default/ids", "").status, 503);
    assert_eq!(waits(), 1, "a response must count only once, however often it tries");
}
