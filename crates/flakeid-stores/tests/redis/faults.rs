use std::time::Duration;

use flakeid_protocol::store::{Continuity, Fault, Store};
use flakeid_protocol::{Acquire, Bounds, Identity, Refusal};
use flakeid_test_servers::{Proxy, RedisServer, Server, free_port};

use crate::client::{check_faults, connect, fresh_namespace, leases, renewal, request};
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
fn server_without_free_memory_is_unavailable() {
    let server = RedisServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("full");
    operations::init(&mut *store, &namespace).unwrap();
    server.command(&["CONFIG", "SET", "maxmemory", "1"]).unwrap();
    let full = operations::acquire(&mut *store, &namespace.name, &request(&namespace));
    assert!(matches!(&full, Err(Fault::Unavailable(text)) if text.contains("OOM")), "{full:?}");
    server.command(&["CONFIG", "SET", "maxmemory", "0"]).unwrap();
    assert!(operations::list(&mut *store, &namespace.name).unwrap().rows.is_empty());
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
}

#[test]
fn emptied_server_grants_nothing() {
    let server = RedisServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("emptied");
    operations::init(&mut *store, &namespace).unwrap();
    let grant = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    server.command(&["FLUSHALL"]).unwrap();
    let missing = Fault::Refused(Refusal::MissingNamespace);
    let acquired = operations::acquire(&mut *store, &namespace.name, &request(&namespace));
    assert_eq!(acquired.unwrap_err(), missing);
    let renewed = operations::renew(&mut *store, &namespace.name, &renewal(&grant));
    assert_eq!(renewed.unwrap_err(), missing);
    assert!(store.namespaces().unwrap().is_empty());
}

/// Checks that the loss of single keys, for example by eviction, is detected.
#[test]
fn loss_of_any_key_is_detected() {
    for part in [":rows", ":used", ":fences"] {
        let server = RedisServer::new();
        let mut store = connect(&server.url()).unwrap();
        let namespace = fresh_namespace("lost");
        operations::init(&mut *store, &namespace).unwrap();
        operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
        let key = |part: &str| format!("flakeid:{{{}}}{part}", namespace.name);
        server.command(&["DEL", &key(part)]).unwrap();
        let lost = operations::list(&mut *store, &namespace.name).unwrap();
        assert_eq!(lost.continuity, Continuity::Restored, "{part}");
        let refused = operations::acquire(&mut *store, &namespace.name, &request(&namespace));
        assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
        let noted = operations::list(&mut *store, &namespace.name).unwrap();
        assert_eq!((noted.continuity, noted.rows.len()), (Continuity::Same, 1), "{part}");

        server.command(&["DEL", &key(":rows"), &key(":used"), &key(":fences")]).unwrap();
        let lost = operations::list(&mut *store, &namespace.name).unwrap();
        assert_eq!(lost.continuity, Continuity::Restored, "all keys are lost");
    }
}

#[test]
fn lost_scripts_are_reloaded_and_keys_never_expire() {
    let server = RedisServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("scripts");
    operations::init(&mut *store, &namespace).unwrap();
    let grant = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    server.command(&["SCRIPT", "FLUSH"]).unwrap();
    operations::renew(&mut *store, &namespace.name, &renewal(&grant)).unwrap();
    let keys = server.command(&["KEYS", "*"]).unwrap();
    assert_eq!(keys.lines().count(), 5, "{keys}");
    for key in keys.lines() {
        assert_eq!(server.command(&["TTL", key]).unwrap(), "-1", "{key}");
    }
}

#[test]
fn keys_of_other_programs_stay_unchanged() {
    let server = RedisServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("taken");
    operations::init(&mut *store, &namespace).unwrap();
    let key = format!("flakeid:{{{}}}:history", namespace.name);
    server.command(&["SET", &key, "theirs"]).unwrap();
    let refused = operations::acquire(&mut *store, &namespace.name, &request(&namespace));
    assert!(matches!(&refused, Err(Fault::Rejected(text)) if text.contains("WRONGTYPE")));
    assert_eq!(server.command(&["GET", &key]).unwrap(), "theirs");
    server.command(&["DEL", &key]).unwrap();
    assert!(operations::list(&mut *store, &namespace.name).unwrap().rows.is_empty());
}

#[test]
fn hanging_server_and_network_are_unavailable() {
    let server = RedisServer::new();
    let proxy = Proxy::to(server.port());
    let url = format!("redis://:{}@127.0.0.1:{}/", RedisServer::PASSWORD, proxy.port());
    let mut store = connect(&url).unwrap();
    let namespace = fresh_namespace("hanging");
    operations::init(&mut *store, &namespace).unwrap();
    server.pause();
    check_hanging(&mut *store, &namespace, &url);
    server.resume();
    let mut store = connect(&url).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    proxy.cut();
    check_hanging(&mut *store, &namespace, &url);
    proxy.heal();
    let mut store = connect(&url).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    proxy.reset();
    let broken = operations::list(&mut *store, &namespace.name).map(drop);
    assert!(matches!(broken, Err(Fault::Unavailable(_))), "{broken:?}");
}

/// Checks that the fast-forward that the documentation recommends ends all leases and keeps windows disjoint after
/// older data were swapped in. The store does not detect such data, and their tokens are valid.
#[test]
fn fast_forward_keeps_windows_disjoint_after_undetected_restore() {
    let server = RedisServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = brief_namespace("swapped");
    let name = &namespace.name;
    operations::init(&mut *store, &namespace).unwrap();
    let granted = |store: &mut dyn Store| loop {
        let node_0 = Acquire { identity: Identity::Node(0), ..request(&namespace) };
        match operations::acquire(store, name, &node_0) {
            Err(Fault::Refused(Refusal::FenceInFuture { retry_after_ms })) => {
                std::thread::sleep(Duration::from_millis(retry_after_ms.min(500)));
            }
            granted => break granted.unwrap(),
        }
    };
    let early = granted(&mut *store);
    for key in server.command(&["KEYS", "*"]).unwrap().lines() {
        server.command(&["COPY", key, key, "DB", "1"]).unwrap();
    }
    let lost = granted(&mut *store);
    assert!(lost.start >= early.fence);
    server.command(&["SWAPDB", "0", "1"]).unwrap();
    let listing = operations::list(&mut *store, name).unwrap();
    assert_eq!((listing.continuity, listing.rows[0].token), (Continuity::Same, Some(early.token)));

    let Bounds { max_window_ms, max_ahead_ms, max_skew_ms, .. } = namespace.bounds;
    let reach = max_window_ms + max_ahead_ms + 2 * max_skew_ms;
    let now = namespace.layout.tick_at(listing.now).unwrap();
    operations::fast_forward(&mut *store, name, now + reach).unwrap();
    for grant in [&early, &lost] {
        let renewed = operations::renew(&mut *store, name, &renewal(grant));
        let fault = renewed.unwrap_err();
        let void = matches!(fault, Fault::Refused(Refusal::FencedOff | Refusal::Restored { .. }));
        assert!(void, "{fault:?}");
    }
    let next = granted(&mut *store);
    assert!(next.start >= lost.fence, "{next:?} {lost:?}");
}
