//! Tests of elections and restores in three-member etcd clusters. The client must distinguish an election, which loses
//! no data, from a restore.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flakeid_protocol::store::{Continuity, Fault, Store};
use flakeid_protocol::{Grant, Namespace, Refusal};
use flakeid_test_servers::{EtcdCluster, Server};

use crate::client::{connect, fresh_namespace, renewal, request};
use crate::operations;
use crate::optimistic::copy;

/// The longest time to wait for a cluster on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Repeats `work`, each time with a new connection, until the cluster is available.
fn eventually<T>(
    cluster: &EtcdCluster,
    mut work: impl FnMut(&mut dyn Store) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match connect(&cluster.url()).and_then(|mut store| work(&mut *store)) {
            Err(Fault::Unavailable(text)) => assert!(Instant::now() < deadline, "{text}"),
            outcome => return outcome,
        }
        sleep(Duration::from_millis(100));
    }
}

fn continuity(cluster: &EtcdCluster, namespace: &Namespace) -> Continuity {
    eventually(cluster, |store| operations::list(store, &namespace.name)).unwrap().continuity
}

fn acquire(cluster: &EtcdCluster, namespace: &Namespace) -> Result<Grant, Fault> {
    eventually(cluster, |store| operations::acquire(store, &namespace.name, &request(namespace)))
}

/// Creates a namespace and acquires one node in it.
fn lease(cluster: &EtcdCluster, name: &str) -> (Namespace, Grant) {
    let namespace = fresh_namespace(name);
    eventually(cluster, |store| operations::init(store, &namespace)).unwrap();
    let grant = acquire(cluster, &namespace).unwrap();
    (namespace, grant)
}

/// Checks that the cluster grants and renews leases without reporting a restore.
fn check_lease_continues(
    cluster: &EtcdCluster,
    namespace: &Namespace,
    grant: &mut Grant,
    after: &str,
) {
    assert_eq!(continuity(cluster, namespace), Continuity::Same, "{after}");
    acquire(cluster, namespace).expect(after);
    let request = renewal(grant);
    let renew = |store: &mut dyn Store| operations::renew(store, &namespace.name, &request);
    let renewed = eventually(cluster, renew).expect(after);
    (grant.fence, grant.token) = (renewed.fence, request.next);
}

/// Acquires nodes repeatedly until the store has recorded the current members of the cluster.
fn record_members(cluster: &EtcdCluster, namespace: &Namespace) {
    // The members' clocks show only whole seconds, so the timestamp of an old record may be slightly too late. The test
    // therefore adds one second.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64 + 1_000;
    let deadline = Instant::now() + TIMEOUT;
    loop {
        acquire(cluster, namespace).unwrap();
        let key = format!("/flakeid/{}/run", namespace.name);
        let text = cluster.member(cluster.leader()).ctl(&["get", "--print-value-only", &key]);
        let record: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
        let voters = record["voters"].as_object().unwrap();
        assert_eq!(voters.len(), 3, "{record}");
        if record["written"].as_i64().unwrap() > now {
            return;
        }
        assert!(Instant::now() < deadline, "the record is not updated: {record}");
        sleep(Duration::from_millis(500));
    }
}

#[test]
fn leader_election_does_not_count_as_a_restore() {
    let cluster = EtcdCluster::new();
    let (namespace, mut grant) = lease(&cluster, "election");

    let leader = cluster.leader();
    cluster.member(leader).kill();
    cluster.wait_for_leader_other_than(leader);
    check_lease_continues(&cluster, &namespace, &mut grant, "the leader was killed");
    cluster.member(leader).start();
    check_lease_continues(&cluster, &namespace, &mut grant, "the leader was restarted");
    record_members(&cluster, &namespace);

    let leader = cluster.leader();
    cluster.member(leader).pause();
    cluster.wait_for_leader_other_than(leader);
    check_lease_continues(&cluster, &namespace, &mut grant, "the leader was paused");
    cluster.member(leader).resume();
    check_lease_continues(&cluster, &namespace, &mut grant, "the leader was resumed");

    let leader = cluster.leader();
    let id = cluster.cut_off(leader);
    cluster.wait_for_leader_other_than(leader);
    check_lease_continues(&cluster, &namespace, &mut grant, "the leader was isolated");
    cluster.join(leader, id);
    check_lease_continues(
        &cluster,
        &namespace,
        &mut grant,
        "the leader was joined with the others",
    );
}

