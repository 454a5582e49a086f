//! Tests of `MariaDB` and `MySQL` only: their durability settings, replicas and cold copies.

use flakeid_protocol::store::{Continuity, Fault};
use flakeid_test_servers::{MariadbServer, Server};

use crate::client::{connect, fresh_namespace, request};
use crate::operations;

#[test]
fn server_without_durable_commits_is_refused() {
    let server = MariadbServer::new();
    let namespace = fresh_namespace("durable");
    let mut store = connect(&server.url()).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    server.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 2").unwrap();
    let refused = operations::list(&mut *store, &namespace.name).unwrap_err();
    assert!(
        matches!(&refused, Fault::Rejected(text) if text.contains("innodb_flush_log")),
        "{refused:?}"
    );
    server.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 1").unwrap();
    server
        .sql(
            "USE ids; ALTER TABLE flakeid_node DROP FOREIGN KEY flakeid_node_namespace; \
             ALTER TABLE flakeid_node DROP KEY flakeid_node_name, ENGINE = MyISAM",
        )
        .unwrap();
    let refused = operations::list(&mut *store, &namespace.name).unwrap_err();
    assert!(matches!(&refused, Fault::Rejected(text) if text.contains("InnoDB")), "{refused:?}");
}

#[test]
fn replica_is_refused() {
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

/// Checks that a copy that is restored while the server is stopped counts as another run.
#[test]
fn restored_cold_copy_is_detected() {
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
