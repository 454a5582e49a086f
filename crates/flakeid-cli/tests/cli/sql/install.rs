//! Tests of installed scripts: repeated runs, runs for another layout, copies of the database, and
//! roles with few privileges.

use std::process::{Command, Stdio};

use flakeid_core::{Id, Layout};
use flakeid_test_servers::{PostgresServer, Server};

use super::{ids, psql, script};
use crate::run::flakeid;

/// Tests the workflow that the help describes: the script is piped into psql, and `flakeid_next()`
/// is the default of a column.
#[test]
fn sql_script_piped_into_psql_installs_id_functions() {
    let server = PostgresServer::new();
    let mut command = flakeid();
    command.args(["sql", "--dialect", "postgres", "--layout", "twitter", "--node", "7"]);
    let mut written = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut client = Command::new("psql");
    client.args(["-X", "-q", &server.url()]).stdin(written.stdout.take().unwrap());
    let installed = client.output().unwrap();
    assert!(written.wait().unwrap().success());
    assert_eq!(String::from_utf8_lossy(&installed.stderr), "");
    assert_eq!((installed.status.code(), installed.stdout.as_slice()), (Some(0), &b""[..]));

    let sql = "CREATE TABLE t (id bigint DEFAULT flakeid_next() PRIMARY KEY, x int);
               INSERT INTO t (x) SELECT generate_series(1, 5000);
               INSERT INTO t (id) SELECT flakeid_next_n(10000);
               SELECT id FROM t ORDER BY id;";
    let all = ids(&psql(&server, sql).unwrap());
    assert_eq!(all.len(), 15_000);
    for id in &all {
        assert_eq!(Layout::TWITTER.unpack(Id::from_i64(*id)).unwrap().node, 7);
    }
    check_repeated_and_conflicting_runs(&server);
    check_other_roles(&server);
    check_copied_database(&server);
    check_partitions(&server);
}

/// Checks that IDs keep increasing after a second run of the script, and that a script for another
/// layout or node changes nothing.
fn check_repeated_and_conflicting_runs(server: &PostgresServer) {
    let next = || ids(&psql(server, "SELECT flakeid_next();").unwrap())[0];
    let all_functions = "SELECT md5(string_agg(p::text, '' ORDER BY oid)) FROM pg_proc p;";
    let (before, first) = (psql(server, all_functions).unwrap(), next());
    for other in [
        script("twitter", &["--node", "8"]),
        script("plain", &["--node", "7"]),
        script("sonyflake", &["--decode-only"]),
    ] {
        let refusal = psql(server, &other).unwrap_err();
        assert!(refusal.contains("FLAKEID_INVALID_OPTION"), "{refusal}");
        assert!(refusal.contains("HINT:"), "{refusal}");
        assert_eq!(psql(server, all_functions).unwrap(), before);
    }
    let same = script("twitter", &["--node", "7"]);
    assert_eq!(psql(server, &same).unwrap(), "");
    // The script can also run inside the caller's transaction, and leaves that transaction open.
    psql(server, &format!("BEGIN; {same} ROLLBACK;")).unwrap();
    assert_eq!(psql(server, &script("twitter", &["--decode-only"])).unwrap(), "");
    assert!(next() > first);
    assert_eq!(psql(server, "SELECT flakeid_layout();").unwrap(), Layout::TWITTER.to_string());
    assert_eq!(psql(server, "SELECT flakeid_version();").unwrap(), env!("CARGO_PKG_VERSION"));
}

/// Checks that any role can generate IDs, but that a role without privileges can change neither the
/// node nor the sequence `flakeid_position`.
fn check_other_roles(server: &PostgresServer) {
    let sql = "CREATE ROLE guest; SET ROLE guest;
               SELECT flakeid_next() > 0, (SELECT count(*) FROM flakeid_next_n(5000)), flakeid_node(1 << 12);";
    assert_eq!(server.sql(sql).unwrap(), "t|5000|1");
    for forbidden in ["SELECT flakeid_rearm(9)", "SELECT setval('flakeid_position', 1)"] {
        let refusal = server.sql(&format!("SET ROLE guest; {forbidden};")).unwrap_err();
        assert!(refusal.contains("permission denied"), "{refusal}");
    }
}

/// Checks that the functions detect a copy of the database on the same server, although both
/// databases have the same system identifier.
fn check_copied_database(server: &PostgresServer) {
    server.sql_in("postgres", "CREATE DATABASE copy TEMPLATE ids OWNER flakeid").unwrap();
    let url = server.url_of("flakeid", PostgresServer::PASSWORD, "copy", "");
    let query = |sql: &str| {
        let output =
            Command::new("psql").args(["-X", "-q", "-A", "-t", "-c", sql, &url]).output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned()
    };
    for call in ["SELECT flakeid_next()", "SELECT flakeid_next_n(3)"] {
        assert!(
            query(call).contains("FLAKEID_FORKED: node 7 belongs to the database from which"),
            "{}",
            query(call)
        );
    }
    // Running the script in a copy of the database must not enable the copy to generate IDs.
    assert_eq!(query(&script("twitter", &["--node", "7"])), "");
    assert!(query("SELECT flakeid_next()").contains("FLAKEID_FORKED"));
    let refusal = query("SELECT flakeid_rearm(1024)");
    assert!(
        refusal.contains(
            "FLAKEID_FIELD_OUT_OF_RANGE: node 1024 is out of range: must be from 0 to 1023"
        )
    );
    assert_eq!(query("SELECT flakeid_rearm(9)"), "");
    assert_eq!(query("SELECT flakeid_node(flakeid_next())"), "9");
    assert_eq!(query("SELECT DISTINCT flakeid_node(id) FROM flakeid_next_n(9000) id"), "9");
    assert_eq!(psql(server, "SELECT flakeid_node(flakeid_next());").unwrap(), "7");
}

/// Checks that `PostgreSQL` prunes partitions by ID bounds. Pruning takes place during planning if
/// the bounds are constant, and at the start of execution if the bounds depend on `now()`.
fn check_partitions(server: &PostgresServer) {
    let sql = "
        CREATE TABLE events (id bigint DEFAULT flakeid_next() PRIMARY KEY) PARTITION BY RANGE (id);
        DO $$ BEGIN
          FOR month IN 1 .. 12 LOOP
            EXECUTE format('CREATE TABLE events_%s PARTITION OF events FOR VALUES FROM (%s) TO (%s)', month,
              flakeid_min(make_timestamptz(2030, month, 1, 0, 0, 0, 'UTC')),
              flakeid_min(make_timestamptz(2030, month, 1, 0, 0, 0, 'UTC') + interval '1 month'));
          END LOOP;
        END $$;
        SET TimeZone = 'UTC';
        EXPLAIN (COSTS off) SELECT * FROM events
          WHERE id BETWEEN flakeid_min('2030-03-05Z') AND flakeid_max('2030-04-02Z');
        EXPLAIN (COSTS off) SELECT * FROM events WHERE id >= flakeid_min(now() + interval '100 years');";
    let plan = psql(server, sql).unwrap();
    for month in 1..=12 {
        let is_read = plan.contains(&format!("on events_{month}"));
        assert_eq!(is_read, [3, 4].contains(&month), "{month}: {plan}");
    }
    assert!(
        plan.contains("Subplans Removed: 12") || plan.contains("One-Time Filter: false"),
        "{plan}"
    );
}
