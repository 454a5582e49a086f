//! Tests of features that are specific to `PostgreSQL`: durability settings, standbys and dumps.

use std::time::Duration;

use flakeid_protocol::Refusal;
use flakeid_protocol::store::{Continuity, Fault};
use flakeid_test_servers::{PostgresServer, Server};

use crate::client::{Client, connect, fresh_namespace, request};
use crate::operations;

/// Checks that `fsync = off` is refused, and that lease transactions override `synchronous_commit = off`.
#[test]
fn server_without_durable_commits_is_refused() {
    let server = PostgresServer::new();
    let namespace = fresh_namespace("durable");
    server.sql("ALTER ROLE flakeid SET synchronous_commit = off").unwrap();
    let mut store = connect(&server.url()).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    server
        .sql(
            "CREATE TABLE seen (setting text); GRANT INSERT ON seen TO flakeid;
             CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                 INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NEW;
             END $$;
             CREATE TRIGGER see BEFORE INSERT ON flakeid_node FOR EACH ROW EXECUTE FUNCTION see()",
        )
        .unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    assert_eq!(server.sql("SELECT setting FROM seen").unwrap(), "on");

    server.sql("ALTER SYSTEM SET fsync = off").unwrap();
    server.stop();
    server.start();
    let mut store = connect(&server.url()).unwrap();
    let refused = operations::list(&mut *store, &namespace.name).unwrap_err();
    assert!(matches!(&refused, Fault::Rejected(text) if text.contains("fsync")), "{refused:?}");
}

/// Checks that a request is not refused after it has waited for a lock for longer than `max_skew`.
#[test]
fn table_lock_wait_is_not_reported_as_clock_skew() {
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
        let leased = flakeid::lease(&server.url(), namespace.layout)
            .unwrap()
            .namespace(&namespace.name)
            .max_wait(Duration::from_secs(20))
            .open();
        leased.unwrap().next_id().unwrap();
        blocker.join().unwrap().unwrap();
    });
}

#[test]
fn standby_is_refused_and_counts_as_restored_once_promoted() {
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
    // A promoted standby begins a new run, because it may lack the last grants that the primary confirmed.
    drop(store);
    standby.sql("SELECT pg_promote()").unwrap();
    let mut store = connect(&standby.url()).unwrap();
    let refused = operations::acquire(&mut *store, &namespace.name, &request(&namespace));
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
}

/// Checks that two primaries grant no leases while both wait for a synchronous standby that does not exist. The second
/// primary is a standby that was promoted while the first primary was running.
#[test]
fn two_primaries_without_a_synchronous_standby_grant_nothing() {
    let primary = PostgresServer::new();
    let namespace = fresh_namespace("two-primaries");
    primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'").unwrap();
    // The standby copies `synchronous_standby_names` from the primary.
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

/// Checks that the store detects a restored dump, even if the dump replaces a table while the server is running.
#[test]
fn table_replaced_by_a_restored_dump_is_detected() {
    let server = PostgresServer::new();
    let mut client = Client::new(&server.url(), "dump");
    client.acquire().unwrap();
    server
        .sql(
            "CREATE TABLE copy AS TABLE flakeid_node; DROP TABLE flakeid_node; \
             ALTER TABLE copy RENAME TO flakeid_node; ALTER TABLE flakeid_node OWNER TO flakeid",
        )
        .unwrap();
    let listing = client.list().unwrap();
    assert_eq!(listing.continuity, Continuity::Restored);
}
