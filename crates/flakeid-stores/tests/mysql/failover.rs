//! Tests of URLs that contain several hosts. The client must find the replication source, even after a failover.

use flakeid_protocol::store::Fault;
use flakeid_protocol::{Grant, Namespace};
use flakeid_test_servers::{MariadbPair, MariadbServer, Server, free_port};

use crate::client::{check_faults, connect, leases, request};
use crate::operations;
use crate::restored::{self, check_restored};

fn lease(pair: &MariadbPair, name: &str) -> (Namespace, Grant) {
    let lease = restored::lease(&pair.url(""), name);
    pair.wait();
    lease
}

#[test]
fn promoted_replica_is_used_after_a_failover() {
    let pair = MariadbPair::new();
    let (namespace, grant) = lease(&pair, "promoted");
    pair.source.kill();
    let fault = connect(&pair.url("")).map(drop).unwrap_err();
    let Fault::Unavailable(text) = &fault else { panic!("{fault:?}") };
    assert!(text.contains("refused") && text.contains("is read-only"), "{text}");
    assert!(text.contains(&pair.source.port().to_string()), "{text}");
    assert!(text.contains(&pair.replica.port().to_string()), "{text}");
    pair.promote();
    check_restored(&pair.url(""), &namespace, &grant);
}

/// Checks that a promoted replica does not grant the same ticks a second time, even if the replica never received the
/// original grant.
#[test]
fn promoted_replica_that_lost_commits_counts_as_restored() {
    let pair = MariadbPair::new();
    let (namespace, _) = lease(&pair, "lost");
    pair.replica.sql("STOP SLAVE").unwrap();
    let mut store = connect(&pair.url("")).unwrap();
    let lost = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    pair.source.kill();
    pair.promote();
    check_restored(&pair.url(""), &namespace, &lost);
}

/// Checks that the client tries the next host if a source accepts connections but does not respond.
#[test]
fn hanging_replication_source_is_skipped() {
    let pair = MariadbPair::new();
    let (namespace, grant) = lease(&pair, "hanging");
    pair.source.pause();
    pair.promote();
    check_restored(&pair.url(""), &namespace, &grant);
    // The paused server is killed, because resuming the server would create a second replication source.
    pair.source.kill();
}

#[test]
fn replica_is_skipped_at_any_position_in_the_url() {
    let pair = MariadbPair::new();
    let (source, replica) = (pair.source.port(), pair.replica.port());
    let url = |scheme: &str, hosts: &str| {
        format!("{scheme}://flakeid:{}@{hosts}/ids", MariadbServer::PASSWORD)
    };
    leases(&url("mariadb", &format!("127.0.0.1:{replica},localhost:{source}")));
    leases(&url("mysql", &format!("127.0.0.1:{},127.0.0.1:{source}", free_port())));
    let cases = [
        (url("mysql", &format!("127.0.0.1:{replica},127.0.0.1:{replica}")), true, "is read-only"),
        (url("mysql", "a:1,b:x"), false, "not have the form"),
        (format!("{}?socket=/tmp/x", url("mysql", "a,b")), false, "socket"),
        (
            format!("mysql://flakeid:wr0ng,secret@127.0.0.1:{source},127.0.0.1:{source}/ids"),
            false,
            "Access denied",
        ),
    ];
    check_faults(&cases, &["wr0ng", "secret", MariadbServer::PASSWORD]);
}
