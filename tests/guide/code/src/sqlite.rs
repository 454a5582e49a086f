//! The example of the `SQLite` extension.

// Cargo builds the extension because this crate is used.
use flakeid_sqlite as _;

use std::process::Command;

use crate::read;

/// Runs the statements from the guide with a temporary store instead of the guide's store.
#[test]
fn sqlite_example_from_the_guide_inserts_all_rows() {
    let folder = tempfile::tempdir().unwrap();
    let guide = read("reference/sql/sqlite");
    let (_, rest) = guide.split_once(".load ./flakeid_sqlite\n").unwrap();
    let (example, _) = rest.split_once("\nSQL\n").unwrap();
    let store = folder.path().join("leases.db").display().to_string();
    let sql = example.replace("/var/lib/orders/leases.db", &store);
    assert_ne!(sql, example);
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = std::env::current_exe().unwrap();
    let library = library.with_file_name(format!("{prefix}flakeid_sqlite{suffix}"));
    let output = Command::new("sqlite3")
        .args(["-bail", "-batch", "-cmd", &format!(".load {}", library.display())])
        .arg(folder.path().join("orders.db"))
        .arg(sql)
        .output()
        .expect("the package sqlite3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().last(), Some("1002"));
}
