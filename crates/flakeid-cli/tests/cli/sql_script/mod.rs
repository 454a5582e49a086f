//! Tests of the scripts that `flakeid sql` prints, and of its options. These tests need no database server.

pub(crate) mod claim;
mod sqlite;

use crate::refusals::refused;
use crate::run::{run, scratch};

#[test]
fn sql_command_rejects_an_invalid_layout_or_node_or_schema() {
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
    // `--dialect` accepts only dialects that have a script.
    let unknown = run(&["sql", "--dialect", "oracle", "--node", "7"]);
    assert_eq!(unknown.code, Some(2));
    let parts = "possible values: postgres, mariadb, mysql, sqlite";
    assert!(unknown.stderr.contains(parts), "{}", unknown.stderr);
}

#[test]
fn sql_command_rejects_keyed_option_for_mariadb_and_mysql() {
    for dialect in ["mariadb", "mysql"] {
        let run = run(&["sql", "--dialect", dialect, "--decode-only", "--keyed"]);
        refused(&run, "FLAKEID_INVALID_OPTION", &["--keyed", "functions for public IDs"]);
    }
}

#[test]
fn sql_command_requires_a_valid_mariadb_database_name() {
    let sql = |args: &[&str]| run(&[&["sql", "--dialect"], args].concat());
    let unnamed = sql(&["mariadb", "--node", "7"]);
    refused(&unnamed, "FLAKEID_INVALID_OPTION", &["--schema", "name the database"]);
    let schema = sql(&["mariadb", "--node", "7", "--schema", "a`b"]);
    refused(&schema, "FLAKEID_INVALID_OPTION", &["--schema", "letters"]);
    let (_, store) = scratch("sql-mariadb-claim");
    run(&["leases", "init", "--store", &store]).quiet();
    let unnamed = sql(&["mariadb", "--name", "db1", "--store", &store]);
    refused(&unnamed, "FLAKEID_INVALID_OPTION", &["--schema", "name the database"]);
    assert_eq!(run(&["leases", "ls", "--all", "--store", &store]).quiet().text(), "");
}

#[test]
fn sql_command_rejects_generation_options_for_mysql() {
    for rest in [["--node", "7"], ["--name", "db1"]] {
        refused(
            &run(&[&["sql", "--dialect", "mysql"], rest.as_slice()].concat()),
            "FLAKEID_INVALID_OPTION",
            &["--decode-only", "only functions that read IDs"],
        );
    }
}
