use std::net::TcpListener;

use flakeid_lease::store::{Continuity, Fault, operations};
use flakeid_test_servers::{MariadbServer, Server, free_port};

use crate::client::{check_faults, connect, fresh_namespace, request};

const PASSWORD: &str = MariadbServer::PASSWORD;

#[test]
fn errors_name_the_place_and_keep_the_password() {
    let server = MariadbServer::new();
    let nobody = free_port();
    let cases = [
        (server.url_of("flakeid", "wr0ng-secret", "ids", ""), false, "Access denied"),
        (server.url_of("nobody", "wr0ng-secret", "ids", ""), false, "Access denied"),
        (server.url_of("flakeid", PASSWORD, "missing", ""), false, "missing"),
        (server.url_of("flakeid", PASSWORD, "ids", "?wr0ng-secret=1"), false, "unknown option"),
        (server.url_of("flakeid", "wr0ng?secret@", "ids", ""), false, "unknown option"),
        (server.url_of("flakeid", "wr0ng/secret", "ids", ""), false, "not of the form"),
        (format!("mysql://u:wr0ng-secret@127.0.0.1:{nobody}/d"), true, "refused"),
        (format!("mysql://u:wr0ng-secret@127.0.0.1:{nobody}"), false, "no database"),
        (format!("mysql://u:wr0ng-secret@127.0.0.1:{nobody}x/d"), false, "not of the form"),
        ("mysql://u:wr0ng-secret@no-such-host.invalid/d".into(), true, "nput/output"),
    ];
    check_faults(&cases, &["wr0ng", "secret", PASSWORD]);
}

#[test]
fn missing_tables_are_named() {
    let server = MariadbServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("missing");
    for _ in 0..2 {
        let fault =
            operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap_err();
        assert!(matches!(fault, Fault::Rejected(_)) && fault.to_string().contains("leases init"));
    }
    operations::init(&mut *store, &namespace).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    server.sql("UPDATE ids.flakeid_schema SET version = 2").unwrap();
    let fault = operations::list(&mut *store, &namespace.name).unwrap_err();
    assert!(fault.to_string().contains("version 2"), "{fault}");
}

/// A server that hangs is noticed, before and after connecting, and forgotten once it goes on.
#[test]
fn paused_servers_are_unavailable() {
    let server = MariadbServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("paused");
    operations::init(&mut *store, &namespace).unwrap();
    let request = request(&namespace);
    server.pause();
    let hung = operations::acquire(&mut *store, &namespace.name, &request);
    let refused = connect(&server.url()).map(drop);
    server.resume();
    for outcome in [hung.map(drop), refused] {
        let Err(Fault::Unavailable(text)) = outcome else { panic!("{outcome:?}") };
        assert!(text.contains("did not answer") || text.contains("time"), "{text}");
    }
    // What state the connection is in nobody knows, so it stays out of use.
    let lost = operations::list(&mut *store, &namespace.name).unwrap_err();
    assert!(matches!(lost, Fault::Unavailable(_)), "{lost:?}");
    let mut store = connect(&server.url()).unwrap();
    operations::acquire(&mut *store, &namespace.name, &self::request(&namespace)).unwrap();
}

/// Something accepts connections and says nothing.
#[test]
fn silent_listeners_are_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let fault = connect(&format!("mysql://u:p@127.0.0.1:{port}/d")).map(drop).unwrap_err();
    assert!(matches!(fault, Fault::Unavailable(_)), "{fault:?}");
}

#[test]
fn killed_servers_are_unavailable_until_they_run_again() {
    let server = MariadbServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("killed");
    operations::init(&mut *store, &namespace).unwrap();
    let grant = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    server.kill();
    let fault = operations::list(&mut *store, &namespace.name).unwrap_err();
    assert!(matches!(fault, Fault::Unavailable(_)), "{fault:?}");
    assert!(matches!(connect(&server.url()), Err(Fault::Unavailable(_))));
    server.start();
    let mut store = connect(&server.url()).unwrap();
    let listing = operations::list(&mut *store, &namespace.name).unwrap();
    assert_eq!(listing.continuity, Continuity::Restored);
    assert_eq!(listing.rows[0].fence, grant.fence);
}

/// A lock that somebody holds for long is waited for with patience, and then given up.
#[test]
fn locked_rows_are_unavailable() {
    let server = MariadbServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("locked");
    operations::init(&mut *store, &namespace).unwrap();
    let grant = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    std::thread::scope(|scope| {
        let blocker = scope.spawn(|| {
            server.sql(&format!(
                "BEGIN; SELECT node FROM ids.flakeid_node WHERE namespace = '{}' AND node = {} \
                 FOR UPDATE; SELECT SLEEP(12); COMMIT",
                namespace.name, grant.node
            ))
        });
        let held = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User sleep'";
        while server.sql(held).unwrap() != "1" {
            std::thread::yield_now();
        }
        let request = flakeid_lease::protocol::Release {
            node: grant.node,
            token: grant.token,
            used_until: grant.start,
        };
        let outcome = operations::release(&mut *store, &namespace.name, &request);
        assert!(matches!(outcome, Err(Fault::Unavailable(_))), "{outcome:?}");
        // The others' nodes are not theirs to lock: a free one is found.
        let mut store = connect(&server.url()).unwrap();
        let other =
            operations::acquire(&mut *store, &namespace.name, &self::request(&namespace)).unwrap();
        assert_ne!(other.node, grant.node);
        blocker.join().unwrap().unwrap();
    });
}

#[test]
fn replicas_are_refused() {
    let server = MariadbServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("replica");
    operations::init(&mut *store, &namespace).unwrap();
    server.sql("SET GLOBAL read_only = 1").unwrap();
    let fault = operations::list(&mut *store, &namespace.name).unwrap_err();
    assert!(matches!(&fault, Fault::Unavailable(text) if text.contains("read-only")), "{fault:?}");
    server.sql("SET GLOBAL read_only = 0").unwrap();
    let mut store = connect(&server.url()).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
}

/// A copy that is put back while the server is stopped is another run.
#[test]
fn cold_copies_are_noticed() {
    let server = MariadbServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("cold");
    operations::init(&mut *store, &namespace).unwrap();
    drop(store);
    server.stop();
    let copy = tempfile::tempdir().unwrap();
    let copied = |from: &std::path::Path, to: &std::path::Path| {
        let status = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status();
        assert!(status.unwrap().success());
    };
    copied(&server.data(), copy.path());
    server.start();
    let mut store = connect(&server.url()).unwrap();
    operations::adopt(&mut *store, &namespace.name).unwrap();
    let listing = operations::list(&mut *store, &namespace.name).unwrap();
    assert_eq!(listing.continuity, Continuity::Same);
    drop(store);
    server.stop();
    std::fs::remove_dir_all(server.data()).unwrap();
    copied(&copy.path().join("data"), &server.data());
    server.start();
    let mut store = connect(&server.url()).unwrap();
    let listing = operations::list(&mut *store, &namespace.name).unwrap();
    assert_eq!(listing.continuity, Continuity::Restored);
}

/// A store is used from a thread of an asynchronous runtime as from any other.
#[test]
fn asynchronous_callers_may_wait() {
    let server = MariadbServer::new();
    let namespace = fresh_namespace("tokio");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut store = connect(&server.url()).unwrap();
        operations::init(&mut *store, &namespace).unwrap();
        operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    });
}
