use std::fs;

use flakeid_protocol::store::{Continuity, Fault, Ledger};
use flakeid_protocol::{Namespace, Refusal, Row};
use flakeid_test_servers::{EtcdServer, Server};

use crate::client::{connect, fresh_namespace, request};
use crate::operations;
use crate::optimistic::copy;

fn continuity(server: &EtcdServer, namespace: &Namespace) -> Continuity {
    let mut store = connect(&server.url()).unwrap();
    operations::list(&mut *store, &namespace.name).unwrap().continuity
}

/// Checks a restored snapshot of a cluster in its first term, which has the cluster ID and the term of the original.
#[test]
fn restored_snapshot_of_the_first_term_is_detected() {
    let server = EtcdServer::new();
    let files = tempfile::tempdir().unwrap();
    let namespace = fresh_namespace("snapshot");
    let mut store = connect(&server.url()).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    let status = || {
        let status = server.ctl(&["endpoint", "status", "-w", "json"]).unwrap();
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        let header = &status[0]["Status"]["header"];
        (header["cluster_id"].clone(), header["raft_term"].clone())
    };
    let original = status();
    let saved = files.path().join("snapshot");
    server.save(&saved);
    assert_eq!(continuity(&server, &namespace), Continuity::Same);
    server.restore(&saved);
    assert_eq!(status(), original, "the cluster ID and the term must be the same");
    assert_eq!(continuity(&server, &namespace), Continuity::Restored);

    // After the restore is recorded, a restored snapshot of the restored cluster is detected, too.
    let mut store = connect(&server.url()).unwrap();
    operations::adopt(&mut *store, &namespace.name).unwrap();
    assert_eq!(continuity(&server, &namespace), Continuity::Same);
    let again = files.path().join("again");
    server.save(&again);
    server.restore(&again);
    assert_eq!(continuity(&server, &namespace), Continuity::Restored);
}

/// Checks a restored snapshot of a new cluster. The log of the cluster would be as short as that of the snapshot if
/// recording the run did not make it longer.
#[test]
fn restored_snapshot_of_a_new_cluster_is_detected() {
    let server = EtcdServer::new();
    let files = tempfile::tempdir().unwrap();
    let namespace = fresh_namespace("young");
    let mut store = connect(&server.url()).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    let saved = files.path().join("snapshot");
    server.save(&saved);
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    server.restore(&saved);
    // Other clients add entries without a revision before the next transaction.
    for _ in 0..40 {
        server.ctl(&["lease", "grant", "60"]).unwrap();
    }
    assert_eq!(continuity(&server, &namespace), Continuity::Restored);
}

/// Checks that a restored cold copy of the files, whose next term follows the copied one, is detected.
#[test]
fn restored_cold_copy_is_detected() {
    let server = EtcdServer::new();
    let files = tempfile::tempdir().unwrap();
    let namespace = fresh_namespace("copied");
    let mut store = connect(&server.url()).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    server.stop();
    copy(&server.data(), files.path());
    server.start();
    assert_eq!(continuity(&server, &namespace), Continuity::Restored);
    let mut store = connect(&server.url()).unwrap();
    operations::adopt(&mut *store, &namespace.name).unwrap();
    assert_eq!(continuity(&server, &namespace), Continuity::Same);
    server.stop();
    fs::remove_dir_all(server.data()).unwrap();
    copy(files.path(), &server.data());
    server.start();
    assert_eq!(continuity(&server, &namespace), Continuity::Restored);
}

/// Checks that a transaction fails if the same copy is restored in its middle. Both runs begin with the same term and
/// revisions, so that the values that were read look unchanged.
#[test]
fn transaction_does_not_continue_in_another_run() {
    let server = EtcdServer::new();
    let files = tempfile::tempdir().unwrap();
    let namespace = fresh_namespace("twice");
    let name = &namespace.name;
    let mut store = connect(&server.url()).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    let grant = operations::acquire(&mut *store, name, &request(&namespace)).unwrap();
    server.stop();
    copy(&server.data(), files.path());
    let put_back = || {
        server.stop();
        fs::remove_dir_all(server.data()).unwrap();
        copy(files.path(), &server.data());
        server.start();
        let mut store = connect(&server.url()).unwrap();
        let refused = operations::acquire(&mut *store, name, &request(&namespace));
        assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
    };
    put_back();
    let mut store = connect(&server.url()).unwrap();
    let outcome = store.transact(name, &mut |ledger: &mut dyn Ledger| {
        assert!(ledger.namespace()?.is_some());
        let row = ledger.row(grant.node)?.expect("the granted node has a row");
        put_back();
        ledger.put_row(Some(&row), &Row { fence: row.fence + 9, ..row.clone() })
    });
    let Err(Fault::Unavailable(text)) = outcome else { panic!("{outcome:?}") };
    assert!(text.contains("in the middle of a transaction"), "{text}");
    let rows = operations::list(&mut *store, name).unwrap().rows;
    assert_eq!(rows[0].fence, grant.fence, "the row must be unchanged");
}

/// Checks that changes by other clients, with and without revisions, do not count as a restore.
#[test]
fn changes_by_other_clients_do_not_count_as_a_restore() {
    let server = EtcdServer::new();
    let namespace = fresh_namespace("busy");
    let mut store = connect(&server.url()).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    std::thread::scope(|scope| {
        for worker in 0..3 {
            let server = &server;
            scope.spawn(move || {
                for round in 0..20 {
                    let key = format!("other/{worker}/{round}");
                    server.ctl(&["put", &key, "x"]).unwrap();
                    server.ctl(&["lease", "grant", "60"]).unwrap();
                }
            });
        }
        for _ in 0..60 {
            operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
        }
    });
    let revision = server.ctl(&["get", "-w", "json", "other"]).unwrap();
    let revision: serde_json::Value = serde_json::from_str(&revision).unwrap();
    let revision = revision["header"]["revision"].to_string();
    server.ctl(&["compaction", &revision]).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    assert_eq!(continuity(&server, &namespace), Continuity::Same);
}
