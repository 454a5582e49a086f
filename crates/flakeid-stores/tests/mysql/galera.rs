//! Tests of a three-member Galera cluster, in which only one member writes leases.

use std::time::Duration;

use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::Row;
use flakeid_protocol::store::{Continuity, Fault, Ledger, Store};
use flakeid_test_servers::{GaleraCluster, Server};

use crate::client::{connect, eventually_connect, fresh_namespace, leases, request};
use crate::operations;
use crate::restored::{check_restored, lease};
use crate::sql::check_lease_continues;

const ALL: [usize; 3] = [0, 1, 2];

/// A Galera cluster for the conformance tests that do not crash, restore or damage a single server.
struct Members(GaleraCluster);

impl StoreUnderTest for Members {
    fn connect(&self) -> Box<dyn Store> {
        eventually_connect(&self.0.url(&ALL))
    }

    fn crash(&self) {
        unreachable!("left out")
    }

    fn backup(&self) -> Box<dyn std::any::Any> {
        unreachable!("left out")
    }

    fn restore(&self, _copy: Box<dyn std::any::Any>) {
        unreachable!("left out")
    }

    /// Deletes the row on a cluster member that does not write leases.
    fn delete_row(&self, namespace: &str, node: u64) -> Result<(), String> {
        let condition = format!("namespace = '{namespace}' AND node = {node}");
        other(&self.0, &format!("DELETE FROM ids.flakeid_node WHERE {condition}")).map(drop)
    }

    fn lower_fence(&self, namespace: &str, node: u64) -> Result<(), String> {
        let condition = format!("namespace = '{namespace}' AND node = {node}");
        let update = format!("UPDATE ids.flakeid_node SET fence = fence - 1 WHERE {condition}");
        other(&self.0, &update).map(drop)
    }

    fn guards_rows(&self) -> bool {
        true
    }

    fn damage(&self, _namespace: &str, _node: u64, _field: &str, _text: &str) {
        unreachable!("left out")
    }

    fn crash_voids_tokens(&self) -> bool {
        true
    }
}

/// Executes SQL on a cluster member that does not write leases.
fn other(cluster: &GaleraCluster, sql: &str) -> Result<String, String> {
    let at = (cluster.first() + 1) % 3;
    // This setting makes the member apply all earlier writes of the cluster before it executes the SQL.
    cluster.member(at).sql(&format!("SET wsrep_sync_wait = 7; {sql}"))
}

/// The conformance suite, without the tests that crash, restore or damage a single server.
mod conformance {
    use flakeid_conformance::Test;
    use flakeid_test_servers::Shared;

    use super::{GaleraCluster, Members};

    fn on_shared_cluster(test: Test) {
        static CLUSTER: Shared<Members> = Shared::new();
        test(&*CLUSTER.get(|| Members(GaleraCluster::new())));
    }

    flakeid_conformance::test_store!(shared = on_shared_cluster);
}

/// Checks that the client writes leases only through the member that the cluster itself lists first. The order of the
/// hosts in the URL does not matter.
#[test]
fn leases_are_written_only_through_the_first_galera_member() {
    let cluster = GaleraCluster::new();
    let first = cluster.first();
    for hosts in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
        leases(&cluster.url(&hosts));
    }
    leases(&cluster.url(&[first]));
    let others = [(first + 1) % 3, (first + 2) % 3];
    let fault = connect(&cluster.url(&others)).map(drop).unwrap_err();
    let Fault::Unavailable(text) = &fault else { panic!("{fault:?}") };
    for other in others {
        assert!(text.contains(&cluster.member(other).port().to_string()), "{text}");
    }
    assert!(text.contains("of a Galera cluster of 3"), "{text}");
    let mut store = connect(&cluster.url(&others[..1])).unwrap();
    let fault = operations::list(&mut *store, "any").unwrap_err();
    assert!(
        matches!(&fault, Fault::Unavailable(text) if text.contains("name all members")),
        "{fault:?}"
    );
}

/// Checks that a transaction is retried if another member changes the same row before the commit.
#[test]
fn transaction_is_retried_when_another_member_changes_the_row() {
    let cluster = GaleraCluster::new();
    let url = cluster.url(&ALL);
    let (namespace, grant) = lease(&url, "conflict");
    let mut store = connect(&url).unwrap();
    let mut fences = Vec::new();
    store
        .transact(&namespace.name, &mut |ledger: &mut dyn Ledger| {
            let row = ledger.row(grant.node)?.expect("the granted node has a row");
            fences.push(row.fence);
            if fences.len() == 1 {
                let update = "UPDATE ids.flakeid_node SET fence = fence + 5";
                other(&cluster, update).expect("an update");
            }
            ledger.put_row(Some(&row), &Row { fence: row.fence + 9, ..row.clone() })
        })
        .unwrap();
    assert_eq!(fences, [grant.fence, grant.fence + 5]);
    let listing = operations::list(&mut *store, &namespace.name).unwrap();
    assert_eq!(listing.rows[0].fence, grant.fence + 14);
}

