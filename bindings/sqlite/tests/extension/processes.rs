//! Tests with several processes, each of which runs the program `sqlite3` with the system's SQLite.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use super::library;

fn sqlite3(database: &Path, sql: &str) -> Child {
    let load = format!(".load {}", library().display());
    Command::new("sqlite3")
        .args(["-bail", "-batch", "-cmd", ".timeout 30000", "-cmd", &load])
        .arg(database)
        .arg(sql)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the package sqlite3")
}

fn written(output: &Output) -> &str {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::str::from_utf8(&output.stdout).unwrap()
}

#[test]
fn concurrent_processes_insert_distinct_ids_into_one_table() {
    const ROWS: usize = 2000;
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("app.db");
    let begin = "PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER NOT NULL DEFAULT (flakeid_next()), process)";
    written(&sqlite3(&database, begin).wait_with_output().unwrap());
    let store = folder.path().join("leases.db");
    let fill = |process: usize| {
        format!(
            "SELECT flakeid_configure('layout=twitter', 'store=sqlite://{}', 'namespace=orders');
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
             INSERT INTO t (process) SELECT {process} FROM n;
             INSERT INTO t SELECT id, {process} FROM flakeid_next_n({ROWS});
             SELECT flakeid_node(flakeid_next());",
            store.display()
        )
    };
    let children: Vec<Child> = (0..4).map(|process| sqlite3(&database, &fill(process))).collect();
    let outputs: Vec<Output> =
        children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let nodes: Vec<&str> =
        outputs.iter().map(|output| written(output).lines().last().unwrap()).collect();
    assert!(nodes.iter().all(|node| node.parse::<u64>().unwrap() < 1024), "{nodes:?}");
    let count = "SELECT count(*), count(DISTINCT id), count(DISTINCT process) FROM t";
    let counted = sqlite3(&database, count).wait_with_output().unwrap();
    let all = 4 * 2 * ROWS;
    assert_eq!(written(&counted).trim(), format!("{all}|{all}|4"));
}

/// Checks that another process can lease a closed connection's node immediately.
#[test]
fn closing_a_connection_releases_its_node() {
    let folder = tempfile::tempdir().unwrap();
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        let store = format!("'store=sqlite://{}/leases.db'", folder.path().display());
        let sql = format!(
            "SELECT flakeid_configure('layout=twitter', {store}, 'nodes_from=5', 'nodes_to=5');
             SELECT flakeid_next();"
        );
        let output = sqlite3(&folder.path().join("app.db"), &sql).wait_with_output().unwrap();
        let id: u64 = written(&output).lines().last().unwrap().parse().unwrap();
        assert_eq!(id >> 12 & 1023, 5);
        assert!(ids.insert(id));
    }
}

#[test]
fn renamed_library_loads_in_sqlite3() {
    let folder = tempfile::tempdir().unwrap();
    let renamed = folder.path().join(format!("flakeid{}", std::env::consts::DLL_SUFFIX));
    fs::copy(library(), &renamed).unwrap();
    let output = Command::new("sqlite3")
        .args(["-bail", "-batch", "-cmd", &format!(".load {}", renamed.display())])
        .args([":memory:", "SELECT flakeid_version()"])
        .output()
        .expect("the package sqlite3");
    assert_eq!(written(&output).trim(), env!("CARGO_PKG_VERSION"));
}
