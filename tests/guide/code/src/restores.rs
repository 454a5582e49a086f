//! The test of the page on restores, whose cells name tests.

use std::fs;
use std::path::{Path, PathBuf};

use super::read;

/// Returns the paths in a folder of the crates.
fn paths(folder: &str) -> impl Iterator<Item = PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../crates").join(folder);
    fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path())
}

/// Returns the text of all Rust files in a folder of the crates.
fn sources(folder: &str) -> String {
    let files = paths(folder).filter(|path| path.is_file());
    files.map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// Returns the folder of each store, with the text of its tests and of the tests of its kind.
fn stores() -> Vec<(String, String)> {
    let folders = paths("flakeid-stores/tests").filter(|path| path.join("main.rs").is_file());
    let folders = folders.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    let of = |name: &str| {
        ["tests", "src"].map(|part| sources(&format!("flakeid-stores/{part}/{name}"))).concat()
    };
    let stores = folders.map(|name| {
        let own = of(&name);
        let is_shared = |kind: &&str| own.contains(&format!("\"../{kind}/mod.rs\""));
        let shared = ["sql", "optimistic", "document"].into_iter().filter(is_shared).map(of);
        let tests = own.clone() + &shared.collect::<String>();
        (name, tests)
    });
    stores.collect()
}

#[test]
fn each_cell_of_the_page_on_restores_names_a_test_of_the_store_or_a_reason() {
    let stores = stores();
    assert!(stores.len() >= 8, "{} stores", stores.len());
    let conformance = sources("flakeid-conformance/src");
    let page = read("how-it-works/verification/restores");
    for question in page.split("\n## ").skip(1) {
        let (title, table) = question.split_once('\n').unwrap();
        for (store, tests) in &stores {
            // The row begins with the name of the store, such as `PostgreSQL` for the folder `postgres`.
            let is_own = |name: &str| name.to_ascii_lowercase().starts_with(store);
            let mut rows =
                table.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
            let row = rows.find(|(name, _)| is_own(name));
            let (_, cell) = row.unwrap_or_else(|| panic!("{title}: no row for {store}"));
            let cell = cell.trim_end_matches(" |");
            let (_, name) = cell.split_once('`').unwrap_or_default();
            let name = name.split('`').next().unwrap_or_default();
            if cell.starts_with('`') {
                // The macro of the conformance suite lists the cases that run on every store.
                let is_test = conformance.contains(&format!("::{name},"))
                    || ['(', '<'].iter().any(|end| tests.contains(&format!("fn {name}{end}")));
                assert!(is_test, "{title}: {store} has no test {name}");
            } else {
                let is_reason =
                    cell.starts_with("does not apply: ") || title.starts_with("The identity");
                assert!(is_reason && cell.len() > 20, "{title}: {store}: {cell:?} is not a reason");
            }
        }
    }
}
