//! `flakeid sql`: the scripts, run by their databases.

mod claim;
mod decode;
mod generate;
mod install;
mod keyed;
mod mariadb;
mod mariadb_clock;
mod mariadb_moves;
mod mariadb_storm;
mod mysql;
mod one_table;
mod places;
mod rearm;
mod recipes;
mod restore;
mod schedule;
mod session;
mod sqlite;
mod storm;

use std::io::Write;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use flakeid_test_servers::{PostgresServer, Server};
use serde_json::Value;

use self::session::psql_client;
use crate::refusals::refused;
use crate::run::run;

/// Returns the script for a layout, with further options.
fn script(layout: &str, args: &[&str]) -> String {
    let first = ["sql", "--dialect", "postgres", "--layout", layout];
    run(&[&first, args].concat()).quiet().text().to_owned()
}

/// Runs SQL in psql as the owner of the database, and returns its output, or its error.
fn psql(server: &PostgresServer, sql: &str) -> Result<String, String> {
    psql_at(&server.url(), sql)
}

/// Runs SQL in psql in the database of a URL, and returns its output, or its error.
fn psql_at(url: &str, sql: &str) -> Result<String, String> {
    let mut psql = psql_client(url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the package postgresql-client");
    let mut stdin = psql.stdin.take().expect("a standard input");
    let sql = sql.to_owned();
    let writer = std::thread::spawn(move || _ = stdin.write_all(sql.as_bytes()));
    let output = psql.wait_with_output().expect("psql ends");
    writer.join().expect("the writer ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// The definition of a function `outcome(sql)`, which returns the result of a query as text, or its
/// SQLSTATE and message.
const OUTCOME: &str = "
    CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE result text;
    BEGIN
        EXECUTE query INTO result;
        RETURN result;
    EXCEPTION WHEN OTHERS THEN
        RETURN SQLSTATE || ' ' || SQLERRM;
    END $$;";

fn vectors(name: &str) -> Value {
    let path = format!("{}/../../tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// Quotes a string as an SQL literal.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Parses the IDs that a query wrote, one per line.
fn ids(output: &str) -> Vec<i64> {
    output.lines().map(|line| line.parse().expect(line)).collect()
}

/// A guard that sets a flag when it is dropped, so that threads end even after a failed assertion.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn sql_rejects_invalid_layouts_nodes_and_schemas() {
    let sql = |args: &[&str]| run(&[&["sql", "--dialect", "postgres"], args].concat());
    for layout in ["discord", "instagram", "flakeid"] {
        for rest in [["--node", "7"].as_slice(), &["--decode-only"]] {
            let run = sql(&[&["--layout", layout], rest].concat());
            refused(&run, "FLAKEID_INVALID_OPTION", &["has 64 bits", "at most 63 bits"]);
        }
    }
    let parts = ["missing: give --node N (0 to 1023)", "--decode-only"];
    refused(&sql(&[]), "FLAKEID_INVALID_OPTION", &parts);
    let parts = ["node 1024 is out of range: must be from 0 to 1023"];
    refused(&sql(&["--node", "1024"]), "FLAKEID_FIELD_OUT_OF_RANGE", &parts);
    let run_out = sql(&["--layout", "baidu", "--node", "7"]);
    refused(&run_out, "FLAKEID_HORIZON_REACHED", &["--decode-only"]);
    sql(&["--layout", "baidu", "--decode-only"]).quiet();
    let schema = sql(&["--node", "7", "--schema", "a\"b"]);
    refused(&schema, "FLAKEID_INVALID_OPTION", &["--schema", "letters"]);
    // Only dialects with a script are accepted.
    let unknown = run(&["sql", "--dialect", "oracle", "--node", "7"]);
    assert_eq!(unknown.code, Some(2));
    let parts = "possible values: postgres, mariadb, mysql, sqlite";
    assert!(unknown.stderr.contains(parts), "{}", unknown.stderr);
}
