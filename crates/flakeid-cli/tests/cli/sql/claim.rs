//! Tests of `flakeid sql --store` whose script runs in a database, or whose store is a server.

use std::process::Command;
use std::thread;

use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_test_servers::{PostgresServer, Server};

use super::{ids, psql};
use crate::run::{run, scratch};
use crate::sql_script::claim::{leases, sql};

/// After the fence is raised and the script is run again, the tick of the next ID is at or above
/// the fence.
#[test]
fn first_postgres_id_is_at_or_above_the_fence() {
    let (_, store) = scratch("sql-claim-fence");
    leases(&store, &["init"]).quiet();
    let server = PostgresServer::new();
    let script = || sql(&store, &["--name", "db1"]).quiet().text().to_owned();
    psql(&server, &script()).unwrap();
    let next = "SELECT flakeid_next();";
    let first = ids(&psql(&server, next).unwrap())[0];
    // By running `fast-forward --by 10s`, an operator states that IDs with times up to 10 s in the
    // future may already have been issued.
    let now = SystemClock.unix_ms();
    leases(&store, &["fast-forward", "--by", "10s", "--yes"]).quiet();
    psql(&server, &script()).unwrap();
    let refusal = psql(&server, next).unwrap_err();
    assert!(refusal.contains("FLAKEID_FENCE_IN_FUTURE: earlier users of node"), "{refusal}");
    thread::sleep(std::time::Duration::from_millis(9500));
    let second = ids(&psql(&server, next).unwrap())[0];
    assert!(second > first && second >= Layout::TWITTER.lower_bound(now + 10_000).to_i64());
    // Running the same script again does not delay the next ID.
    psql(&server, &format!("{}SET statement_timeout = '500ms'; {next}", script())).unwrap();
    check_that_a_copy_gets_another_node(&server, &store);
}

fn check_that_a_copy_gets_another_node(server: &PostgresServer, store: &str) {
    server.sql_in("postgres", "CREATE DATABASE copy TEMPLATE ids OWNER flakeid").unwrap();
    let url = server.url_of("flakeid", PostgresServer::PASSWORD, "copy", "");
    let query = |sql: &str| {
        let output =
            Command::new("psql").args(["-X", "-q", "-A", "-t", "-c", sql, &url]).output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned()
    };
    let script = sql(store, &["--name", "copy"]).quiet();
    let refusal = query(script.text());
    let (_, call) = refusal.split_once("call \"public\".").expect(&refusal);
    let (call, _) = call.split_once(").").expect(&refusal);
    assert!(call.contains(", "), "the call has no node and tick: {call}");
    assert_eq!(query(&format!("SELECT {call})")), "");
    assert_eq!(query(script.text()), "");
    let node = query("SELECT flakeid_own_node()");
    assert_eq!(query("SELECT flakeid_node(flakeid_next())"), node);
    assert_ne!(node, psql(server, "SELECT flakeid_own_node();").unwrap());
    let late = query(&format!("SELECT flakeid_rearm({node}, -1)"));
    assert!(late.contains("FLAKEID_FIELD_OUT_OF_RANGE: from_tick -1"), "{late}");
}

#[test]
fn sqlite_script_for_a_server_store_warns_about_its_password() {
    let server = PostgresServer::new();
    let here = ["--store", &server.url(), "--namespace", "orders"];
    run(&[&["leases", "init", "--fresh"], &here[..]].concat()).quiet();
    let warned = run(&[&["sql", "--dialect", "sqlite"], &here[..]].concat());
    assert!(warned.stderr.contains("including the user name and password"), "{}", warned.stderr);
}
