//! Tests of the places in an SQL statement where a function call returns a different ID for each
//! row.

use std::collections::HashSet;

use flakeid_test_servers::PostgresServer;

use super::{mariadb, psql, script};

/// The number of rows in the table `s`. The column `g` of this table has only two different values.
const ROWS: usize = 3000;

fn count_distinct(answer: &str) -> (usize, usize) {
    let ids: Vec<&str> = answer.lines().collect();
    (ids.len(), ids.iter().collect::<HashSet<_>>().len())
}

#[test]
fn postgres_rows_get_distinct_ids_except_in_lateral_subqueries() {
    let server = PostgresServer::new();
    psql(&server, &script("twitter", &["--node", "7"])).unwrap();
    psql(
        &server,
        "CREATE TABLE s AS SELECT i, i % 2 AS g FROM generate_series(1, 3000) i;
         CREATE TABLE o AS SELECT i AS k FROM generate_series(0, 20000) i;
         CREATE UNIQUE INDEX ON o (k);
         CREATE VIEW v AS SELECT i, g, flakeid_next() AS id FROM s;
         ANALYZE;",
    )
    .unwrap();
    for query in [
        "SELECT flakeid_next() FROM s",
        "SELECT flakeid_next_n(1 + 0 * g) FROM s",
        "SELECT id FROM v ORDER BY i DESC",
        "WITH w AS (SELECT g, flakeid_next() AS id FROM s) SELECT id FROM w",
        "SELECT d.id FROM s JOIN (SELECT i, flakeid_next() AS id FROM s) d USING (i)",
        "SELECT CASE WHEN g = 0 THEN flakeid_next() ELSE flakeid_next() END FROM s",
        "SELECT max(flakeid_next()) OVER (PARTITION BY i) FROM s",
        "SELECT max(flakeid_next()) FROM s GROUP BY i",
        "SELECT (SELECT flakeid_next() WHERE s.g >= 0) FROM s",
        "SELECT (SELECT flakeid_next() FROM o WHERE o.k = s.g) FROM s",
        "SELECT flakeid_next() FROM s FOR UPDATE",
        "UPDATE s SET i = i RETURNING flakeid_next()",
        "INSERT INTO s SELECT i, g FROM s RETURNING flakeid_next()",
        "EXECUTE prepared",
    ] {
        let sql = format!(
            "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
             BEGIN; PREPARE prepared AS SELECT flakeid_next() FROM s; {query}; ROLLBACK;"
        );
        assert_eq!(count_distinct(&psql(&server, &sql).unwrap()), (ROWS, ROWS), "{query}");
    }
    // PostgreSQL caches the results of these lateral subqueries, so several rows get the same ID.
    // If this behaviour changes, the warning in the guide can be removed.
    for query in [
        "SELECT d.id FROM s, LATERAL (SELECT flakeid_next() AS id WHERE s.g >= 0) d",
        "SELECT d.id FROM s, LATERAL (SELECT flakeid_next() AS id FROM o WHERE o.k = s.g LIMIT 1) d",
        "SELECT d.id FROM s, LATERAL flakeid_next_n(1 + 0 * s.g) d (id)",
        "SELECT d.id FROM s, LATERAL (SELECT nextval('bare') + 0 * s.g AS id WHERE s.g >= 0) d",
    ] {
        let sql = |setting| {
            format!("CREATE TEMPORARY SEQUENCE bare; SET enable_memoize = {setting}; {query};")
        };
        assert_eq!(count_distinct(&psql(&server, &sql("on")).unwrap()), (ROWS, 2), "{query}");
        assert_eq!(count_distinct(&psql(&server, &sql("off")).unwrap()), (ROWS, ROWS), "{query}");
    }
}

#[test]
fn mariadb_rows_get_distinct_ids_except_in_correlated_subqueries() {
    let server = mariadb::server();
    let query = |sql: &str| mariadb::query(&server, sql).unwrap();
    query(&mariadb::script("mariadb", "twitter", &["--node", "7", "--schema", "ids"]));
    query(
        "CREATE TABLE s (i INT PRIMARY KEY, g INT);
         INSERT INTO s SELECT seq, seq % 2 FROM seq_1_to_3000;
         CREATE TABLE t (id BIGINT PRIMARY KEY, x INT);
         CREATE VIEW v AS SELECT i, g, flakeid_next() AS id FROM s;
         CREATE SEQUENCE bare;",
    );
    for sql in [
        "SELECT flakeid_next() FROM s",
        "SELECT id FROM v ORDER BY i DESC",
        "WITH w AS (SELECT g, flakeid_next() AS id FROM s) SELECT id FROM w",
        "SELECT d.id FROM s JOIN (SELECT i, flakeid_next() AS id FROM s) d USING (i)",
        "SELECT IF(g = 0, flakeid_next(), flakeid_next()) FROM s",
        "SELECT MAX(flakeid_next()) OVER (PARTITION BY i) FROM s",
        "SELECT MAX(flakeid_next()) FROM s GROUP BY i",
        "SELECT DISTINCT flakeid_next() FROM s",
        "SELECT flakeid_next() FROM s FOR UPDATE",
        "INSERT INTO t SELECT flakeid_next(), g FROM s; SELECT id FROM t",
        "UPDATE t SET id = flakeid_next(); SELECT id FROM t",
        "PREPARE prepared FROM 'SELECT flakeid_next() FROM s'; EXECUTE prepared",
    ] {
        assert_eq!(count_distinct(&query(&format!("{sql};"))), (ROWS, ROWS), "{sql}");
    }
    // MariaDB caches the results of these correlated subqueries, so several rows get the same ID.
    // If this behaviour changes, the warning in the guide can be removed.
    for sql in [
        "SELECT (SELECT flakeid_next() FROM DUAL WHERE s.g >= 0) FROM s",
        "SELECT (SELECT MAX(flakeid_next()) FROM s t WHERE t.i = s.g + 1) FROM s",
        "SELECT (SELECT id FROM v WHERE v.i = s.g + 1) FROM s",
        "CREATE TEMPORARY TABLE u SELECT COALESCE((SELECT flakeid_next() FROM DUAL WHERE s.g >= 0), 0) AS id FROM s;
         SELECT id FROM u",
        "SELECT (SELECT NEXTVAL(bare) FROM DUAL WHERE s.g >= 0) FROM s",
    ] {
        let with = |cache| format!("SET optimizer_switch = 'subquery_cache={cache}'; {sql};");
        assert_eq!(count_distinct(&query(&with("on"))), (ROWS, 2), "{sql}");
        assert_eq!(count_distinct(&query(&with("off"))), (ROWS, ROWS), "{sql}");
    }
}
