//! Tests specific to `MariaDB` and `MySQL`: durability settings, replicas, and copies of stopped servers.

use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flakeid_protocol::store::{Continuity, Fault};
use flakeid_test_servers::{MariadbServer, Server};

use crate::client::{Client, connect, fresh_namespace};
use crate::operations;

#[test]
fn server_without_durable_commits_is_refused() {
    let server = MariadbServer::new();
    let mut client = Client::new(&server.url(), "durable");
    server.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 2").unwrap();
    let refused = client.list().unwrap_err();
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
    let refused = client.list().unwrap_err();
    assert!(matches!(&refused, Fault::Rejected(text) if text.contains("InnoDB")), "{refused:?}");
}

#[test]
fn read_only_replica_is_refused_until_it_accepts_writes() {
    let server = MariadbServer::new();
    let mut client = Client::new(&server.url(), "replica");
    server.sql("SET GLOBAL read_only = 1").unwrap();
    let fault = client.list().unwrap_err();
    assert!(matches!(&fault, Fault::Unavailable(text) if text.contains("read-only")), "{fault:?}");
    server.sql("SET GLOBAL read_only = 0").unwrap();
    client.reconnect(&server.url());
    client.acquire().unwrap();
}

/// Checks that a dump that is restored into its own database is detected, even if everything happens as soon after the
/// creation of the tables as the store allows: the server reports their time in whole seconds.
#[test]
fn dump_restored_right_after_the_tables_were_created_is_detected() {
    let server = MariadbServer::new();
    for _ in 0..3 {
        let tables = "flakeid_sub_grant, flakeid_grant, flakeid_node, flakeid_namespace, flakeid_run, flakeid_schema";
        server.sql(&format!("USE ids; DROP TABLE IF EXISTS {tables}")).unwrap();
        // The tables are created at the beginning of a second.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        sleep(Duration::from_millis(1_010 - u64::from(now.subsec_millis())));
        let mut store = connect(&server.url()).unwrap();
        store.prepare().unwrap();
        let mut client = Client::on(store, fresh_namespace("second"));
        let dump = server.dump();
        let grant = client.acquire().unwrap();
        server.load(&dump);
        client.reconnect(&server.url());
        client.assert_restored_above(&grant);
    }
}

/// Checks that the store counts as restored after the data of a stopped server is replaced with an older copy.
#[test]
fn restored_copy_of_a_stopped_server_is_detected() {
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
