use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_lease::store::{Continuity, Fault, operations};
use flakeid_test_servers::{RedisServer, Server};

use crate::client::{connect, fresh_namespace, leases, renewal, request};

fn replica_of(primary: &RedisServer) -> RedisServer {
    let port = primary.port().to_string();
    let replica = RedisServer::with(&["--replicaof", "127.0.0.1", &port]);
    let deadline = Instant::now() + Duration::from_secs(30);
    while !replica.command(&["INFO", "replication"]).unwrap().contains("master_link_status:up") {
        assert!(Instant::now() < deadline, "the replica does not follow");
        sleep(Duration::from_millis(20));
    }
    replica
}

#[test]
fn replicas_are_unavailable_and_promoted_ones_count_as_restored() {
    let primary = RedisServer::new();
    let url = |server: &RedisServer| server.url_of("", RedisServer::PASSWORD, "0?replicas=1");
    let namespace = fresh_namespace("failover");
    let replica = replica_of(&primary);
    let mut store = connect(&url(&primary)).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    let grant = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    let refused = connect(&url(&replica)).map(drop);
    assert!(matches!(&refused, Err(Fault::Unavailable(text)) if text.contains("replica")));

    primary.kill();
    replica.command(&["REPLICAOF", "NO", "ONE"]).unwrap();
    let mut store = connect(&replica.url()).unwrap();
    let listing = operations::list(&mut *store, &namespace.name).unwrap();
    assert_eq!(listing.continuity, Continuity::Restored);
    assert_eq!(listing.rows[0].fence, grant.fence, "it was confirmed, so it is there");
}

/// A primary that is cut off from its replicas confirms nothing, not even what was written before.
#[test]
fn unconfirmed_writes_are_unavailable() {
    let primary = RedisServer::new();
    let replica = replica_of(&primary);
    let url = primary.url_of("", RedisServer::PASSWORD, "0?replicas=1");
    leases(&url);
    let namespace = fresh_namespace("cut-off");
    let mut store = connect(&url).unwrap();
    operations::init(&mut *store, &namespace).unwrap();
    let grant = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    replica.pause();
    let renewal = renewal(&grant);
    for _ in 0..2 {
        let mut store = connect(&url).unwrap();
        let renewed = operations::renew(&mut *store, &namespace.name, &renewal);
        let Err(Fault::Unavailable(text)) = renewed else { panic!("{renewed:?}") };
        assert!(text.contains("0 of 1 replicas"), "{text}");
    }
    replica.resume();
    operations::renew(&mut *store, &namespace.name, &renewal).unwrap();
}
