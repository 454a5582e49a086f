//! Tests of `flakeid leases init` on database servers. A server cannot distinguish a namespace that
//! never existed from a namespace that it has lost.

use std::time::Duration;

use flakeid_core::Layout;
use flakeid_test_servers::{EtcdServer, MariadbServer, PostgresServer, RedisServer, Server};
use serde_json::json;

use crate::refusals::refused;
use crate::run::{Run, run};

const HOUR: Duration = Duration::from_secs(3_600);

fn init(url: &str, args: &[&str]) -> Run {
    run(&[&["leases", "init", "--store", url, "--namespace", "orders"], args].concat())
}

/// Checks that `init` without `--fresh` or `--lost` fails, explains both options, and writes
/// nothing. `contents` returns the number of entries in the store.
fn check(url: &str, contents: impl Fn() -> usize) {
    let empty = contents();
    for args in [&[] as &[&str], &["--max-window", "1h"], &["--json"]] {
        let undecided = init(url, args);
        let parts = [
            "--fresh, --lost: give one of them: namespace orders of ",
            " does not exist, and the store cannot detect whether it never existed or was lost\n",
            "hint: if this store never had a namespace of this name, give --fresh: nodes are granted \
             at once. If the store lost one, ",
            "give --lost WINDOW,AHEAD,SKEW with its bounds (--lost default if they were 10s,20s,1s)",
        ];
        refused(&undecided, "FLAKEID_INVALID_OPTION", &parts);
        let secrets = [PostgresServer::PASSWORD, MariadbServer::PASSWORD, RedisServer::PASSWORD];
        assert!(
            !secrets.iter().any(|secret| undecided.stderr.contains(secret)),
            "{}",
            undecided.stderr
        );
        assert_eq!(contents(), empty, "{args:?} wrote something");
    }
    let coarse = init(url, &["--layout", "t40.n10.s8@0/10s"]);
    refused(&coarse, "FLAKEID_INVALID_OPTION", &["--lost default if they were 40s,40s,1s"]);
    assert_eq!(contents(), empty);

    let created = init(url, &["--fresh"]).quiet().json();
    assert_eq!((&created[0]["created"], &created[0]["wait_ms"]), (&json!(true), &json!(0)));
    assert!(contents() > empty, "{}", contents());
    // `init` does not require `--fresh` for an existing namespace, but accepts the option.
    for args in [&[] as &[&str], &["--fresh"]] {
        assert_eq!(init(url, args).quiet().json()[0]["created"], false, "{args:?}");
    }
    let late = init(url, &["--lost", "1h,20s,5s"]);
    assert_eq!((late.code, &late.json()[0]["wait_ms"]), (Some(0), &json!(0)));
    assert!(late.stderr.contains("so --lost has no effect"), "{}", late.stderr);
    run(&["next", "--store", url, "--namespace", "orders"]).quiet();
}

#[test]
fn init_without_required_flag_creates_no_postgres_table() {
    let server = PostgresServer::new();
    let tables = "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'flakeid%'";
    check(&server.url(), || server.sql(tables).unwrap().trim().parse().unwrap());
}

#[test]
fn init_without_required_flag_creates_no_mariadb_table() {
    let server = MariadbServer::new();
    check(&server.url(), || server.sql("SHOW TABLES FROM ids").unwrap().lines().count());
}

#[test]
fn init_without_required_flag_creates_no_etcd_key() {
    let server = EtcdServer::new();
    let keys = ["get", "/flakeid/", "--prefix", "--keys-only"];
    check(&server.url(), || server.ctl(&keys).unwrap().lines().count());
}

#[test]
fn init_without_required_flag_creates_no_redis_key() {
    let server = RedisServer::new();
    check(&server.url(), || server.command(&["DBSIZE"]).unwrap().parse().unwrap());
}

/// A namespace with one-hour windows is lost while a process still has a window. An operator
/// recreates the namespace with the default bounds, and specifies the bounds of the lost namespace
/// with `--lost`. The store then grants no node until the process's window has ended.
#[test]
fn recreated_namespace_grants_no_leases_until_earlier_windows_end() {
    let server = RedisServer::new();
    let url = server.url();
    init(&url, &["--fresh", "--max-window", "1h"]).quiet();
    let layout = Layout::TWITTER;
    let builder = flakeid::lease(&url, layout).unwrap().namespace("orders");
    let generator = builder.window(HOUR).ttl(3 * HOUR).open().unwrap();
    generator.next_id().unwrap();
    server.command(&["FLUSHALL"]).unwrap();

    refused(&init(&url, &[]), "FLAKEID_INVALID_OPTION", &["--fresh, --lost: give one of them"]);
    let created = init(&url, &["--lost", "1h,20s,5s"]).quiet().json()[0].clone();
    assert_eq!((&created["created"], &created["max_window_ms"]), (&json!(true), &json!(10_000)));
    assert!(created["wait_ms"].as_u64().unwrap() > 3_590_000, "{created}");
    let next = run(&["next", "--store", &url, "--namespace", "orders"]);
    assert_eq!(next.code, Some(1), "{}", next.text());
    assert!(next.stderr.contains("FLAKEID_FENCE_IN_FUTURE"), "{}", next.stderr);
    // The process that leased its window before the loss can still generate IDs.
    generator.next_id().unwrap();
}

/// `--lost default` states that the lost namespace had the default bounds, regardless of the bounds
/// of the new namespace.
#[test]
fn init_assumes_default_bounds_when_the_lost_option_is_default() {
    let server = RedisServer::new();
    let created = init(&server.url(), &["--lost", "default", "--max-window", "1s"]).quiet();
    // The wait is 15 s, the default time for which a restored store grants nothing. This time is
    // longer than the longest window plus twice the maximum clock skew.
    let wait_ms = created.json()[0]["wait_ms"].as_u64().unwrap();
    assert!((14_000..=15_000).contains(&wait_ms), "{wait_ms}");
}
