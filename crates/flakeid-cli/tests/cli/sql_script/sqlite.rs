//! Tests of the script for `SQLite`. These tests do not run the script, because the tests of the
//! `SQLite` extension run similar statements.

use crate::refusals::refused;
use crate::run::{Run, finish, flakeid, run, scratch};

fn sql(args: &[&str]) -> Run {
    run(&[&["sql", "--dialect", "sqlite"], args].concat())
}

/// Returns the statements of the script that the command prints for the given arguments.
fn statements(args: &[&str]) -> Vec<String> {
    let run = sql(args).quiet();
    let lines = run.text().lines().filter(|line| !line.starts_with("--"));
    lines.map(str::to_owned).collect()
}

const LOAD: &str = "SELECT load_extension('flakeid_sqlite');";
const TWITTER: &str = "t41.d5.w5.s12@1288834974657/1ms";

#[test]
fn sqlite_script_configures_the_layout_and_the_node() {
    let node = format!("SELECT flakeid_configure('layout={TWITTER}', 'node=7');");
    assert_eq!(statements(&["--node", "7"]), [LOAD, &node]);
    let decode = format!("SELECT flakeid_configure('layout={TWITTER}');");
    assert_eq!(statements(&["--decode-only"]), [LOAD, &decode]);
}

#[test]
fn sqlite_script_configures_the_store_and_namespace() {
    let (folder, _) = scratch("sql-sqlite");
    let store = format!("sqlite://{}/it's.db", folder.display());
    let here = ["--store", &store, "--namespace", "orders"];
    run(&[&["leases", "init", "--layout", "sonyflake"], &here[..]].concat()).json();
    let options = format!("'store=sqlite://{}/it''s.db', 'namespace=orders'", folder.display());
    let layout = "layout=t39.s8.n16@1409529600000/10ms";
    assert_eq!(
        statements(&here),
        [LOAD, &format!("SELECT flakeid_configure('{layout}', {options});")]
    );
    let other = sql(&[&here[..], &["--layout", "twitter"]].concat());
    refused(&other, "FLAKEID_INVALID_OPTION", &["--layout", "t39.s8.n16", "omit --layout"]);
    for option in [["--node", "7"].as_slice(), &["--decode-only"]] {
        refused(&sql(&[&here[..], option].concat()), "FLAKEID_INVALID_OPTION", &["--store"]);
    }
}

#[test]
fn sql_command_rejects_relative_sqlite_store_paths() {
    let (folder, _) = scratch("sql-sqlite-relative");
    let relative =
        |args: &[&str]| finish(flakeid().args(args).current_dir(&folder).output().unwrap());
    relative(&["leases", "init", "--store", "sqlite://leases.db"]).quiet();
    let refusal = relative(&["sql", "--dialect", "sqlite", "--store", "sqlite://leases.db"]);
    let absolute = format!("write sqlite://{}/leases.db", folder.display());
    refused(&refusal, "FLAKEID_INVALID_OPTION", &["--store", "other folders", &absolute]);
}

#[test]
fn sql_command_rejects_server_options_for_sqlite() {
    for (args, parts) in [
        (["--name", "db1"].as_slice(), ["--name", "each process leases its own node"]),
        (&["--node", "7", "--schema", "ids"], ["--schema", "belong to a connection"]),
        (&["--node", "7", "--keyed"], ["--keyed", "flakeid_add_domain"]),
        (&[], ["--node", "missing: give --node N (0 to 1023) or --store URL"]),
        (&["--node", "7", "--layout", "discord"], ["has 64 bits", "at most 63 bits"]),
    ] {
        refused(&sql(args), "FLAKEID_INVALID_OPTION", &parts);
    }
    refused(
        &sql(&["--node", "7", "--layout", "baidu"]),
        "FLAKEID_HORIZON_REACHED",
        &["--decode-only"],
    );
}
