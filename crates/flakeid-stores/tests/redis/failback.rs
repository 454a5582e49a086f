//! A primary that is demoted, has its data replaced by its replica's, and is promoted again: one
//! run of the process, but another run of the data.

use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_protocol::store::{Continuity, Fault, Ledger};
use flakeid_protocol::{Acquire, Bounds, Identity, Namespace, Refusal, Row};
use flakeid_test_servers::{Proxy, RedisServer, Server};

use crate::client::{connect, fresh_namespace, renewal, request};
use crate::issuing::{Issuing, assert_ids_are_unique};
use crate::operations;

/// A primary and a replica that can be kept from following it.
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

    /// Waits until the replica has everything that the primary has.
    fn wait_until_synced(&self) {
        let offset = |server: &RedisServer| {
            let state = server.command(&["INFO", "replication"]).unwrap();
            let line = state.lines().find(|line| line.starts_with("master_repl_offset:"));
            line.unwrap().to_owned()
        };
        let deadline = Instant::now() + Duration::from_secs(30);
        while offset(&self.primary) != offset(&self.replica) {
            assert!(Instant::now() < deadline, "the replica stays behind");
            sleep(Duration::from_millis(5));
        }
    }

    /// From now on the replica misses what is written to the primary.
    fn lag(&self) {
        self.wait_until_synced();
        self.replication.cut();
    }

    /// Fails over to the replica and back. The primary's data are replaced by the replica's, which
    /// nobody has written to.
    fn fail_over_and_back(&self) {
        self.replica.promote();
        self.primary.follow(self.replica.port());
        self.primary.promote();
    }
}

/// Nothing that the primary confirmed last is there any more, and its `run_id` is what it was.
#[test]
fn primary_that_was_temporarily_a_replica_counts_as_restored() {
    let pair = Pair::new();
    let mut store = connect(&pair.primary.url()).unwrap();
    let namespace = fresh_namespace("failback");
    let name = &namespace.name;
    operations::init(&mut *store, &namespace).unwrap();
    pair.lag();
    let lost = operations::acquire(&mut *store, name, &request(&namespace)).unwrap();

    pair.fail_over_and_back();
    // Whether the connection is an old one or a new one.
    for mut store in [store, connect(&pair.primary.url()).unwrap()] {
        let listing = operations::list(&mut *store, name).unwrap();
        assert_eq!((listing.continuity, listing.rows.len()), (Continuity::Restored, 0));
    }
    let mut store = connect(&pair.primary.url()).unwrap();
    let refused = operations::acquire(&mut *store, name, &request(&namespace));
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
    let listing = operations::list(&mut *store, name).unwrap();
    assert_eq!(listing.continuity, Continuity::Same, "it is noted");
    assert!(listing.namespace.floor >= lost.fence, "no window overlaps the lost one");
    let fenced_off = operations::renew(&mut *store, name, &renewal(&lost));
    assert!(matches!(fenced_off, Err(Fault::Refused(_))), "{fenced_off:?}");
}

/// The same with two processes' generators, the first of which hears of nothing.
#[test]
fn ids_stay_unique_over_a_failover_and_back() {
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
    assert_eq!(first.node(), second.node(), "nobody knows that it was granted");
    sleep(Duration::from_millis(500));
    assert_ids_are_unique(&first.stop(), &second.stop());
}

/// One that never got the other's data has lost nothing, but cannot know that others have not
/// leased there meanwhile.
#[test]
fn primary_that_was_demoted_without_syncing_counts_as_restored() {
    let server = RedisServer::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("in-vain");
    operations::init(&mut *store, &namespace).unwrap();
    server.command(&["REPLICAOF", "127.0.0.1", "1"]).unwrap();
    let demoted = operations::list(&mut *store, &namespace.name).map(drop);
    assert!(
        matches!(&demoted, Err(Fault::Unavailable(text)) if text.contains("is a replica")),
        "{demoted:?}"
    );
    server.promote();
    let listing = operations::list(&mut *store, &namespace.name).unwrap();
    assert_eq!(listing.continuity, Continuity::Restored);
}

/// What was decided on one run of the data is not written to another, though every text that the
/// decision rests on is there as well.
#[test]
fn transaction_is_not_committed_in_another_run() {
    let pair = Pair::new();
    let mut store = connect(&pair.primary.url()).unwrap();
    let namespace = fresh_namespace("between");
    let name = &namespace.name;
    operations::init(&mut *store, &namespace).unwrap();
    let grant = operations::acquire(&mut *store, name, &request(&namespace)).unwrap();
    pair.wait_until_synced();
    let mut tries = Vec::new();
    store
        .transact(name, &mut |ledger: &mut dyn Ledger| {
            let kept = ledger.namespace()?.expect("it was made");
            tries.push(ledger.continuity(&kept.incarnation)?);
            let row = ledger.row(grant.node)?.expect("it was granted");
            if tries.len() > 1 {
                return Ok(());
            }
            pair.fail_over_and_back();
            ledger.put_row(Some(&row), &Row { fence: row.fence + 9, ..row.clone() })
        })
        .unwrap();
    assert_eq!(tries, [Continuity::Same, Continuity::Restored]);
    let rows = operations::list(&mut *store, name).unwrap().rows;
    assert_eq!(rows[0].fence, grant.fence, "it was written");
}

/// A replica that may be written to (`replica-read-only no`) is no primary either.
#[test]
fn transaction_is_not_committed_on_a_writable_replica() {
    let pair = Pair::new();
    pair.primary.command(&["CONFIG", "SET", "replica-read-only", "no"]).unwrap();
    let mut store = connect(&pair.primary.url()).unwrap();
    let namespace = fresh_namespace("demoted");
    let name = &namespace.name;
    operations::init(&mut *store, &namespace).unwrap();
    let only = Acquire { identity: Identity::Node(3), ..request(&namespace) };
    let grant = operations::acquire(&mut *store, name, &only).unwrap();
    pair.wait_until_synced();
    let settled = store.transact(name, &mut |ledger: &mut dyn Ledger| {
        let row = ledger.row(grant.node)?.expect("it was granted");
        pair.replica.promote();
        pair.primary.follow(pair.replica.port());
        ledger.put_row(Some(&row), &Row { fence: row.fence + 9, ..row.clone() })
    });
    let Err(Fault::Unavailable(text)) = settled else { panic!("{settled:?}") };
    assert!(text.contains("is a replica"), "{text}");
    let rows = operations::list(&mut *connect(&pair.replica.url()).unwrap(), name).unwrap().rows;
    assert_eq!(rows[0].fence, grant.fence);
}

/// The price of telling runs by `master_replid`: it also changes with the first replica, and some
/// time after the last one has gone.
#[test]
fn only_the_first_replica_counts_as_a_restore() {
    let server = RedisServer::with(&["--repl-backlog-ttl", "1"]);
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("first");
    let name = &namespace.name;
    operations::init(&mut *store, &namespace).unwrap();
    let mut continuity = || operations::list(&mut *store, name).unwrap().continuity;
    assert_eq!(continuity(), Continuity::Same);
    let first = RedisServer::new();
    first.follow(server.port());
    assert_eq!(continuity(), Continuity::Restored);
    operations::adopt(&mut *connect(&server.url()).unwrap(), name).unwrap();
    assert_eq!(continuity(), Continuity::Same, "it is noted");
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
        assert!(Instant::now() < deadline, "no new master_replid");
        sleep(Duration::from_millis(50));
    }
}
