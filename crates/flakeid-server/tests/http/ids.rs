use std::collections::HashSet;
use std::time::Duration;

use flakeid_core::{Clock, Generator, Layout, ManualClock, SystemClock};
use flakeid_server::ServeOptions;

use crate::client::{TestServer, service, service_of};

#[test]
fn every_response_format_returns_all_ids_in_increasing_order() {
    let server = TestServer::new(service(), ServeOptions::default());
    let mut last = 0;
    let mut increase = |ids: &[u64]| {
        for id in ids {
            assert!(*id > last, "{id} after {last}");
            last = *id;
        }
    };
    for count in [1, 2, 4_096, 4_097, 100_000] {
        let target = format!("/v1/default/ids?count={count}");
        let json = server.ask("POST", &target, "");
        assert_eq!((json.status, json.header("content-type")), (200, Some("application/json")));
        assert_eq!(json.ids().len(), count);
        increase(&json.ids());

        let text = server.ask("POST", &target, "Accept: text/plain\r\n");
        let ids: Vec<u64> = text.text().lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(ids.len(), count);
        increase(&ids);

        let lines = server.ask("POST", &target, "Accept: application/x-ndjson\r\n");
        let id = |line: &str| line.strip_prefix("{\"id\":\"")?.strip_suffix("\"}")?.parse().ok();
        let ids: Vec<u64> = lines.text().lines().map(|line| id(line).unwrap()).collect();
        assert_eq!(ids.len(), count);
        increase(&ids);

        let octets = server.ask("POST", &target, "Accept: application/octet-stream\r\n");
        assert_eq!(octets.header("content-length"), Some(&*(8 * count).to_string()));
        let id = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().unwrap());
        increase(&octets.body.chunks(8).map(id).collect::<Vec<_>>());
    }
    assert_eq!(server.ask("POST", "/v1/default/ids", "").ids().len(), 1);
}

/// Concurrent clients with persistent connections must never get the same ID.
#[test]
fn concurrent_http_clients_never_get_the_same_id() {
    let server = TestServer::new(service(), ServeOptions::default());
    let all: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = server.connect();
                    let replies = (0..500).map(|number| {
                        let target = format!("/v1/default/ids?count={}", 1 + number % 7);
                        client.ask("POST", &target, "").ids()
                    });
                    replies.collect::<Vec<_>>().concat()
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let count: usize = all.iter().map(Vec::len).sum();
    let distinct: HashSet<u64> = all.into_iter().flatten().collect();
    assert_eq!(distinct.len(), count);
    assert!(count > 15_000);
}

/// The layout allows two IDs per second. Requests that need more IDs wait for at most `max_wait`,
/// and do not block a thread.
#[test]
fn waiting_requests_time_out_and_do_not_block_threads() {
    let slow: Layout = "t31.n20.s1@1420070400000/1s".parse().unwrap();
    let clock = ManualClock::new(SystemClock.unix_ms());
    let generator = Generator::builder(slow).node(7).clock(clock.clone()).build().unwrap();
    let service = service_of(generator).max_wait(Duration::from_secs(60));
    let server = TestServer::new(service, ServeOptions::default());
    std::thread::scope(|scope| {
        // The number of waiting requests exceeds the number of the server's threads.
        let waiting: Vec<_> = (0..5)
            .map(|_| scope.spawn(|| server.ask("POST", "/v1/default/ids?count=1", "").ids()))
            .collect();
        // Three requests wait, because the clock stands still.
        let finished = || waiting.iter().filter(|request| request.is_finished()).count();
        while finished() < 2 {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(server.ask("GET", "/livez", "").text(), "ok\n");
        assert_eq!(finished(), 2);
        while finished() < 5 {
            clock.advance(Duration::from_secs(1));
            std::thread::sleep(Duration::from_millis(10));
        }
        let ids = waiting.into_iter().flat_map(|ids| ids.join().unwrap());
        assert_eq!(ids.collect::<HashSet<_>>().len(), 5);
    });

    let service = service_of(Generator::new(slow, 7).unwrap()).max_wait(Duration::from_millis(20));
    let server = TestServer::new(service, ServeOptions::default());
    let refused = (0..5)
        .map(|_| server.ask("POST", "/v1/default/ids?count=2", ""))
        .find(|reply| reply.status != 200)
        .expect("a rejected request, because the layout has two IDs per second");
    assert_eq!(refused.status, 503);
    assert!(refused.text().contains("\"FLAKEID_SEQUENCE_EXHAUSTED\""), "{}", refused.text());
    assert!(refused.text().contains("\"retry_after_ms\":"), "{}", refused.text());
    assert_eq!(refused.header("retry-after"), Some("1"));
}

#[test]
fn invalid_http_requests_return_specific_errors() {
    let server = TestServer::new(service().max_count(1_000), ServeOptions::default());
    for (method, target, headers, status, parts) in [
        ("POST", "/v1/default/ids?count=0", "", 400, ["FIELD_OUT_OF_RANGE", "from 1 to 1000"]),
        ("POST", "/v1/default/ids?count=1001", "", 413, ["count 1001", "\"field\":\"count\""]),
        ("POST", "/v1/default/ids?count=-1", "", 400, ["INVALID_OPTION", "whole number"]),
        ("POST", "/v1/default/ids?count=", "", 400, ["INVALID_OPTION", "whole number"]),
        ("POST", "/v1/default/ids?number=3", "", 400, ["number", "known: count"]),
        ("POST", "/v1/default/ids?count=1&count=2", "", 400, ["count", "only once"]),
        ("POST", "/v1/default/ids", "Accept: image/png\r\n", 406, ["NOT_ACCEPTABLE", "text/plain"]),
        ("GET", "/v1/default/ids", "", 405, ["METHOD_NOT_ALLOWED", "POST"]),
        ("POST", "/v1/default/layout", "", 405, ["METHOD_NOT_ALLOWED", "GET"]),
        ("POST", "/v1/other/ids", "", 404, ["HTTP_NOT_FOUND", "serves: default"]),
        ("POST", "/v1/%6frders/ids", "", 400, ["namespace", "1 to 64"]),
        ("GET", "/v1/default/ids/12x", "", 400, ["FLAKEID_INVALID_ID", "12x"]),
        ("GET", "/v1/default/bounds", "", 400, ["from", "at least one"]),
        ("GET", "/v1/default/bounds?from=2&to=1", "", 400, ["from", "after"]),
        ("GET", "/v1/default/bounds?from=soon", "", 400, ["soon", "RFC 3339"]),
        ("GET", "/v2/default/layout", "", 404, ["HTTP_NOT_FOUND", "/openapi.json"]),
    ] {
        let reply = server.ask(method, target, headers);
        assert_eq!(reply.status, status, "{method} {target}: {}", reply.text());
        for part in parts {
            assert!(reply.text().contains(part), "{method} {target}: {}", reply.text());
        }
        assert!(reply.text().starts_with("{\"error\":{\"code\":\""), "{}", reply.text());
        assert_eq!(reply.header("cache-control"), Some("no-store"));
    }
    assert_eq!(server.ask("GET", "/v1/default/ids", "").header("allow"), Some("POST"));
}
