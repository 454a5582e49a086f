//! Tests of the script for `MySQL`. The tests run on `MariaDB` by default, and on `MySQL` with
//! `cargo xtask mysql`.

use super::decode::check_decoding;
use super::mariadb::{DialectServer, query, script, server};

#[test]
fn mysql_id_decoding_matches_the_test_vectors() {
    let server = server();
    let compared = check_decoding(&DialectServer { server: &server, dialect: "mysql" });
    assert!(compared.iter().all(|count| *count > 50), "{compared:?}");
}

#[test]
fn mysql_script_rejects_a_rerun_with_a_different_layout() {
    let server = server();
    let of = |layout| script("mysql", layout, &["--decode-only"]);
    for _ in 0..2 {
        assert_eq!(query(&server, &of("twitter")).unwrap(), "");
    }
    let refusal = query(&server, &of("sonyflake")).unwrap_err();
    assert!(refusal.contains("(IDOPT)"), "{refusal}");
    assert!(refusal.contains("FLAKEID_INVALID_OPTION: layout: "), "{refusal}");
    assert_eq!(
        query(&server, "SELECT flakeid_layout(), flakeid_node(910499571847892992);").unwrap(),
        "t41.d5.w5.s12@1288834974657/1ms\t569"
    );
}

/// `MySQL` decides how to read a table before it evaluates functions. To scan only an index range,
/// a query must therefore read the bounds from variables.
#[test]
fn query_with_bounds_in_variables_scans_one_index_range() {
    let server = server();
    let depth =
        if server.is_mysql() { "cte_max_recursion_depth" } else { "max_recursive_iterations" };
    let sql = format!(
        "{}\nCREATE TABLE t (id BIGINT PRIMARY KEY, x INT);
         SET SESSION {depth} = 10000;
         INSERT INTO t WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 4999)
           SELECT flakeid_min('2026-11-01') + (i << 22), i FROM n;
         ANALYZE TABLE t;\n",
        script("mysql", "twitter", &["--decode-only"])
    );
    query(&server, &sql).unwrap();
    let bounds = "SET @first = flakeid_min('2026-11-01 00:00:01'), @last = flakeid_max('2026-11-01 00:00:01.099');";
    let read = "COUNT(*), MIN(x), MAX(x) FROM t WHERE id BETWEEN @first AND @last;";
    assert_eq!(query(&server, &format!("{bounds} SELECT {read}")).unwrap(), "100\t1000\t1099");
    let format = if server.is_mysql() { "FORMAT=TRADITIONAL" } else { "" };
    let plan = query(&server, &format!("{bounds} EXPLAIN {format} SELECT {read}")).unwrap();
    assert!(plan.contains("\trange\t") && plan.contains("PRIMARY"), "{plan}");
}
