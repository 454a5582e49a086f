use std::time::Duration;

use flakeid_protocol::store::{Continuity, Fault};
use flakeid_protocol::{Acquire, Bounds, Identity, Refusal};
use flakeid_test_servers::{Proxy, RedisServer, Server, free_port};

use crate::client::{Client, check_faults, connect, leases};
use crate::operations;
use crate::optimistic::{brief_namespace, check_hanging};

#[test]
fn errors_name_the_server_and_hide_the_password() {
    let server = RedisServer::new();
    server.command(&["ACL", "SETUSER", "weak", "on", ">wr0ng-secret", "+auth", "~*"]).unwrap();
    let nobody = free_port();
    let cases = [
        (server.url_of("", "wr0ng-secret", "0"), false, "127.0.0.1"),
        (server.url_of("nobody", "wr0ng-secret", "0"), false, "127.0.0.1"),
        (server.url_of("weak", "wr0ng-secret", "0"), false, "NOPERM"),
        (format!("redis://127.0.0.1:{}/", server.port()), false, "NOAUTH"),
        (server.url_of("", RedisServer::PASSWORD, "zero"), false, "database"),
        (server.url_of("", RedisServer::PASSWORD, "0?wr0ng-secret=1"), false, "unknown option"),
        (server.url_of("", RedisServer::PASSWORD, "0?replicas=wr0ng"), false, "replicas"),
        (format!("redis://u:wr0ng-secret@127.0.0.1:{nobody}/"), true, "refused"),
        (format!("redis://u:wr0ng-secret@127.0.0.1:{nobody}x/"), false, "URL"),
    ];
    check_faults(&cases, &["wr0ng", "secret", RedisServer::PASSWORD]);
}

