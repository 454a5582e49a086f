//! Tests that generate IDs in column defaults, through the table function, and on several connections.

use std::path::Path;

use super::{answer, column, configure, configured, open};

fn rising(ids: &[i64]) {
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
}

#[test]
fn column_default_generates_an_increasing_id_for_each_row() {
    let connection = configured(&["layout=twitter", "node=701"]);
    connection
        .execute_batch(
            "CREATE TABLE invoices (id INTEGER PRIMARY KEY DEFAULT (flakeid_next()), total NUMERIC) WITHOUT ROWID;
             INSERT INTO invoices (total) VALUES (1), (2), (3);
             SAVEPOINT s; INSERT INTO invoices (total) VALUES (4); ROLLBACK TO s;
             INSERT INTO invoices (total) VALUES (5);",
        )
        .unwrap();
    let ids = column(&connection, "SELECT id FROM invoices ORDER BY total");
    assert_eq!(ids.len(), 4);
    rising(&ids);
    let nodes = column(&connection, "SELECT DISTINCT flakeid_node(id) FROM invoices");
    assert_eq!(nodes, [701]);
    let now = "SELECT abs(unixepoch() - unixepoch(flakeid_time(max(id)))) < 60 FROM invoices";
    assert_eq!(answer(&connection, now).as_deref(), Ok("1"));
    // SQLite calls `flakeid_next()` again for each row.
    assert_eq!(column(&connection, "SELECT flakeid_next() FROM invoices UNION SELECT 0").len(), 5);
}

/// In a rowid table, an `INTEGER PRIMARY KEY` ignores its default, because SQLite assigns the rowid.
#[test]
fn integer_primary_key_ignores_its_default_in_rowid_tables() {
    let connection = configured(&["layout=twitter", "node=702"]);
    connection
        .execute_batch(
            "CREATE TABLE t (id INTEGER PRIMARY KEY DEFAULT (flakeid_next()), n);
             INSERT INTO t (n) VALUES (1); INSERT INTO t VALUES (flakeid_next(), 2);",
        )
        .unwrap();
    let ids = column(&connection, "SELECT id FROM t ORDER BY n");
    assert_eq!(ids[0], 1);
    assert!(ids[1] > 1 << 60);
}

#[test]
fn queries_use_an_index_on_a_decoding_function() {
    let connection = configured(&["layout=twitter", "node=703"]);
    connection
        .execute_batch(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, at TEXT AS (flakeid_time(id)) STORED);
             CREATE INDEX by_node ON t (flakeid_node(id));
             INSERT INTO t (id) SELECT id FROM flakeid_next_n(100);",
        )
        .unwrap();
    let plan = "EXPLAIN QUERY PLAN SELECT * FROM t WHERE flakeid_node(id) = 703";
    let plan: String = connection.query_row(plan, [], |row| row.get(3)).unwrap();
    assert!(plan.contains("by_node"), "{plan}");
    let range = "EXPLAIN QUERY PLAN SELECT * FROM t
                 WHERE id BETWEEN flakeid_min('2026-01-01') AND flakeid_max('2026-12-31')";
    let plan: String = connection.query_row(range, [], |row| row.get(3)).unwrap();
    assert!(plan.contains("SEARCH t USING INTEGER PRIMARY KEY"), "{plan}");
    let equal = "SELECT count(*) FROM t WHERE at = flakeid_time(id) AND flakeid_node(id) = 703";
    assert_eq!(answer(&connection, equal).as_deref(), Ok("100"));
}

#[test]
fn table_function_returns_the_given_number_of_ids() {
    let connection = configured(&["layout=twitter", "node=704"]);
    for count in [0, 1, 1023, 1024, 1025, 5000] {
        let ids = column(&connection, &format!("SELECT id FROM flakeid_next_n({count})"));
        assert_eq!(ids.len(), count);
        rising(&ids);
    }
    // The table function generates IDs only as rows are read, about a thousand IDs at a time.
    assert_eq!(column(&connection, "SELECT id FROM flakeid_next_n(1000000000) LIMIT 3").len(), 3);
    let counts = "(SELECT 2 AS n UNION ALL SELECT 3) AS counts";
    let joined = format!("SELECT count(DISTINCT id) FROM {counts}, flakeid_next_n(counts.n)");
    assert_eq!(answer(&connection, &joined).as_deref(), Ok("5"));
    let said = answer(&connection, "SELECT id FROM flakeid_next_n").unwrap_err();
    assert!(said.contains("write flakeid_next_n(1000)"), "{said}");
    for count in ["-1", "NULL", "'7'", "1.5"] {
        let said =
            answer(&connection, &format!("SELECT id FROM flakeid_next_n({count})")).unwrap_err();
        assert!(said.contains("count: must be an integer from 0 on"), "{count}: {said}");
    }
}

/// Connections in the same process that use the same node take IDs from one shared counter. A connection pool may
/// therefore configure all its connections with the same node.
#[test]
fn connections_that_share_a_node_issue_distinct_ids() {
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                let connection = configured(&["layout=twitter", "node=705"]);
                column(&connection, "SELECT id FROM flakeid_next_n(3000)")
            })
        })
        .collect();
    let mut ids: Vec<i64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    ids.sort_unstable();
    rising(&ids);
    assert_eq!(ids.len(), 12_000);
}

/// The thread that renews leases runs in the library, so the library must stay loaded after the connection that loaded
/// it is closed.
#[test]
fn library_stays_loaded_after_its_connection_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("store=sqlite://{}/leases.db", folder.path().display());
    let (mut ids, database) = (Vec::new(), folder.path().join("app.db"));
    for _ in 0..3 {
        let connection = open(&database);
        configure(&connection, &["layout=twitter", &store, "namespace=orders"]).unwrap();
        ids.extend(column(&connection, "SELECT id FROM flakeid_next_n(10)"));
        drop(connection);
    }
    rising(&ids);
    assert_eq!(ids.len(), 30);
}

#[test]
fn second_configure_call_replaces_the_generator() {
    let connection = open(Path::new(":memory:"));
    for node in ["706", "707"] {
        configure(&connection, &["layout=twitter", &format!("node={node}")]).unwrap();
        let made = "SELECT flakeid_node(flakeid_next())";
        assert_eq!(answer(&connection, made).as_deref(), Ok(node));
    }
    // The option `layout` is optional here, because the connection already has a layout.
    configure(&connection, &["datacenter=22", "worker=4", "overflow=error"]).unwrap();
    assert_eq!(answer(&connection, "SELECT flakeid_worker(flakeid_next())").as_deref(), Ok("4"));
}