/// Checks that two members cannot both insert the first row of a node. Concurrent inserts are possible while one member
/// replaces another member as the writer of leases.
#[test]
fn two_galera_members_cannot_grant_the_same_node() {
    let cluster = GaleraCluster::new();
    let url = cluster.url(&ALL);
    let (namespace, grant) = lease(&url, "node");
    let name = &namespace.name;
    let mut store = connect(&url).unwrap();
    let row = operations::list(&mut *store, name).unwrap().rows.remove(0);
    let mut found = Vec::new();
    let copied = format!(
        "INSERT INTO ids.flakeid_node SELECT namespace, node + 7, fence + 50, start, token, \
             grant_number, state, owner_name, owner_host, owner_pid, acquired, renewed, expires, \
             incarnation, fixed, history_until FROM ids.flakeid_node WHERE node = {}",
        grant.node
    );
    store
        .transact(name, &mut |ledger: &mut dyn Ledger| {
            let before = ledger.row(grant.node + 7)?;
            found.push(before.as_ref().map(|row| row.fence));
            if found.len() == 1 {
                other(&cluster, &copied).expect("another member inserts");
            }
            let after = Row { node: grant.node + 7, fence: grant.fence + 99, ..row.clone() };
            ledger.put_row(before.as_ref(), &after)
        })
        .unwrap();
    assert_eq!(found, [None, Some(grant.fence + 50)], "the first attempt must be a conflict");
}

/// Checks that killing the first cluster member does not end a lease. The holder renews the lease through the next
/// member, but new clients are refused at first.
#[test]
fn holders_continue_their_leases_after_the_first_member_is_killed() {
    let cluster = GaleraCluster::new();
    let url = cluster.url(&ALL);
    let namespace = fresh_namespace("killed");
    operations::init(&mut *connect(&url).unwrap(), &namespace).unwrap();
    let lease = flakeid::lease(&url, namespace.layout).unwrap();
    let generator =
        lease.namespace(&namespace.name).max_wait(Duration::from_secs(20)).open().unwrap();
    generator.next_id().unwrap();
    let before = flakeid::Lease::of(&generator).unwrap().status();
    let first = cluster.first();
    cluster.member(first).kill();
    cluster.wait_for_size(2);
    assert_ne!(cluster.first(), first);

    check_lease_continues(&generator, &before);
    let mut store = eventually_connect(&url);
    let refused = operations::acquire(&mut *store, &namespace.name, &request(&namespace));
    assert!(matches!(refused, Err(Fault::Refused(_))), "{refused:?}");
}

/// Checks that an isolated member counts as restored when it forms a cluster of its own. The member's process was not
/// restarted and its tables did not change. While the member was isolated, however, the other members granted nodes and
/// were then lost.
#[test]
fn isolated_member_that_forms_a_cluster_counts_as_restored() {
    let cluster = GaleraCluster::new();
    let url = cluster.url(&ALL);
    let (namespace, _) = lease(&url, "cut-off");
    let first = cluster.first();
    let others = [(first + 1) % 3, (first + 2) % 3];
    cluster.member(first).pause();
    // After the failover, the existing namespace does not grant nodes yet, so the test uses a new namespace.
    let second = fresh_namespace("without");
    let mut store = eventually_connect(&cluster.url(&others));
    operations::init(&mut *store, &second).unwrap();
    let lost = operations::acquire(&mut *store, &second.name, &request(&second)).unwrap();
    drop(store);
    for other in others {
        cluster.member(other).kill();
    }
    cluster.member(first).resume();
    cluster.make_primary(first);
    check_restored(&url, &namespace, &lost);
}

/// Checks that restoring the data of all members, for example from a backup of the cluster, is detected.
#[test]
fn restored_backup_of_a_galera_cluster_is_detected() {
    let cluster = GaleraCluster::new();
    let url = cluster.url(&ALL);
    let (namespace, _) = lease(&url, "restored");
    let copies = cluster.back_up();
    let mut store = eventually_connect(&url);
    operations::adopt(&mut *store, &namespace.name).unwrap();
    let listing = operations::list(&mut *store, &namespace.name).unwrap();
    assert_eq!(listing.continuity, Continuity::Same);
    // The adopted namespace does not grant nodes yet, so the test uses a new namespace.
    let second = fresh_namespace("second");
    operations::init(&mut *store, &second).unwrap();
    let lost = operations::acquire(&mut *store, &second.name, &request(&second)).unwrap();
    drop(store);
    cluster.restore(copies);
    check_restored(&url, &namespace, &lost);
}
