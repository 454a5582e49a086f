//! Tests of Redis Cluster, which stores each namespace on a single cluster node.

use std::time::{Duration, Instant};

use flakeid_protocol::operations::Listing;
use flakeid_protocol::store::{Continuity, Fault};
use flakeid_protocol::{Grant, Namespace, Refusal};
use flakeid_test_servers::{RedisCluster, Server};

use crate::client::{connect, fresh_namespace, leases, renewal, request};
use crate::operations;

/// Creates a namespace on the given cluster node, and acquires one lease in the namespace. Returns the namespace, the
/// grant and the namespace's hash slot.
fn lease_on(cluster: &RedisCluster, node: usize) -> (Namespace, Grant, u16) {
    let placed = (0..).map(|number| fresh_namespace(&format!("n{number}")));
    let mut placed = placed.map(|namespace| (cluster.place_of(&namespace.name), namespace));
    let ((_, slot), namespace) = placed.find(|((at, _), _)| *at == node).unwrap();
    let mut store = connect(&cluster.url(&[0])).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    let grant = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    (namespace, grant, slot)
}

/// Lists the rows of a namespace, retrying on new connections while the store is unavailable.
fn eventually_list(url: &str, namespace: &Namespace) -> Listing {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let listed =
            connect(url).and_then(|mut store| operations::list(&mut *store, &namespace.name));
        match listed {
            Ok(listing) => return listing,
            Err(Fault::Unavailable(text)) => assert!(Instant::now() < deadline, "{text}"),
            Err(fault) => panic!("{fault:?}"),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Checks that the store counts as restored, and that the next acquire request records the restore.
fn check_restored(url: &str, namespace: &Namespace, last: &Grant) {
    let listing = eventually_list(url, namespace);
    assert_eq!((listing.continuity, listing.rows.len()), (Continuity::Restored, 1));
    let mut store = connect(url).unwrap();
    let refused = operations::acquire(&mut *store, &namespace.name, &request(namespace));
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
    let listing = eventually_list(url, namespace);
    assert_eq!(listing.continuity, Continuity::Same, "the restore is recorded");
    assert!(listing.namespace.floor >= last.fence);
}

#[test]
fn namespaces_on_every_cluster_node_grant_leases() {
    let cluster = RedisCluster::new();
    let leased = [0, 1, 2].map(|node| lease_on(&cluster, node));
    leases(&cluster.url(&[1]));
    // The client must skip the replica, which comes first in the URL.
    let mut store = connect(&cluster.url(&[3, 2])).unwrap();
    let names = store.namespaces().unwrap();
    for (namespace, grant, _) in &leased {
        assert!(names.contains(&namespace.name), "{names:?}");
        // A single `store` object reaches all nodes of the cluster.
        operations::renew(&mut *store, &namespace.name, &renewal(grant)).unwrap();
        let found = operations::whois(&mut *store, &namespace.name, grant.node, grant.start);
        assert!(found.unwrap().is_some());
    }
}

#[test]
fn promoted_replica_of_a_cluster_counts_as_restored() {
    let cluster = RedisCluster::new();
    let (namespace, grant, _) = lease_on(&cluster, 0);
    cluster.nodes[0].command(&["WAIT", "1", "10000"]).unwrap();
    cluster.nodes[0].kill();
    cluster.wait_for_primary(3);
    check_restored(&cluster.url(&[0, 1, 2, 3]), &namespace, &grant);
}

/// Checks that a namespace counts as restored when it is moved to another cluster node, and again when it is moved
/// back. A transaction that began on one cluster node must not be written to another cluster node.
#[test]
fn namespace_moved_to_another_node_counts_as_restored() {
    let cluster = RedisCluster::new();
    let url = cluster.url(&[2]);
    let (namespace, mut last, slot) = lease_on(&cluster, 1);
    let mut store = connect(&url).unwrap();
    assert_eq!(
        operations::list(&mut *store, &namespace.name).unwrap().continuity,
        Continuity::Same
    );
    for (from, to) in [(1, 0), (0, 1)] {
        cluster.move_slot(slot, from, to);
        let moved = operations::renew(&mut *store, &namespace.name, &renewal(&last));
        let Err(Fault::Unavailable(text)) = moved else { panic!("{moved:?}") };
        assert!(text.contains("another node"), "{text}");
        check_restored(&url, &namespace, &last);
        last.fence = eventually_list(&url, &namespace).namespace.floor;
        store = connect(&url).unwrap();
        assert_eq!(
            operations::list(&mut *store, &namespace.name).unwrap().continuity,
            Continuity::Same
        );
    }
}
