//! Tests of a table that contains IDs from an application with leased nodes and IDs from a database
//! in the same namespace.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use flakeid_core::{Id, Layout};
use flakeid_protocol::Identity;
use flakeid_test_servers::{PostgresServer, Server};

use super::session::{Session, psql_client};
use super::{ids, mariadb, psql};
use crate::run::run;

/// A layout with only eight nodes, so that short-lived processes soon use every node.
const LAYOUT: &str = "t41.n3.s10@1577836800000/1ms";

/// Returns the duration of the test. The environment variable `FLAKEID_SQL_SECONDS` overrides the
/// default of 4 s.
fn length() -> Duration {
    let text = std::env::var("FLAKEID_SQL_SECONDS").unwrap_or_else(|_| "4".to_owned());
    Duration::from_secs(text.parse().expect("FLAKEID_SQL_SECONDS is a number of seconds"))
}

fn insert<T: std::fmt::Display>(ids: impl IntoIterator<Item = T>) -> String {
    let mut sql = "INSERT INTO t (id, who) VALUES ".to_owned();
    for id in ids {
        write!(sql, "({id}, 'application'),").unwrap();
    }
    sql.pop();
    sql + ";\n"
}

/// A database that generates IDs and is also the lease store.
struct Database<'a> {
    dialect: &'static str,
    /// The schema of the functions, for the `--schema` option.
    schema: &'static str,
    url: String,
    client: &'a (dyn Fn() -> Command + Sync),
    query: &'a dyn Fn(&str) -> String,
    /// The statements that each database session repeats.
    round: &'static str,
}

#[test]
fn application_and_postgres_ids_do_not_collide_in_one_table() {
    let server = PostgresServer::new();
    let url = server.url();
    fill_one_table(&Database {
        dialect: "postgres",
        schema: "public",
        url: url.clone(),
        client: &move || psql_client(&url),
        query: &|sql| psql(&server, sql).unwrap(),
        round: "
            INSERT INTO t (id) VALUES (DEFAULT);
            INSERT INTO t (who) SELECT 'database' FROM generate_series(1, 100);
            INSERT INTO t (id) SELECT flakeid_next_n(200);
            BEGIN; INSERT INTO t DEFAULT VALUES; SAVEPOINT s; INSERT INTO t DEFAULT VALUES; ROLLBACK TO s;
            INSERT INTO t DEFAULT VALUES; COMMIT;
        ",
    });
}

#[test]
fn application_and_mariadb_ids_do_not_collide_in_one_table() {
    let server = mariadb::server();
    fill_one_table(&Database {
        dialect: "mariadb",
        schema: "ids",
        url: server.url(),
        client: &|| {
            let mut client = mariadb::client(&server);
            client.arg("--unbuffered");
            client
        },
        query: &|sql| mariadb::query(&server, sql).unwrap(),
        round: "
            INSERT INTO t (id) VALUES (flakeid_next());
            INSERT INTO t (id) SELECT flakeid_next() FROM seq_1_to_100;
            START TRANSACTION; INSERT INTO t (id) VALUES (flakeid_next()); SAVEPOINT s;
            INSERT INTO t (id) VALUES (flakeid_next()); ROLLBACK TO s;
            INSERT INTO t (id) VALUES (flakeid_next()); COMMIT;
        ",
    });
}

fn fill_one_table(database: &Database<'_>) {
    let Database { dialect, schema, url, client, query, round } = database;
    let store = ["--store", url, "--namespace", "orders"];
    run(&[&["leases", "init", "--layout", LAYOUT, "--fresh"], store.as_slice()].concat()).quiet();
    let args = ["sql", "--dialect", dialect, "--schema", schema, "--name", "db1"];
    query(run(&[args.as_slice(), &store].concat()).quiet().text());
    let default = if *dialect == "postgres" { "DEFAULT flakeid_next()" } else { "" };
    query(&format!(
        "CREATE TABLE t (id bigint {default} PRIMARY KEY, who varchar(20) DEFAULT 'database');"
    ));
    let begin = Instant::now();
    let is_over = || begin.elapsed() > length();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut session = Session::new(client());
                while !is_over() && session.run(round).is_some() {}
                session.end();
            });
        }
        for number in 0..2 {
            let is_over = &is_over;
            scope.spawn(move || {
                let name = Identity::Name(format!("web-{number}"));
                let lease = flakeid::lease(url, LAYOUT.parse().unwrap()).unwrap();
                let generator = lease.namespace("orders").identity(name).open().unwrap();
                let mut session = Session::new(client());
                while !is_over() {
                    let ids = (0..200).map(|_| generator.next_id().unwrap());
                    if session.run(&insert(ids)).is_none() {
                        break;
                    }
                }
                session.end();
            });
        }
        for _ in 0..2 {
            // Each run of the command leases a node, generates 1000 IDs, and releases the node.
            scope.spawn(|| {
                let mut session = Session::new(client());
                while !is_over() {
                    let args = [&["next", "-n", "1000", "--layout", LAYOUT], store.as_slice()];
                    let generated = run(&args.concat()).quiet();
                    if session.run(&insert(generated.lines())).is_none() {
                        break;
                    }
                }
                session.end();
            });
        }
    });
    check(query);
}

fn check(query: &dyn Fn(&str) -> String) {
    let layout: Layout = LAYOUT.parse().unwrap();
    let (mut nodes, mut counts) = (BTreeMap::new(), Vec::new());
    for who in ["application", "database"] {
        let of = format!("FROM t WHERE who = '{who}'");
        let some = ids(&query(&format!("SELECT MIN(id) {of} GROUP BY flakeid_node(id);")));
        let node = |id: &i64| layout.unpack(Id::from_i64(*id)).unwrap().node;
        nodes.insert(who, some.iter().map(node).collect::<Vec<u64>>());
        counts.extend(ids(&query(&format!("SELECT COUNT(*) {of};"))));
    }
    let [database] = nodes["database"].as_slice() else {
        panic!("the database must use one node: {nodes:?}")
    };
    assert!(nodes["application"].len() >= 3, "{nodes:?}");
    assert!(!nodes["application"].contains(database), "{nodes:?}");
    eprintln!("rows of the application and of the database: {counts:?}");
    assert!(counts.iter().all(|count| *count > 2000), "{counts:?}");
}
