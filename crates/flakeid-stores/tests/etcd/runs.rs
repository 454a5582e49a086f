use std::fs;

use flakeid_protocol::store::{Continuity, Fault, Ledger};
use flakeid_protocol::{Namespace, Row};
use flakeid_test_servers::{EtcdServer, Server};

use crate::client::{Client, connect};
use crate::operations;
use crate::optimistic::copy;

fn continuity(server: &EtcdServer, namespace: &Namespace) -> Continuity {
    let mut store = connect(&server.url()).unwrap();
    operations::list(&mut *store, &namespace.name).unwrap().continuity
}

/// Checks that a restored snapshot is detected even if the cluster was still in its first term. The restored cluster
/// then has the same ID and the same term as the original cluster.
#[test]
fn snapshot_restored_in_the_first_raft_term_is_detected() {
    let server = EtcdServer::new();
    let files = tempfile::tempdir().unwrap();
    let mut client = Client::new(&server.url(), "snapshot");
    let status = || {
        let status = server.ctl(&["endpoint", "status", "-w", "json"]).unwrap();
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        let header = &status[0]["Status"]["header"];
        (header["cluster_id"].clone(), header["raft_term"].clone())
    };
    let original = status();
    let saved = files.path().join("snapshot");
    server.save(&saved);
    assert_eq!(continuity(&server, &client.namespace), Continuity::Same);
    server.restore(&saved);
    assert_eq!(status(), original, "the cluster ID and the term must be the same");
    assert_eq!(continuity(&server, &client.namespace), Continuity::Restored);

    // A second restore must also be detected after the first restore has been recorded.
    client.reconnect(&server.url());
    client.adopt();
    assert_eq!(continuity(&server, &client.namespace), Continuity::Same);
    let again = files.path().join("again");
    server.save(&again);
    server.restore(&again);
    assert_eq!(continuity(&server, &client.namespace), Continuity::Restored);
}

/// Checks that a restored snapshot of a new cluster is detected. The detection works because recording a run adds
/// entries to the log. Without these entries, the logs before and after the restore would have the same length.
#[test]
fn restored_snapshot_of_a_new_cluster_is_detected() {
    let server = EtcdServer::new();
    let files = tempfile::tempdir().unwrap();
    let mut client = Client::new(&server.url(), "young");
    let saved = files.path().join("snapshot");
    server.save(&saved);
    client.acquire().unwrap();
    server.restore(&saved);
    // Before the next transaction, lease grants by other clients lengthen the new log without creating revisions.
    for _ in 0..40 {
        server.ctl(&["lease", "grant", "60"]).unwrap();
    }
    assert_eq!(continuity(&server, &client.namespace), Continuity::Restored);
}

/// Checks that a restore of files copied from a stopped server is detected. After the restore, the term is one higher
/// than in the copy.
#[test]
fn restored_copy_of_a_stopped_etcd_server_is_detected() {
    let server = EtcdServer::new();
    let files = tempfile::tempdir().unwrap();
    let mut client = Client::new(&server.url(), "copied");
    server.stop();
    copy(&server.data(), files.path());
    server.start();
    assert_eq!(continuity(&server, &client.namespace), Continuity::Restored);
    client.reconnect(&server.url());
    client.adopt();
    assert_eq!(continuity(&server, &client.namespace), Continuity::Same);
    server.stop();
    fs::remove_dir_all(server.data()).unwrap();
    copy(files.path(), &server.data());
    server.start();
    assert_eq!(continuity(&server, &client.namespace), Continuity::Restored);
}

/// Checks that a transaction fails if the server's files are restored during the transaction. The runs before and after
/// this restore begin with the same copy, and therefore have the same term and revisions. As a result, the values that
/// the transaction has read appear unchanged.
#[test]
fn transaction_fails_if_the_server_is_restored_meanwhile() {
    let server = EtcdServer::new();
    let files = tempfile::tempdir().unwrap();
    let mut client = Client::new(&server.url(), "twice");
    let grant = client.acquire().unwrap();
    server.stop();
    copy(&server.data(), files.path());
    let namespace = client.namespace.clone();
    let put_back = || {
        server.stop();
        fs::remove_dir_all(server.data()).unwrap();
        copy(files.path(), &server.data());
        server.start();
        let store = connect(&server.url()).unwrap();
        Client { store, namespace: namespace.clone() }.assert_restored();
    };
    put_back();
    client.reconnect(&server.url());
    let outcome = client.store.transact(&client.namespace.name, &mut |ledger: &mut dyn Ledger| {
        assert!(ledger.namespace()?.is_some());
        let row = ledger.row(grant.node)?.expect("the granted node has a row");
        put_back();
        ledger.put_row(Some(&row), &Row { fence: row.fence + 9, ..row.clone() })
    });
    let Err(Fault::Unavailable(text)) = outcome else { panic!("{outcome:?}") };
    assert!(text.contains("in the middle of a transaction"), "{text}");
    let rows = client.list().unwrap().rows;
    assert_eq!(rows[0].fence, grant.fence, "the row must be unchanged");
}

/// Checks that changes by other clients do not count as a restore. Some of these changes create revisions, and others
/// do not.
#[test]
fn changes_by_other_clients_do_not_count_as_a_restore() {
    let server = EtcdServer::new();
    let mut client = Client::new(&server.url(), "busy");
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
            client.acquire().unwrap();
        }
    });
    let revision = server.ctl(&["get", "-w", "json", "other"]).unwrap();
    let revision: serde_json::Value = serde_json::from_str(&revision).unwrap();
    let revision = revision["header"]["revision"].to_string();
    server.ctl(&["compaction", &revision]).unwrap();
    client.acquire().unwrap();
    assert_eq!(continuity(&server, &client.namespace), Continuity::Same);
}