#[test]
fn server_that_evicts_keys_is_refused() {
    let server = RedisServer::with(&["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]);
    let Err(Fault::Rejected(text)) = connect(&server.url()).map(drop) else {
        panic!("the server was accepted")
    };
    assert!(text.contains("allkeys-lru") && text.contains("noeviction"), "{text}");
    server.command(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]).unwrap();
    leases(&server.url());
}

#[test]
fn server_without_free_memory_is_reported_as_unavailable() {
    let server = RedisServer::new();
    let mut client = Client::new(&server.url(), "full");
    server.command(&["CONFIG", "SET", "maxmemory", "1"]).unwrap();
    let full = client.acquire();
    assert!(matches!(&full, Err(Fault::Unavailable(text)) if text.contains("OOM")), "{full:?}");
    server.command(&["CONFIG", "SET", "maxmemory", "0"]).unwrap();
    assert!(client.list().unwrap().rows.is_empty());
    client.acquire().unwrap();
}

#[test]
fn emptied_server_grants_and_renews_no_leases() {
    let server = RedisServer::new();
    let mut client = Client::new(&server.url(), "emptied");
    let grant = client.acquire().unwrap();
    server.command(&["FLUSHALL"]).unwrap();
    let missing = Fault::Refused(Refusal::MissingNamespace);
    let acquired = client.acquire();
    assert_eq!(acquired.unwrap_err(), missing);
    let renewed = client.renew(&grant);
    assert_eq!(renewed.unwrap_err(), missing);
    assert!(client.store.namespaces().unwrap().is_empty());
}

/// Checks that the loss of individual keys, for example by eviction, is detected.
#[test]
fn loss_of_any_key_is_detected() {
    for part in [":rows", ":used", ":fences"] {
        let server = RedisServer::new();
        let mut client = Client::new(&server.url(), "lost");
        client.acquire().unwrap();
        let name = client.namespace.name.clone();
        let key = |part: &str| format!("flakeid:{{{name}}}{part}");
        server.command(&["DEL", &key(part)]).unwrap();
        let lost = client.list().unwrap();
        assert_eq!(lost.continuity, Continuity::Restored, "{part}");
        client.assert_restored();
        let noted = client.list().unwrap();
        assert_eq!((noted.continuity, noted.rows.len()), (Continuity::Same, 1), "{part}");

        server.command(&["DEL", &key(":rows"), &key(":used"), &key(":fences")]).unwrap();
        let lost = client.list().unwrap();
        assert_eq!(lost.continuity, Continuity::Restored, "all keys are lost");
    }
}

#[test]
fn lost_scripts_are_reloaded_and_keys_never_expire() {
    let server = RedisServer::new();
    let mut client = Client::new(&server.url(), "scripts");
    let grant = client.acquire().unwrap();
    server.command(&["SCRIPT", "FLUSH"]).unwrap();
    client.renew(&grant).unwrap();
    let keys = server.command(&["KEYS", "*"]).unwrap();
    assert_eq!(keys.lines().count(), 5, "{keys}");
    for key in keys.lines() {
        assert_eq!(server.command(&["TTL", key]).unwrap(), "-1", "{key}");
    }
}

#[test]
fn keys_of_other_programs_stay_unchanged() {
    let server = RedisServer::new();
    let mut client = Client::new(&server.url(), "taken");
    let key = format!("flakeid:{{{}}}:history", client.namespace.name);
    server.command(&["SET", &key, "theirs"]).unwrap();
    let refused = client.acquire();
    assert!(matches!(&refused, Err(Fault::Rejected(text)) if text.contains("WRONGTYPE")));
    assert_eq!(server.command(&["GET", &key]).unwrap(), "theirs");
    server.command(&["DEL", &key]).unwrap();
    assert!(client.list().unwrap().rows.is_empty());
}

#[test]
fn hanging_server_or_network_is_reported_as_unavailable() {
    let server = RedisServer::new();
    let proxy = Proxy::to(server.port());
    let url = format!("redis://:{}@127.0.0.1:{}/", RedisServer::PASSWORD, proxy.port());
    let mut client = Client::new(&url, "hanging");
    server.pause();
    check_hanging(&mut client, &url);
    server.resume();
    client.reconnect(&url);
    client.acquire().unwrap();
    proxy.cut();
    check_hanging(&mut client, &url);
    proxy.heal();
    client.reconnect(&url);
    client.acquire().unwrap();
    proxy.reset();
    let broken = client.list().map(drop);
    assert!(matches!(broken, Err(Fault::Unavailable(_))), "{broken:?}");
}

/// Checks that the documented remedy for an undetected restore, a fast-forward, ends all leases and keeps windows
/// disjoint. The store does not detect that an operator has swapped in older data. Without a fast-forward, the tokens
/// in that data would remain valid.
#[test]
fn fast_forward_keeps_windows_disjoint_after_an_undetected_restore() {
    let server = RedisServer::new();
    let mut client = Client::with(&server.url(), brief_namespace("swapped"));
    let granted = |client: &mut Client| loop {
        let node_0 = Acquire { identity: Identity::Node(0), ..client.request() };
        match client.acquire_as(&node_0) {
            Err(Fault::Refused(Refusal::FenceInFuture { retry_after_ms })) => {
                std::thread::sleep(Duration::from_millis(retry_after_ms.min(500)));
            }
            granted => break granted.unwrap(),
        }
    };
    let early = granted(&mut client);
    for key in server.command(&["KEYS", "*"]).unwrap().lines() {
        server.command(&["COPY", key, key, "DB", "1"]).unwrap();
    }
    let lost = granted(&mut client);
    assert!(lost.start >= early.fence);
    server.command(&["SWAPDB", "0", "1"]).unwrap();
    let listing = client.list().unwrap();
    assert_eq!((listing.continuity, listing.rows[0].token), (Continuity::Same, Some(early.token)));

    let Bounds { max_window_ms, max_ahead_ms, max_skew_ms, .. } = client.namespace.bounds;
    let reach = max_window_ms + max_ahead_ms + 3 * max_skew_ms;
    let now = client.namespace.layout.tick_at(listing.now).unwrap();
    operations::fast_forward(&mut *client.store, &client.namespace.name, now + reach).unwrap();
    for grant in [&early, &lost] {
        let renewed = client.renew(grant);
        let fault = renewed.unwrap_err();
        let void = matches!(fault, Fault::Refused(Refusal::FencedOff | Refusal::Restored { .. }));
        assert!(void, "{fault:?}");
    }
    let next = granted(&mut client);
    assert!(next.start >= lost.fence, "{next:?} {lost:?}");
}
