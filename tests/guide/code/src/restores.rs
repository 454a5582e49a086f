//! The test of the page on restores, whose cells name tests.

use std::fs;
use std::path::Path;

use super::read;

/// The stores, the folders with their tests, and the folders with the tests of their kind.
const STORES: [(&str, &str, &str); 8] = [
    ("SQLite", "tests/sqlite", "src/sqlite"),
    ("PostgreSQL", "tests/postgres", "tests/sql"),
    ("MySQL, MariaDB", "tests/mysql", "tests/sql"),
    ("Redis", "tests/redis", "tests/optimistic"),
    ("etcd", "tests/etcd", "tests/optimistic"),
    ("Kubernetes", "tests/kubernetes", "src/document"),
    ("S3", "tests/s3", "src/document"),
    ("DynamoDB", "tests/dynamodb", "src/document"),
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
    let page = read("how-it-works/verification/restores");
    for question in page.split("\n## ").skip(1) {
        let (title, table) = question.split_once('\n').unwrap();
        for (store, own, shared) in STORES {
            let row = table.lines().find_map(|line| line.strip_prefix(&format!("| {store} | ")));
            let cell = row.unwrap_or_else(|| panic!("{title}: no row for {store}"));
            let cell = cell.trim_end_matches(" |");
            let (_, name) = cell.split_once('`').unwrap_or_default();
            let name = name.split('`').next().unwrap_or_default();
            if cell.starts_with('`') {
                let stores = |folder| sources(&format!("flakeid-stores/{folder}"));
                // The macro of the conformance suite lists the cases that run on every store.
                let is_test = conformance.contains(&format!("::{name},"))
                    || (stores(own) + &stores(shared)).contains(&format!("fn {name}"));
                assert!(is_test, "{title}: {store} has no test {name}");
            } else {
                let is_reason =
                    cell.starts_with("does not apply: ") || title.starts_with("The identity");
                assert!(is_reason && cell.len() > 20, "{title}: {store}: {cell:?} is not a reason");
            }
        }
    }
}
