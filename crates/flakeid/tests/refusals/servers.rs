use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use flakeid::{Bounds, NamespaceBuilder};
use flakeid_core::ErrorKind;
use flakeid_protocol::{Namespace, operations};
use flakeid_test_servers::{EtcdServer, MariadbServer, PostgresServer, RedisServer, Server};

use crate::expectation::{Parts, check_refusals_of_any_store, connect, layout, on, refused};

/// The namespace that these tests use.
pub(crate) const SPACE: &str = "ids";

/// The password of a user who lacks the permissions that leases require.
const WEAK: &str = "weak-s3cret";

pub(crate) fn init(url: &str) {
    operations::init(&mut *connect(url), &Namespace::new(SPACE, layout())).unwrap();
}

/// Checks that each URL causes the expected kind of error, and that the error message contains the expected parts.
fn check(cases: &[(String, ErrorKind, Parts<'_>)]) {
    for (url, kind, parts) in cases {
        refused(on(url).namespace(SPACE), *kind, parts);
    }
}

/// Checks the refusals that all servers have in common. The test namespace must not exist before this call.
fn check_server(url: &str) {
    let missing = |namespace: &str| {
        let place = url.split("//").last().unwrap().rsplit('@').next().unwrap();
        let place = place.split('?').next().unwrap();
        let command = format!("USER:PASSWORD@{place}' --namespace {namespace} ");
        let parts = ["create it with `flakeid leases init --store '", &command, "--lost default`"];
        refused(on(url).namespace(namespace), ErrorKind::StoreRejected, &parts);
    };
    missing(SPACE);
    init(url);
    missing("mistyped");
    check_refusals_of_any_store(&|layout| flakeid::lease(url, layout).unwrap().namespace(SPACE));
}

/// Checks that a namespace is treated as lost unless it is declared to be fresh.
#[test]
fn created_namespace_grants_nothing_until_lost_leases_have_ended() {
    let server = RedisServer::new();
    let url = server.url();
    let builder = |name: &str| NamespaceBuilder::new(&url, name, layout()).unwrap();
    let created = builder(SPACE).create().unwrap();
    assert!(created.is_new && (14..=15).contains(&created.wait.as_millis().div_ceil(1_000)));
    let at_once = on(&url).namespace(SPACE).open_wait(Duration::ZERO);
    refused(at_once, ErrorKind::FenceInFuture, &["restored"]);
    let again = builder(SPACE).fresh(true).create().unwrap();
    assert!(!again.is_new && again.wait <= created.wait && again.wait > Duration::ZERO);

    let hour = Duration::from_secs(3_600);
    assert!(builder("long").max_window(hour).create().unwrap().wait > hour);
    let lost = Bounds { max_window_ms: 7_200_000, ..Bounds::of(&layout()) };
    assert!(builder("lost").lost(lost).create().unwrap().wait >= 2 * hour);

    let fresh = builder("fresh").fresh(true).create().unwrap();
    assert!(fresh.is_new && fresh.wait.is_zero());
    on(&url).namespace("fresh").open().unwrap().next_id().unwrap();
}

/// Checks that processes that create one namespace at the same moment with different options get what they requested, or
/// an error that contains the value in the store.
#[test]
fn creators_that_lose_a_race_get_an_error_with_the_kept_option() {
    let server = RedisServer::new();
    let url = server.url();
    let together = Barrier::new(16);
    let create = |seconds: u64| {
        let builder = NamespaceBuilder::new(&url, SPACE, layout()).unwrap();
        together.wait();
        builder.max_window(Duration::from_secs(seconds)).create()
    };
    let created: Vec<_> = thread::scope(|scope| {
        let starts: Vec<_> = (10..26).map(|seconds| scope.spawn(move || create(seconds))).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    let kept = operations::list(&mut *connect(&url), SPACE).unwrap().namespace;
    let (winners, losers): (Vec<_>, Vec<_>) = created.into_iter().partition(Result::is_ok);
    let winner = winners[0].as_ref().unwrap();
    assert!(winners.len() == 1 && winner.is_new && winner.namespace == kept, "{winners:?}");
    for error in losers.into_iter().map(Result::unwrap_err) {
        assert_eq!(error.kind(), ErrorKind::InvalidOption, "{error}");
        let existing = format!("exists with {} ms", kept.bounds.max_window_ms);
        assert!(error.to_string().contains(&existing), "{error}");
    }
}

/// Runs `happens`, and checks that the namespace and its rows are the same as before.
fn check_untouched(url: &str, happens: impl FnOnce()) {
    let before = operations::list(&mut *connect(url), SPACE).unwrap();
    happens();
    let after = operations::list(&mut *connect(url), SPACE).unwrap();
    assert_eq!((before.namespace, before.rows), (after.namespace, after.rows));
}

#[test]
fn requests_refused_by_postgres_leave_the_store_unchanged() {
    let server = PostgresServer::new();
    let url = server.url();
    check_server(&url);
    let sql = |text: &str| server.sql(text).unwrap();
    sql(&format!(
        "CREATE ROLE weak LOGIN PASSWORD '{WEAK}'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO weak"
    ));
    check_untouched(&url, || {
        check(&[
            (
                server.url_of("flakeid", "wr0ng-s3cret", "ids", ""),
                ErrorKind::StoreRejected,
                &["password authentication failed", "127.0.0.1"],
            ),
            (
                server.url_of("flakeid", PostgresServer::PASSWORD, "mistyped", ""),
                ErrorKind::StoreRejected,
                &["database \"mistyped\" does not exist"],
            ),
            (
                server.url_of("weak", WEAK, "ids", ""),
                ErrorKind::StoreRejected,
                &["permission denied"],
            ),
        ]);
        sql("ALTER ROLE flakeid SET default_transaction_read_only = on");
        check(&[(url.clone(), ErrorKind::StoreUnavailable, &["read-only"])]);
        sql("ALTER ROLE flakeid RESET default_transaction_read_only");
        // The trigger raises the error that the server returns when the disk is full.
        sql("CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                 RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; \
             END $$; \
             CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON flakeid_node \
                 FOR EACH ROW EXECUTE FUNCTION fill()");
        check(&[(url.clone(), ErrorKind::StoreUnavailable, &["No space left on device"])]);
        sql("DROP TRIGGER fill ON flakeid_node");
    });
}

#[test]
fn requests_refused_by_mariadb_leave_the_store_unchanged() {
    let server = MariadbServer::new();
    let url = server.url();
    check_server(&url);
    let sql = |text: &str| server.sql(text).unwrap();
    sql(&format!("CREATE USER weak IDENTIFIED BY '{WEAK}'; GRANT SELECT ON ids.* TO weak"));
    check_untouched(&url, || {
        check(&[
            (
                server.url_of("flakeid", "wr0ng-s3cret", "ids", ""),
                ErrorKind::StoreRejected,
                &["Access denied", "127.0.0.1"],
            ),
            (
                server.url_of("flakeid", MariadbServer::PASSWORD, "mistyped", ""),
                ErrorKind::StoreRejected,
                &["mistyped"],
            ),
            (server.url_of("weak", WEAK, "ids", ""), ErrorKind::StoreRejected, &["denied"]),
        ]);
        sql("SET GLOBAL read_only = 1");
        check(&[(url.clone(), ErrorKind::StoreUnavailable, &["read-only"])]);
        sql("SET GLOBAL read_only = 0");
        // The trigger raises the error that the server returns when the disk is full.
        sql("CREATE TRIGGER ids.fill BEFORE UPDATE ON ids.flakeid_node FOR EACH ROW \
             SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114, MESSAGE_TEXT = 'The table is full'");
        check(&[(url.clone(), ErrorKind::StoreUnavailable, &["The table is full"])]);
        sql("DROP TRIGGER ids.fill");
    });
}

#[test]
fn requests_refused_by_redis_leave_the_store_unchanged() {
    let server = RedisServer::new();
    let url = server.url();
    check_server(&url);
    let run_command = |words: &[&str]| server.command(words).unwrap();
    run_command(&["ACL", "SETUSER", "weak", "on", &format!(">{WEAK}"), "~*", "+@all", "-@write"]);
    check_untouched(&url, || {
        check(&[
            (
                server.url_of("", "wr0ng-s3cret", "0"),
                ErrorKind::StoreRejected,
                &["127.0.0.1", "authentication failed"],
            ),
            (
                format!("redis://127.0.0.1:{}/0", server.port()),
                ErrorKind::StoreRejected,
                &["NOAUTH"],
            ),
            (
                server.url_of("weak", WEAK, "0"),
                ErrorKind::StoreRejected,
                &["can't run this command"],
            ),
        ]);
        run_command(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
        check(&[(url.clone(), ErrorKind::StoreUnavailable, &["NOREPLICAS"])]);
        run_command(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
        run_command(&["CONFIG", "SET", "maxmemory", "1"]);
        check(&[(url.clone(), ErrorKind::StoreUnavailable, &["OOM"])]);
        run_command(&["CONFIG", "SET", "maxmemory", "0"]);
    });
}

#[test]
fn requests_refused_by_etcd_leave_the_store_unchanged() {
    let server = EtcdServer::with(&["--quota-backend-bytes", "1000000"]);
    let url = server.url();
    check_server(&url);
    check_untouched(&url, || {
        let filler = "x".repeat(100_000);
        let full = || !server.ctl(&["alarm", "list"]).unwrap().trim().is_empty();
        while !full() {
            // The result is ignored, because the server refuses the write that exceeds the quota, and raises an
            // alarm.
            let _ = server.ctl(&["put", "filler", &filler]);
        }
        check(&[(url.clone(), ErrorKind::StoreUnavailable, &["space exceeded"])]);
    });
}

#[test]
fn etcd_refuses_users_without_permissions() {
    let server = EtcdServer::new();
    init(&server.url());
    let weak = format!("weak:{WEAK}");
    for words in [
        &["role", "add", "root"][..],
        &["user", "add", "root:r00t-s3cret"],
        &["user", "grant-role", "root", "root"],
        &["role", "add", "weak"],
        &["role", "grant-permission", "--prefix", "weak", "read", "/flakeid/"],
        &["user", "add", &weak],
        &["user", "grant-role", "weak", "weak"],
        &["auth", "enable"],
    ] {
        server.ctl(words).unwrap_or_else(|text| panic!("{words:?}: {text}"));
    }
    let url_of = |user: &str| format!("etcd://{user}127.0.0.1:{}/", server.port());
    check_untouched(&url_of("root:r00t-s3cret@"), || {
        check(&[
            (
                url_of("root:wr0ng-s3cret@"),
                ErrorKind::StoreRejected,
                &["authentication failed", "127.0.0.1"],
            ),
            (url_of(""), ErrorKind::StoreRejected, &["user name is empty"]),
            (url_of(&format!("{weak}@")), ErrorKind::StoreRejected, &["permission denied"]),
        ]);
    });
}