/// Checks that replacing or restarting members one at a time does not count as a restore if a client records each
/// change before the next change.
#[test]
fn leases_survive_replacement_and_restart_of_single_members() {
    let mut cluster = EtcdCluster::new();
    let (namespace, mut grant) = lease(&cluster, "replaced");
    for at in 0..3 {
        cluster.replace(at);
        check_lease_continues(&cluster, &namespace, &mut grant, "a member was replaced");
        record_members(&cluster, &namespace);
    }
    for at in 0..3 {
        cluster.member(at).stop();
        cluster.wait_for_leader_other_than(at);
        cluster.member(at).start();
        check_lease_continues(&cluster, &namespace, &mut grant, "a member was restarted");
        record_members(&cluster, &namespace);
    }
}

/// Checks that a restart of a majority of the members counts as a restore if no client connects between the individual
/// restarts.
#[test]
fn restart_of_most_members_counts_as_a_restore() {
    let cluster = EtcdCluster::new();
    let (namespace, _) = lease(&cluster, "restarted");
    cluster.stop();
    cluster.start();
    assert_eq!(continuity(&cluster, &namespace), Continuity::Restored);
}

/// Checks that a restored snapshot is detected even in a difficult case. The IDs of the cluster and of its members are
/// unchanged. The term is higher, and the log is longer, than when the run was first recorded.
#[test]
fn restored_snapshot_of_a_cluster_is_detected() {
    let cluster = EtcdCluster::new();
    let files = tempfile::tempdir().unwrap();
    let (namespace, _) = lease(&cluster, "snapshot");
    let saved = files.path().join("snapshot");
    cluster.save(&saved);
    let lost = acquire(&cluster, &namespace).unwrap();
    cluster.restore(&saved);
    // Each election increases the term. After two elections, the term is higher than the recorded term.
    for _ in 0..2 {
        let leader = cluster.leader();
        cluster.member(leader).kill();
        cluster.wait_for_leader_other_than(leader);
        cluster.member(leader).start();
    }
    let leader = cluster.leader();
    for round in 0..120 {
        cluster.member(leader).ctl(&["put", "other", &round.to_string()]).unwrap();
    }
    assert_eq!(continuity(&cluster, &namespace), Continuity::Restored);
    let refused = acquire(&cluster, &namespace);
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
    let listing = eventually(&cluster, |store| operations::list(store, &namespace.name)).unwrap();
    assert_eq!(listing.continuity, Continuity::Same, "the restore is recorded");
    assert!(listing.namespace.floor >= lost.fence, "new windows start above the lost one");
}

/// Checks that a restore of all members' files is detected, although the cluster appears to have only elected a new
/// leader.
#[test]
fn restore_of_all_etcd_members_is_detected() {
    let cluster = EtcdCluster::new();
    let files = tempfile::tempdir().unwrap();
    let (namespace, _) = lease(&cluster, "put-back");
    let copies = [0, 1, 2].map(|at| files.path().join(at.to_string()));
    cluster.stop();
    for (at, to) in copies.iter().enumerate() {
        copy(&cluster.member(at).data(), to);
    }
    cluster.start();
    eventually(&cluster, |store| operations::adopt(store, &namespace.name)).unwrap();
    assert_eq!(continuity(&cluster, &namespace), Continuity::Same);

    cluster.stop();
    for (at, from) in copies.iter().enumerate() {
        let data = cluster.member(at).data();
        fs::remove_dir_all(&data).unwrap();
        copy(from, &data);
    }
    cluster.start();
    assert_eq!(continuity(&cluster, &namespace), Continuity::Restored);
    let refused = acquire(&cluster, &namespace);
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
}

/// Checks that a cluster counts as restored after one member is restarted with `--force-new-cluster`. The new cluster
/// keeps that member and the original cluster ID. Two new members join before the next client connects.
#[test]
fn forced_new_cluster_counts_as_restored() {
    let mut cluster = EtcdCluster::new();
    let (namespace, _) = lease(&cluster, "forced");
    record_members(&cluster, &namespace);
    cluster.force_new(1);
    assert_eq!(continuity(&cluster, &namespace), Continuity::Restored);
    let refused = acquire(&cluster, &namespace);
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
}
