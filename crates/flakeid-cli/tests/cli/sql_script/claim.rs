//! Tests of `flakeid sql --name`, which permanently reserves a node of a namespace for a database.

use std::thread;

use serde_json::{Value, json};

use crate::refusals::refused;
use crate::run::{Run, run, run_with, scratch};

pub(crate) fn sql(store: &str, args: &[&str]) -> Run {
    run(&[&["sql", "--dialect", "postgres", "--store", store], args].concat())
}

pub(crate) fn leases(store: &str, args: &[&str]) -> Run {
    run(&[&["leases"], args, &["--store", store]].concat())
}

/// Returns the node number in the header of a script.
fn node_of(run: Run, name: &str) -> u64 {
    let run = run.quiet();
    let line = run.lines()[1];
    let (_, rest) = line.split_once(", node ").expect(line);
    let (node, of) = rest.split_once(" of the database ").expect(line);
    assert_eq!(of, format!("{name} in the namespace default"));
    node.parse().unwrap()
}

#[test]
fn database_claims_a_permanent_node_that_is_never_leased() {
    let (_, store) = scratch("sql-claim");
    let missing = sql(&store, &["--name", "db1"]);
    refused(&missing, "FLAKEID_STORE_REJECTED", &["flakeid leases init"]);
    leases(&store, &["init", "--layout", "t41.n2.s12@1577836800000/1ms"]).quiet();
    let first = node_of(sql(&store, &["--name", "db1"]), "db1");
    assert_eq!(node_of(sql(&store, &["--name", "db1"]), "db1"), first);
    let layout = "t41.n2.s12@1577836800000/1ms";
    let second = node_of(sql(&store, &["--name", "db.2", "--layout", layout]), "db.2");
    assert_ne!(second, first);
    let rows = leases(&store, &["ls", "--all"]).quiet().json();
    let found: Vec<Value> =
        rows.iter().map(|row| json!([row["node"], row["state"], row["owner"]])).collect();
    let mut expected = [
        json!([first, "quarantined", "database:db1"]),
        json!([second, "quarantined", "database:db.2"]),
    ];
    expected.sort_by_key(|row| row[0].as_u64());
    assert_eq!(found, expected);
    // The layout has four nodes. Two belong to databases, so processes can lease only the other two
    // nodes.
    let next =
        |name| run(&["next", "-n", "1", "--layout", layout, "--store", &store, "--name", name]);
    for name in ["a", "b", "c", "db1", "database:db1"] {
        let id = next(name).quiet();
        let shown = run(&["inspect", "--json", "--layout", layout, id.lines()[0]]).quiet().json();
        let node = shown[0]["node"].as_u64().unwrap();
        assert!(node != first && node != second, "{name} has {node}");
    }
    let lift = |name: &[&str]| {
        let node = first.to_string();
        leases(&store, &[&["quarantine", &node, "--lift", "--yes"], name].concat())
    };
    let parts = ["SQL functions of the database db1", "--name db1"];
    refused(&lift(&[]), "FLAKEID_INVALID_OPTION", &parts);
    refused(&lift(&["--name", "db.2"]), "FLAKEID_INVALID_OPTION", &parts);
    // The store can also be specified in an environment variable.
    let variables = [("FLAKEID_STORE", store.as_str())];
    let args = ["sql", "--dialect", "postgres", "--name", "db1"];
    assert_eq!(node_of(run_with(&variables, &args), "db1"), first);
    let lifted = lift(&["--name", "db1"]).quiet();
    assert!(lifted.text().contains("it can be leased again"), "{}", lifted.text());
}

#[test]
fn sql_command_with_invalid_options_claims_no_node() {
    let (_, store) = scratch("sql-claim-refused");
    leases(&store, &["init", "--namespace", "wide", "--layout", "discord"]).quiet();
    leases(&store, &["init", "--layout", "twitter"]).quiet();
    let wide = sql(&store, &["--name", "db1", "--namespace", "wide"]);
    refused(&wide, "FLAKEID_INVALID_OPTION", &["has 64 bits", "at most 63 bits"]);
    let other = sql(&store, &["--name", "db1", "--layout", "sonyflake"]);
    refused(&other, "FLAKEID_INVALID_OPTION", &["--layout", "the namespace has the layout t41"]);
    let schema = sql(&store, &["--name", "db1", "--schema", "a b"]);
    refused(&schema, "FLAKEID_INVALID_OPTION", &["--schema"]);
    for name in ["", "a b", "a\nb", &"a".repeat(65)] {
        let name = sql(&store, &["--name", name]);
        refused(&name, "FLAKEID_INVALID_OPTION", &["--name", "must have 1 to 64 characters"]);
    }
    let unnamed = sql(&store, &["--node", "7"]);
    refused(&unnamed, "FLAKEID_INVALID_OPTION", &["--name", "missing"]);
    let both = sql(&store, &["--node", "7", "--name", "db1"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    for namespace in ["wide", "default"] {
        let rows = leases(&store, &["ls", "--all", "--namespace", namespace]).quiet();
        assert_eq!(rows.text(), "");
    }
    let broker = sql("http://127.0.0.1:9", &["--name", "db1"]);
    refused(&broker, "FLAKEID_STORE_REJECTED", &["is a broker"]);
}

/// All concurrent runs that succeed must print scripts with the same node.
#[test]
fn concurrent_claims_for_one_database_return_the_same_node() {
    let (_, store) = scratch("sql-claim-race");
    leases(&store, &["init"]).quiet();
    let runs: Vec<Run> = thread::scope(|scope| {
        let started: Vec<_> =
            (0..6).map(|_| scope.spawn(|| sql(&store, &["--name", "db1"]))).collect();
        started.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let mut nodes = Vec::new();
    for run in runs {
        if run.code == Some(0) {
            nodes.push(node_of(run, "db1"));
        } else {
            refused(&run, "FLAKEID_STORE_REJECTED", &["another process", "run this command again"]);
        }
    }
    nodes.push(node_of(sql(&store, &["--name", "db1"]), "db1"));
    nodes.dedup();
    assert_eq!(nodes.len(), 1, "{nodes:?}");
    let quarantined = leases(&store, &["ls", "--all"]).quiet().json();
    let held: Vec<&Value> = quarantined.iter().filter(|row| row["state"] != "free").collect();
    assert_eq!(held.len(), 1, "{held:?}");
}

/// In a namespace with blocks, a database gets a whole block and uses the first node of the block.
#[test]
fn database_claims_a_complete_block_of_nodes() {
    let (_, store) = scratch("sql-claim-block");
    leases(&store, &["init", "--block-bits", "4"]).quiet();
    let node = node_of(sql(&store, &["--name", "db1"]), "db1");
    assert_eq!(node % 16, 0);
    let rows = leases(&store, &["ls", "--all"]).quiet().json();
    assert_eq!((&rows[0]["node"], &rows[0]["state"]), (&json!(node / 16), &json!("quarantined")));
}
