use flakeid_core::{ErrorKind, Id};
use flakeid_protocol::operations;
use flakeid_test_servers::{EtcdServer, MariadbServer, PostgresServer, RedisServer, Server};

use crate::expectation::{Parts, connect, layout, on};
use crate::held::{check_end, hold};
use crate::servers::{SPACE, init};

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
