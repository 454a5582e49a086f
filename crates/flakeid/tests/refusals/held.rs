use std::sync::{Arc, Mutex};
use std::time::Duration;

use flakeid::{Generator, LeaseBuilder, LeaseEvent};
use flakeid_core::{Clock, ErrorKind, Id, ManualClock, SystemClock};
use flakeid_protocol::{MemoryStore, operations};
use flakeid_test_servers::{EtcdServer, MariadbServer, PostgresServer, RedisServer, Server};

use crate::expectation::{MAX_WAIT, Parts, check_error, check_secrecy, layout, on};
use crate::files::use_up;
use crate::servers::{SPACE, connect, init};

type Events = Arc<Mutex<Vec<LeaseEvent>>>;

/// Opens a lease with a short window. Returns the generator and a list that collects the lease's events.
fn hold(builder: LeaseBuilder) -> (Generator, Events) {
    let events = Events::default();
    let log = Arc::clone(&events);
    let builder = builder
        .window(Duration::from_millis(500))
        .max_wait(MAX_WAIT)
        .observer(move |event: &LeaseEvent| log.lock().unwrap().push(event.clone()));
    (builder.open().unwrap(), events)
}

/// Requests IDs from a lease that can no longer be renewed, until the lease expires. Checks that all IDs are below the
/// fence, and that no error, status or event contains a secret.
fn check_end(
    (generator, events): &(Generator, Events),
    kind: ErrorKind,
    parts: Parts<'_>,
) -> Vec<Id> {
    let mut ids = Vec::new();
    let error = use_up(&mut ids, || generator.next_id());
    check_error(&error, ErrorKind::LeaseExpired, parts);
    let lease = generator.lease_status().unwrap();
    check_secrecy(&format!("{lease:?} {generator:?}"));
    check_error(&lease.last_error.unwrap(), kind, parts);
    for event in &*events.lock().unwrap() {
        check_secrecy(&format!("{event:?}"));
    }
    for id in &ids {
        assert!(layout().unpack(*id).unwrap().tick < lease.fence, "{id} {}", lease.fence);
    }
    ids
}

/// Checks that the tick of each ID is below the stored fence of the ID's node.
fn check_covered(url: &str, ids: &[Id]) {
    let rows = operations::list(&mut *connect(url), SPACE).unwrap().rows;
    for id in ids {
        let used = layout().unpack(*id).unwrap();
        let row = rows.iter().find(|row| row.node == used.node).unwrap();
        assert!(used.tick < row.fence, "{used:?} {row:?}");
    }
}

/// Checks that a lease expires at the end of its window after `change` has invalidated the lease's credentials. Then
/// checks that a second lease expires at the end of its window after the server has been killed.
fn check_server(
    server: &dyn Server,
    (url, change, changed): (&str, impl FnOnce(), &str),
    parts: Parts<'_>,
) {
    init(url);
    let held = hold(on(url).namespace(SPACE));
    change();
    let ids = check_end(&held, ErrorKind::StoreRejected, parts);
    check_covered(changed, &ids);
    drop(held);

    let held = hold(on(changed).namespace(SPACE));
    server.kill();
    check_end(&held, ErrorKind::StoreUnavailable, &["127.0.0.1"]);
}

#[test]
fn postgres_lease_expires_at_the_end_of_its_window_after_a_password_change() {
    let server = PostgresServer::new();
    let change = || {
        server.sql("ALTER ROLE flakeid PASSWORD 'new-s3cret'").unwrap();
        let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                      WHERE usename = 'flakeid'";
        server.sql(others).unwrap();
    };
    let changed = server.url_of("flakeid", "new-s3cret", "ids", "");
    check_server(&server, (&server.url(), change, &changed), &["password authentication failed"]);
}

#[test]
fn mariadb_lease_expires_at_the_end_of_its_window_after_a_password_change() {
    let server = MariadbServer::new();
    let change = || {
        server.sql("ALTER USER flakeid IDENTIFIED BY 'new-s3cret'; KILL USER flakeid").unwrap();
    };
    let changed = server.url_of("flakeid", "new-s3cret", "ids", "");
    check_server(&server, (&server.url(), change, &changed), &["Access denied"]);
}

#[test]
fn redis_lease_expires_at_the_end_of_its_window_after_a_password_change() {
    let server = RedisServer::new();
    let set = |password: &str| {
        let password = format!(">{password}");
        server.command(&["ACL", "SETUSER", "ids", "on", &password, "~*", "+@all"]).unwrap();
    };
    let change = || {
        server.command(&["ACL", "DELUSER", "ids"]).unwrap();
        set("new-s3cret");
    };
    set("old-s3cret");
    let (url, changed) =
        (server.url_of("ids", "old-s3cret", "0"), server.url_of("ids", "new-s3cret", "0"));
    check_server(&server, (&url, change, &changed), &["authentication failed"]);
}

#[test]
fn etcd_lease_expires_at_the_end_of_its_window_after_a_password_change() {
    let server = EtcdServer::new();
    let change = || {
        for words in [
            &["role", "add", "root"][..],
            &["user", "add", "root:new-s3cret"],
            &["user", "grant-role", "root", "root"],
            &["auth", "enable"],
        ] {
            server.ctl(words).unwrap();
        }
    };
    let changed = format!("etcd://root:new-s3cret@127.0.0.1:{}/", server.port());
    check_server(&server, (&server.url(), change, &changed), &["user name is empty"]);
}

/// Checks that all IDs are below the stored fence, even if the host's clock is set forward or back by 50 years.
#[test]
fn clock_changes_never_extend_a_lease_beyond_its_window() {
    const YEARS: i64 = 50 * 365 * 86_400_000;
    for by in [YEARS, -YEARS] {
        let store = MemoryStore::new();
        let clock = Arc::new(ManualClock::new(SystemClock.unix_ms()));
        let opened = store.clone();
        let builder = LeaseBuilder::from_store(layout(), move || Ok(Box::new(opened.clone())));
        let held = hold(builder.clock(Shared(Arc::clone(&clock))));
        let mut ids = vec![held.0.next_id().unwrap()];
        clock.set(SystemClock.unix_ms() + by);
        if by > 0 {
            ids.extend(check_end(&held, ErrorKind::ClockSkew, &["this host's clock"]));
        } else {
            let error = use_up(&mut ids, || held.0.next_id());
            check_error(&error, ErrorKind::ClockRollback, &["clock"]);
        }
        let row = &operations::list(&mut store.clone(), "default").unwrap().rows[0];
        assert!(ids.iter().all(|id| layout().unpack(*id).unwrap().tick < row.fence));
    }
}

struct Shared(Arc<ManualClock>);

impl Clock for Shared {
    fn unix_ms(&self) -> i64 {
        self.0.unix_ms()
    }

    fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        self.0.wait_until(unix_ms, at_most)
    }
}
