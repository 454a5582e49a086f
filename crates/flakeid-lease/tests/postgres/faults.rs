use std::net::TcpListener;
use std::time::Duration;

use flakeid_lease::LeasedGenerator;
use flakeid_lease::protocol::Refusal;
use flakeid_lease::store::{Continuity, Fault, operations};
use flakeid_test_servers::{PostgresServer, Server, free_port};

use crate::client::{check_faults, connect, fresh_namespace, request};

const PASSWORD: &str = PostgresServer::PASSWORD;

#[test]
fn errors_name_the_place_and_keep_the_password() {
    let server = PostgresServer::new();
    let nobody = free_port();
    let cases = [
        (server.url_of("flakeid", "wr0ng-secret", "ids", ""), false, "password authentication"),
        (server.url_of("nobody", "wr0ng-secret", "ids", ""), false, "password authentication"),
        (server.url_of("flakeid", PASSWORD, "missing", ""), false, "does not exist"),
        (server.url_of("flakeid", PASSWORD, "ids", "?wr0ng-secret=1"), false, "unknown option"),
        (server.url_of("flakeid", "wr0ng?secret@", "ids", ""), false, "unknown option"),
        (server.url_of("flakeid", "wr0ng/secret", "ids", ""), false, "password authentication"),
        (format!("postgresql://u:wr0ng-secret@127.0.0.1:{nobody}/d"), true, "refused"),
        (format!("postgresql://u:wr0ng-secret@127.0.0.1:{nobody}x/d"), false, "port"),
        ("postgresql://u:wr0ng-secret@no-such-host.invalid/d".into(), true, "connecting"),
    ];
    check_faults(&cases, &["wr0ng", "secret", PASSWORD]);
}

#[test]
fn missing_tables_are_named() {
    let server = PostgresServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("missing");
    for _ in 0..2 {
        let fault =
            operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap_err();
        assert!(matches!(fault, Fault::Rejected(_)) && fault.to_string().contains("leases init"));
    }
    operations::init(&mut *store, &namespace).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    server.sql("UPDATE flakeid_schema SET version = 2").unwrap();
    let fault = operations::list(&mut *store, &namespace.name).unwrap_err();
    assert!(fault.to_string().contains("version 2"), "{fault}");
}

/// A server that hangs is noticed, before and after connecting, and forgotten once it goes on.
#[test]
fn paused_servers_are_unavailable() {
    let server = PostgresServer::new();
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
    let fault = connect(&format!("postgresql://u:p@127.0.0.1:{port}/d")).map(drop).unwrap_err();
    assert!(matches!(fault, Fault::Unavailable(_)), "{fault:?}");
}

#[test]
fn killed_servers_are_unavailable_until_they_run_again() {
    let server = PostgresServer::new();
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
    let server = PostgresServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("locked");
    operations::init(&mut *store, &namespace).unwrap();
    let grant = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    std::thread::scope(|scope| {
        let blocker = scope.spawn(|| {
            server.sql("BEGIN; SELECT FROM flakeid_node FOR UPDATE; SELECT pg_sleep(12); COMMIT")
        });
        let held = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
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

/// Clocks agree, but others are in the way for longer than clocks may be apart.
#[test]
fn a_lock_that_others_hold_is_not_a_wrong_clock() {
    let server = PostgresServer::new();
    let mut namespace = fresh_namespace("busy");
    namespace.bounds.max_skew_ms = 1_000;
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    std::thread::scope(|scope| {
        let blocker = scope
            .spawn(|| server.sql("BEGIN; LOCK TABLE flakeid_node; SELECT pg_sleep(3); COMMIT"));
        let held = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
        while server.sql(held).unwrap() != "1" {
            std::thread::yield_now();
        }
        let leased = LeasedGenerator::builder(&server.url(), namespace.layout)
            .unwrap()
            .namespace(&namespace.name)
            .max_wait(Duration::from_secs(20))
            .open();
        leased.unwrap().next_id().unwrap();
        blocker.join().unwrap().unwrap();
    });
}

#[test]
fn standbys_are_refused() {
    let primary = PostgresServer::new();
    let namespace = fresh_namespace("standby");
    operations::init(&mut *connect(&primary.url()).unwrap(), &namespace).unwrap();
    let standby = primary.standby();
    let mut store = connect(&standby.url()).unwrap();
    let fault =
        operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap_err();
    assert!(
        matches!(&fault, Fault::Unavailable(text) if text.contains("is a standby")),
        "{fault:?}"
    );
    // Promoted, it is another run: what the primary confirmed last may be missing.
    drop(store);
    standby.sql("SELECT pg_promote()").unwrap();
    let mut store = connect(&standby.url()).unwrap();
    let refused = operations::acquire(&mut *store, &namespace.name, &request(&namespace));
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
}

/// Where both servers wait for a standby that neither has, neither grants: a standby that is
/// promoted while the old primary still serves does no harm then.
#[test]
fn two_synchronous_primaries_grant_nothing() {
    let primary = PostgresServer::new();
    let namespace = fresh_namespace("two-primaries");
    primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'").unwrap();
    // Begins with the same setting.
    let standby = primary.standby();
    primary.sql("SELECT pg_reload_conf()").unwrap();
    let mut store = connect(&primary.url()).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();

    standby.sql("SELECT pg_promote()").unwrap();
    for server in [&primary, &standby] {
        let mut store = connect(&server.url()).unwrap();
        let granted = operations::acquire(&mut *store, &namespace.name, &request(&namespace));
        assert!(matches!(granted, Err(Fault::Unavailable(_))), "{granted:?}");
    }
}

/// A dump that is put back is another table, though the server runs on.
#[test]
fn restored_dumps_are_noticed() {
    let server = PostgresServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("dump");
    operations::init(&mut *store, &namespace).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    server
        .sql(
            "CREATE TABLE copy AS TABLE flakeid_node; DROP TABLE flakeid_node; \
             ALTER TABLE copy RENAME TO flakeid_node; ALTER TABLE flakeid_node OWNER TO flakeid",
        )
        .unwrap();
    let listing = operations::list(&mut *store, &namespace.name).unwrap();
    assert_eq!(listing.continuity, Continuity::Restored);
}

/// A store is used from a thread of an asynchronous runtime as from any other.
#[test]
fn asynchronous_callers_may_wait() {
    let server = PostgresServer::new();
    let namespace = fresh_namespace("tokio");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut store = connect(&server.url()).unwrap();
        operations::init(&mut *store, &namespace).unwrap();
        operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    });
}
