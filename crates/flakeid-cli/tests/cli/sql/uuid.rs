//! Tests of columns that contain IDs as UUIDs: their order, and the functions as defaults and
//! generated columns.

use flakeid_test_servers::PostgresServer;
use serde_json::Value;

use super::mariadb::{query, script as mariadb_script, server as mariadb_server};
use super::{array, psql, script, text, vectors};

/// Returns the rows `(id, uuid, place)` of a table with the UUIDs of the test vectors. The places
/// are in the unsigned order of the IDs.
fn rows(file: &Value, uuid: impl Fn(&str) -> String) -> String {
    let row = |(place, case): (usize, &Value)| {
        let id = text(&case["id"]).parse::<u64>().unwrap().cast_signed();
        format!("({id}, {}, {place})", uuid(text(&case["text"])))
    };
    array(&file["valid"]).iter().enumerate().map(row).collect::<Vec<_>>().join(", ")
}

/// Returns the query for the number of rows whose place differs from their place in the order of a
/// column.
fn misplaced(column: &str) -> String {
    format!(
        "SELECT count(*) FROM (SELECT place, row_number() OVER (ORDER BY {column}) - 1 AS found FROM t) AS numbered \
         WHERE place <> found;"
    )
}

#[test]
fn postgres_uuid_column_has_the_unsigned_order_of_ids() {
    let server = PostgresServer::new();
    let file = vectors("uuid.json");
    let ids = array(&file["valid"]).iter().map(|case| text(&case["id"]).parse::<u64>().unwrap());
    let negative = ids.filter(|id| *id > i64::MAX as u64).count();
    let values = rows(&file, |uuid| format!("'{uuid}'"));
    let sql = format!(
        "{}\nCREATE TABLE t (id bigint, uuid uuid PRIMARY KEY, place int);
         INSERT INTO t VALUES {values};
         {}
         SELECT count(*) FROM t WHERE flakeid_to_uuid(id) <> uuid OR flakeid_from_uuid(uuid) <> id;
         SELECT count(*) FROM t WHERE uuid > flakeid_to_uuid(9223372036854775807);
         CREATE TABLE o (id uuid DEFAULT flakeid_to_uuid(flakeid_next()) PRIMARY KEY, n serial);
         INSERT INTO o SELECT FROM generate_series(1, 500);
         SELECT count(*), array_agg(n ORDER BY id) = array_agg(n ORDER BY n) FROM o;
         SELECT count(*) FROM o WHERE flakeid_node(flakeid_from_uuid(id)) <> 7;
         SELECT count(*) FROM o WHERE id BETWEEN flakeid_to_uuid(flakeid_min(now() - interval '1 hour'))
           AND flakeid_to_uuid(flakeid_max(now() + interval '1 hour'));
         SET enable_seqscan = off;
         EXPLAIN (COSTS off) SELECT FROM o WHERE id > flakeid_to_uuid(flakeid_min('2026-01-01Z'));",
        script("twitter", &["--node", "7"]),
        misplaced("uuid")
    );
    let found = psql(&server, &sql).unwrap();
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines[..6], ["0", "0", &negative.to_string(), "500|t", "0", "500"], "{found}");
    // The planner computes the bound once, so the condition is a constant.
    assert!(found.contains("'::uuid)"), "{found}");
}

/// `MariaDB` 10.10.6, 10.11.5, 11.0.3 and later compare UUIDs of the versions 6 to 8 from the left.
/// Earlier servers compare the last groups first (MDEV-29959).
#[test]
fn mariadb_columns_have_the_unsigned_order_of_ids() {
    let server = mariadb_server();
    let file = vectors("uuid.json");
    let has_type = !server.is_mysql();
    let kind = if has_type { "UUID" } else { "BINARY(16)" };
    let values = rows(&file, |uuid| {
        let bytes = format!("UNHEX(REPLACE('{uuid}', '-', ''))");
        if has_type { format!("{bytes}, '{uuid}'") } else { format!("{bytes}, {bytes}") }
    });
    let dialect = if has_type { "mariadb" } else { "mysql" };
    let sql = format!(
        "{}\nCREATE TABLE t (id BIGINT, bin BINARY(16) PRIMARY KEY, uuid {kind} UNIQUE, place INT);
         INSERT INTO t VALUES {values};
         {}\n{}
         SELECT COUNT(*) FROM t WHERE flakeid_to_uuid(id) <> bin OR flakeid_from_uuid(bin) <> id;
         SELECT COUNT(*) FROM t WHERE flakeid_to_uuid(id) <> uuid OR flakeid_from_uuid(uuid) <> id;
         SELECT COUNT(*) FROM t WHERE flakeid_text(id, 'uuid') <> uuid;
         UPDATE t SET uuid = flakeid_to_uuid(id), bin = flakeid_to_uuid(id);
         SELECT COUNT(*) FROM t WHERE HEX(bin) <> REPLACE(UPPER(flakeid_text(id, 'uuid')), '-', '');",
        mariadb_script(dialect, "twitter", &["--decode-only"]),
        misplaced("bin"),
        misplaced("uuid")
    );
    let sql = if has_type { sql } else { sql.replace("flakeid_text(id, 'uuid') <> uuid", "FALSE") };
    assert_eq!(query(&server, &sql).unwrap(), "0\n0\n0\n0\n0\n0");
}
