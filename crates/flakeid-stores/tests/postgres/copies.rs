//! Tests of a database that is copied within a running server and later replaced by its copy.

use std::time::Duration;

use flakeid_protocol::store::{Continuity, Fault};
use flakeid_protocol::{Bounds, Namespace, Refusal};
use flakeid_test_servers::{PostgresServer, Proxy, Server};

use crate::client::{connect, fresh_namespace, renewal, request};
use crate::issuing::{Issuing, assert_ids_are_unique};
use crate::operations;

/// Copies the database, as snapshot tools do.
fn copy(server: &PostgresServer) {
    server.sql("CREATE DATABASE ids_copy TEMPLATE ids OWNER flakeid").unwrap();
}

/// Replaces the database with the copy.
fn put_back(server: &PostgresServer) {
    server.sql_in("postgres", "DROP DATABASE ids WITH (FORCE)").unwrap();
    server.sql_in("postgres", "ALTER DATABASE ids_copy RENAME TO ids").unwrap();
}

/// Checks that a restored copy of the database is detected, although its tables have the same OIDs and the server was
/// not restarted.
#[test]
fn database_restored_from_a_template_copy_is_detected() {
    let server = PostgresServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("template");
    let name = &namespace.name;
    operations::init(&mut *store, &namespace).unwrap();
    drop(store);
    copy(&server);
    let mut store = connect(&server.url()).unwrap();
    let lost = operations::acquire(&mut *store, name, &request(&namespace)).unwrap();
    put_back(&server);

    let cut_off = operations::list(&mut *store, name).map(drop);
    assert!(matches!(cut_off, Err(Fault::Unavailable(_))), "{cut_off:?}");
    let mut store = connect(&server.url()).unwrap();
    let listing = operations::list(&mut *store, name).unwrap();
    assert_eq!((listing.continuity, listing.rows.len()), (Continuity::Restored, 0));
    let refused = operations::acquire(&mut *store, name, &request(&namespace));
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
    let listing = operations::list(&mut *store, name).unwrap();
    assert_eq!(listing.continuity, Continuity::Same, "the restore is recorded");
    assert!(listing.namespace.floor >= lost.fence, "new windows start above the lost one");
    let fenced_off = operations::renew(&mut *store, name, &renewal(&lost));
    assert!(matches!(fenced_off, Err(Fault::Refused(_))), "{fenced_off:?}");
}

/// Checks that a generator opened before a restore and a generator opened after the restore never issue the same ID.
/// The first generator is disconnected from the server before the restore.
#[test]
fn ids_stay_unique_after_a_template_copy_is_restored() {
    const WINDOW_MS: u64 = 10_000;
    let server = PostgresServer::new();
    let bounds = Bounds {
        max_window_ms: WINDOW_MS,
        max_ahead_ms: 500,
        max_skew_ms: 1_000,
        quiet_ms: 12_001,
    };
    let namespace = Namespace { bounds, ..fresh_namespace("issuing") };
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    copy(&server);
    let window = Duration::from_millis(WINDOW_MS);
    let clients = Proxy::to(server.port());
    let (password, port) = (PostgresServer::PASSWORD, clients.port());
    let first = format!("postgresql://flakeid:{password}@127.0.0.1:{port}/ids");
    let first = Issuing::on(&first, &namespace, window);
    clients.cut();

    put_back(&server);
    let second = Issuing::on(&server.url(), &namespace, window);
    assert_eq!(first.node(), second.node(), "the restored copy does not contain the first grant");
    std::thread::sleep(Duration::from_millis(500));
    assert_ids_are_unique(&first.stop(), &second.stop());
}
