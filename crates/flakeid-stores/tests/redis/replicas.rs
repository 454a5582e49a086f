use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::thread::sleep;
use std::time::Duration;

use flakeid_protocol::store::{Continuity, Fault, Store};
use flakeid_protocol::{Bounds, Namespace, Refusal};
use flakeid_test_servers::{Proxy, RedisServer, Server};

use crate::client::{Client, connect, fresh_namespace, leases, renewal, request};
use crate::operations;

fn replica_of(primary: &RedisServer) -> RedisServer {
    let replica = RedisServer::new();
    replica.follow(primary.port());
    replica
}

/// Connects with the option that requires the given number of replicas to confirm each write.
fn confirmed_by(replicas: u32, server: &RedisServer) -> Result<Box<dyn Store>, Fault> {
    connect(&server.url_of("", RedisServer::PASSWORD, &format!("0?replicas={replicas}")))
}

#[test]
fn replica_grants_nothing_and_counts_as_restored_when_promoted() {
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
    replica.promote();
    let mut store = connect(&replica.url()).unwrap();
    let listing = operations::list(&mut *store, &namespace.name).unwrap();
    assert_eq!(listing.continuity, Continuity::Restored);
    assert_eq!(listing.rows[0].fence, grant.fence, "the confirmed grant must be on the replica");
}

/// Checks that a primary confirms no write, not even a repeated renewal, while its only replica is paused.
#[test]
fn store_is_reported_as_unavailable_if_no_replica_confirms_writes() {
    let primary = RedisServer::new();
    let replica = replica_of(&primary);
    let url = primary.url_of("", RedisServer::PASSWORD, "0?replicas=1");
    leases(&url);
    let mut client = Client::new(&url, "cut-off");
    let grant = client.acquire().unwrap();
    replica.pause();
    let renewal = renewal(&grant);
    for _ in 0..2 {
        let mut store = connect(&url).unwrap();
        let renewed = operations::renew(&mut *store, &client.namespace.name, &renewal);
        let Err(Fault::Unavailable(text)) = renewed else { panic!("{renewed:?}") };
        assert!(text.contains("0 of 1 required replicas"), "{text}");
    }
    replica.resume();
    operations::renew(&mut *client.store, &client.namespace.name, &renewal).unwrap();
}

/// Checks that a primary with three replicas is refused if only one replica must confirm each write. One replica could
/// stay with the old primary while another replica follows a new primary. Both primaries would then confirm writes.
#[test]
fn primary_is_refused_if_replicas_exceed_twice_the_required_confirmations() {
    let primary = RedisServer::new();
    let _two = [replica_of(&primary), replica_of(&primary)];
    // This connection only copies the data, as `redis-cli --rdb` does. The store must not count the connection as a
    // replica that could be promoted.
    let mut copying = TcpStream::connect((Ipv4Addr::LOCALHOST, primary.port())).unwrap();
    let mut answer = [0; 5];
    copying.write_all(format!("AUTH {}\r\n", RedisServer::PASSWORD).as_bytes()).unwrap();
    copying.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+OK\r\n");
    copying.write_all(b"SYNC\r\n").unwrap();
    // The server sends the data, or an empty line if the data is not ready yet.
    copying.read_exact(&mut answer[..1]).unwrap();
    let state = primary.command(&["INFO", "replication"]).unwrap();
    assert!(state.contains("connected_slaves:3"), "{state}");
    confirmed_by(1, &primary).unwrap();

    let _third = replica_of(&primary);
    let Err(Fault::Rejected(text)) = confirmed_by(1, &primary).map(drop) else {
        panic!("the server was accepted")
    };
    assert!(text.contains("3 replicas") && text.contains("replicas=2"), "{text}");
    confirmed_by(2, &primary).unwrap();
    connect(&primary.url()).unwrap();
}

/// Checks that a new primary records its run only after its replicas follow it. Otherwise, the new primary could later
/// grant ticks that the old primary had already granted and a replica had confirmed.
#[test]
fn new_primary_grants_no_windows_that_the_old_primary_granted() {
    let old = RedisServer::new();
    let (new, other) = (replica_of(&old), replica_of(&old));
    let bounds =
        Bounds { max_window_ms: 4_000, max_ahead_ms: 100, max_skew_ms: 1_000, quiet_ms: 6_001 };
    let namespace = Namespace { bounds, ..fresh_namespace("two-primaries") };
    let name = &namespace.name;
    let acquire = |server: &RedisServer| {
        let mut store = confirmed_by(1, server).unwrap();
        let request = flakeid_protocol::Acquire { window_ms: 4_000, ..request(&namespace) };
        operations::acquire(&mut *store, name, &request)
    };
    operations::init(&mut *confirmed_by(2, &old).unwrap(), &namespace).unwrap();
    new.promote();
    let alone = acquire(&new);
    assert!(matches!(&alone, Err(Fault::Unavailable(text)) if text.contains("0 of 1 replicas")));

    // After this wait, the clock is past any floor that the new primary could have recorded.
    sleep(Duration::from_millis(4_000 + 100 + 3 * 1_000 + 100));
    let granted = acquire(&old).unwrap();
    other.follow(new.port());
    let refused = acquire(&new);
    assert!(
        matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))),
        "{refused:?} overlaps {granted:?}"
    );
    let noted = operations::list(&mut *confirmed_by(1, &new).unwrap(), name).unwrap();
    assert!(noted.namespace.floor >= granted.fence);
}

/// Checks that the store is reported as unavailable if the primary is demoted between a write and its confirmation. In
/// this case, the outcome of the write is unknown.
#[test]
fn renewal_fails_when_the_primary_is_demoted_before_confirmation() {
    let primary = RedisServer::new();
    let _replica = replica_of(&primary);
    let network = Proxy::to(primary.port());
    let password = RedisServer::PASSWORD;
    let url = format!("redis://:{password}@127.0.0.1:{}/0?replicas=1", network.port());
    let mut client = Client::new(&url, "demoted");
    let grant = client.acquire().unwrap();
    let renewal = renewal(&grant);
    let next = renewal.next.to_text();
    let rows = format!("flakeid:{{{}}}:rows", client.namespace.name);
    // The delay leaves enough time for a demotion between the write and its confirmation.
    network.delay(Duration::from_millis(500));
    let renewed = std::thread::scope(|scope| {
        let renewed =
            scope.spawn(|| operations::renew(&mut *client.store, &client.namespace.name, &renewal));
        while !primary.command(&["HGETALL", &rows]).unwrap().contains(&next) {
            sleep(Duration::from_millis(5));
        }
        primary.command(&["REPLICAOF", "127.0.0.1", "1"]).unwrap();
        renewed.join().unwrap()
    });
    let Err(Fault::Unavailable(text)) = renewed else { panic!("{renewed:?}") };
    assert!(text.contains("WAIT"), "{text}");
}
