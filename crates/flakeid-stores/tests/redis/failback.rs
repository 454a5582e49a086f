//! Tests of a primary that is demoted, receives its replica's data, and is promoted again. The server process is still
//! the same, but its data belongs to a different run.

use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_protocol::store::{Continuity, Fault, Ledger};
use flakeid_protocol::{Acquire, Bounds, Identity, Namespace, Row};
use flakeid_test_servers::{Proxy, RedisServer, Server};

use crate::client::{Client, connect, fresh_namespace};
use crate::issuing::{Issuing, assert_ids_are_unique};
use crate::operations;

/// A primary and a replica, with a proxy through which a test can interrupt replication.
struct Pair {
    primary: RedisServer,
    replica: RedisServer,
    replication: Proxy,
}

impl Pair {
    fn new() -> Self {
        let primary = RedisServer::new();
        let replica = RedisServer::new();
        let replication = Proxy::to(primary.port());
        replica.follow(replication.port());
        Self { primary, replica, replication }
    }

    /// Waits until the replica has received all data from the primary.
    fn wait_until_synced(&self) {
        let offset = |server: &RedisServer| {
            let state = server.command(&["INFO", "replication"]).unwrap();
            let line = state.lines().find(|line| line.starts_with("master_repl_offset:"));
            line.unwrap().to_owned()
        };
        let deadline = Instant::now() + Duration::from_secs(30);
        while offset(&self.primary) != offset(&self.replica) {
            assert!(Instant::now() < deadline, "the replica does not catch up");
            sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the replica is synchronized, and then interrupts replication, so that the replica receives no
    /// further writes.
    fn lag(&self) {
        self.wait_until_synced();
        self.replication.cut();
    }

    /// Fails over to the replica, and then back to the primary. The replica's data, which no client has changed,
    /// replaces the primary's data.
    fn fail_over_and_back(&self) {
        self.replica.promote();
        self.primary.follow(self.replica.port());
        self.primary.promote();
    }
}

/// Checks that the loss of confirmed writes is detected, although the primary's `run_id` has not changed.
#[test]
fn primary_counts_as_restored_after_serving_as_a_replica() {
    let pair = Pair::new();
    let mut client = Client::new(&pair.primary.url(), "failback");
    pair.lag();
    let lost = client.acquire().unwrap();

    pair.fail_over_and_back();
    // The loss must be detected on both old and new connections.
    for _ in 0..2 {
        let listing = client.list().unwrap();
        assert_eq!((listing.continuity, listing.rows.len()), (Continuity::Restored, 0));
        client.reconnect(&pair.primary.url());
    }
    client.assert_restored_above(&lost);
    let fenced_off = client.renew(&lost);
    assert!(matches!(fenced_off, Err(Fault::Refused(_))), "{fenced_off:?}");
}

/// Checks that two generators never issue the same ID. The first generator loses its connection to the server before
/// the failover.
#[test]
fn ids_stay_unique_across_failover_and_failback() {
    const WINDOW_MS: u64 = 10_000;
    let pair = Pair::new();
    let bounds = Bounds {
        max_window_ms: WINDOW_MS,
        max_ahead_ms: 500,
        max_skew_ms: 1_000,
        quiet_ms: 12_001,
    };
    let namespace = Namespace { bounds, ..fresh_namespace("issuing") };
    operations::init(&mut *connect(&pair.primary.url()).unwrap(), &namespace).unwrap();
    pair.lag();
    let window = Duration::from_millis(WINDOW_MS);
    let clients = Proxy::to(pair.primary.port());
    let first = format!("redis://:{}@127.0.0.1:{}/0", RedisServer::PASSWORD, clients.port());
    let first = Issuing::on(&first, &namespace, window);
    clients.cut();

    pair.fail_over_and_back();
    let second = Issuing::on(&pair.primary.url(), &namespace, window);
    assert_eq!(first.node(), second.node(), "the replica's data do not contain the first grant");
    sleep(Duration::from_millis(500));
    assert_ids_are_unique(&first.stop(), &second.stop());
}

/// Checks that a demoted primary counts as restored even if it received no data. The demoted primary lost no data, but
/// another primary may have granted leases in the meantime.
#[test]
fn demoted_primary_counts_as_restored_even_if_it_received_no_data() {
    let server = RedisServer::new();
    let mut client = Client::new(&server.url(), "in-vain");
    server.command(&["REPLICAOF", "127.0.0.1", "1"]).unwrap();
    let demoted = client.list().map(drop);
    assert!(
        matches!(&demoted, Err(Fault::Unavailable(text)) if text.contains("is a replica")),
        "{demoted:?}"
    );
    server.promote();
    let listing = client.list().unwrap();
    assert_eq!(listing.continuity, Continuity::Restored);
}

/// Checks that a transaction that began before a failover is not committed after the failover. All values that the
/// transaction read are unchanged, but the data belongs to a different run.
#[test]
fn transaction_is_not_committed_if_a_failover_interrupts_it() {
    let pair = Pair::new();
    let mut client = Client::new(&pair.primary.url(), "between");
    let grant = client.acquire().unwrap();
    pair.wait_until_synced();
    let mut tries = Vec::new();
    client
        .store
        .transact(&client.namespace.name, &mut |ledger: &mut dyn Ledger| {
            let kept = ledger.namespace()?.expect("the namespace exists");
            tries.push(ledger.continuity(&kept.incarnation)?);
            let row = ledger.row(grant.node)?.expect("the granted node has a row");
            if tries.len() > 1 {
                return Ok(());
            }
            pair.fail_over_and_back();
            ledger.put_row(Some(&row), &Row { fence: row.fence + 9, ..row.clone() })
        })
        .unwrap();
    assert_eq!(tries, [Continuity::Same, Continuity::Restored]);
    let rows = client.list().unwrap().rows;
    assert_eq!(rows[0].fence, grant.fence, "the row must be unchanged");
}

/// Checks that a replica that accepts writes (`replica-read-only no`) does not count as a primary.
#[test]
fn transaction_is_not_committed_on_a_writable_replica() {
    let pair = Pair::new();
    pair.primary.command(&["CONFIG", "SET", "replica-read-only", "no"]).unwrap();
    let mut client = Client::new(&pair.primary.url(), "demoted");
    let only = Acquire { identity: Identity::Node(3), ..client.request() };
    let grant = client.acquire_as(&only).unwrap();
    pair.wait_until_synced();
    let outcome = client.store.transact(&client.namespace.name, &mut |ledger: &mut dyn Ledger| {
        let row = ledger.row(grant.node)?.expect("the granted node has a row");
        pair.replica.promote();
        pair.primary.follow(pair.replica.port());
        ledger.put_row(Some(&row), &Row { fence: row.fence + 9, ..row.clone() })
    });
    let Err(Fault::Unavailable(text)) = outcome else { panic!("{outcome:?}") };
    assert!(text.contains("is a replica"), "{text}");
    let rows =
        operations::list(&mut *connect(&pair.replica.url()).unwrap(), &client.namespace.name)
            .unwrap()
            .rows;
    assert_eq!(rows[0].fence, grant.fence);
}

/// Checks that `master_replid`, which identifies a run, changes only in two cases: when the first replica connects, and
/// some time after the last replica disconnects. The store counts as restored after each change, even if no data was
/// lost.
#[test]
fn connecting_the_first_or_losing_the_last_replica_counts_as_a_restore() {
    let server = RedisServer::with(&["--repl-backlog-ttl", "1"]);
    let mut client = Client::new(&server.url(), "first");
    let name = client.namespace.name.clone();
    let mut continuity = || client.list().unwrap().continuity;
    assert_eq!(continuity(), Continuity::Same);
    let first = RedisServer::new();
    first.follow(server.port());
    assert_eq!(continuity(), Continuity::Restored);
    operations::adopt(&mut *connect(&server.url()).unwrap(), &name).unwrap();
    assert_eq!(continuity(), Continuity::Same, "the restore is recorded");
    let second = RedisServer::new();
    second.follow(server.port());
    assert_eq!(continuity(), Continuity::Same);

    server.command(&["CONFIG", "SET", "repl-backlog-ttl", "0"]).unwrap();
    drop((first, second));
    sleep(Duration::from_secs(3));
    assert_eq!(continuity(), Continuity::Same);
    server.command(&["CONFIG", "SET", "repl-backlog-ttl", "1"]).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while continuity() == Continuity::Same {
        assert!(Instant::now() < deadline, "the master_replid did not change");
        sleep(Duration::from_millis(50));
    }
}
