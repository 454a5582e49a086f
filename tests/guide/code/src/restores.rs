//! The test of the page on restores, whose cells name tests.

use std::fs;
use std::path::Path;

use super::read;

/// The stores, and the folders with their tests.
const STORES: [(&str, &str); 8] = [
    ("SQLite", "sqlite"),
    ("PostgreSQL", "postgres"),
    ("MySQL, MariaDB", "mysql"),
    ("Redis", "redis"),
    ("etcd", "etcd"),
    ("Kubernetes", "kubernetes"),
    ("S3", "s3"),
    ("DynamoDB", "dynamodb"),
];

/// Returns the text of all Rust files in a folder of the crates.
fn sources(folder: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../crates").join(folder);
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.is_file()).map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn each_cell_of_the_page_on_restores_names_a_test_of_the_store_or_a_reason() {
    let conformance = sources("flakeid-conformance/src");
    let shared = sources("flakeid-stores/src/document") + &sources("flakeid-stores/tests/sql");
    let page = read("how-it-works/verification/restores");
    for question in page.split("\n## ").skip(1) {
        let (title, table) = question.split_once('\n').unwrap();
        for (store, folder) in STORES {
            let row = table.lines().find_map(|line| line.strip_prefix(&format!("| {store} | ")));
            let cell = row.unwrap_or_else(|| panic!("{title}: no row for {store}"));
            let cell = cell.trim_end_matches(" |");
            let (_, name) = cell.split_once('`').unwrap_or_default();
            let name = name.split('`').next().unwrap_or_default();
            if cell.starts_with('`') {
                let own = sources(&format!("flakeid-stores/tests/{folder}"));
                let function = format!("fn {name}");
                let is_test =
                    [&conformance, &shared, &own].iter().any(|text| text.contains(&function));
                assert!(is_test, "{title}: {store} has no test {name}");
            } else {
                let is_reason = cell.starts_with("does not apply: ") || title.contains("identity");
                assert!(is_reason && cell.len() > 20, "{title}: {store}: {cell:?} is not a reason");
            }
        }
    }
}
