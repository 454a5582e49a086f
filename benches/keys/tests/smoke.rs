//! A run with few rows writes a figure for every kind and measure.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests only")]

use std::fs;
use std::process::Command;

use serde_json::Value;

const KINDS: [&str; 4] = ["flakeid", "bigserial", "UUIDv7", "UUIDv4"];

fn bench(arguments: &[&str]) -> (bool, String, String) {
    let program = env!("CARGO_BIN_EXE_flakeid-bench-keys");
    let output = Command::new(program).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn smoke_run_writes_every_figure_as_markdown_and_json() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.json");
    let (passed, markdown, errors) = bench(&[
        "--quick",
        "--shared-buffers",
        "64MB",
        "--note",
        "a test",
        "--json",
        file.to_str().unwrap(),
    ]);
    assert!(passed, "{errors}");
    let data: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let median = |id: &str| {
        let rows = data["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["id"] == id);
        row.and_then(|row| row["median"].as_f64())
    };
    assert_eq!(data["rows"].as_array().unwrap().len(), 24 * KINDS.len());
    for row in data["rows"].as_array().unwrap() {
        let id = row["id"].as_str().unwrap();
        // IDs of flakeid and UUIDv7 contain the time, so their tables have no index on it.
        let is_empty = ["keys.time_index.flakeid", "keys.time_index.UUIDv7"].contains(&id);
        assert_eq!(median(id).is_none(), is_empty, "{id}");
        assert!(median(id).is_none_or(|value| value >= 0.0), "{row}");
    }
    assert!(median("keys.records_1.UUIDv7") > median("keys.records_1.flakeid"), "{markdown}");
    assert!(median("keys.key_index.UUIDv4") > median("keys.key_index.flakeid"), "{markdown}");
    assert!(median("keys.changed.UUIDv4") > median("keys.changed.bigserial"), "{markdown}");
    assert!(markdown.contains("`fsync=on`") && markdown.contains("`shared_buffers=64MB`"));
    let facts = "Rows in each table: 10000, in 2 rounds; steps with a checkpoint";
    assert!(markdown.contains(facts) && markdown.contains("\n- a test\n"), "{markdown}");
}

#[test]
fn too_few_rows_for_the_rounds_are_rejected() {
    let (passed, _, errors) = bench(&["--rows", "30000"]);
    assert!(!passed && errors.contains("--rows: 30000 rows in 10 rounds"), "{errors}");
    assert!(errors.contains("at least 40000 rows"), "{errors}");
}
