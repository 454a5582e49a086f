//! Tests of how the `SQLite` store handles files, directories, permissions, locks and clocks.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flakeid_conformance::StoreUnderTest;
use flakeid_core::{Clock, ManualClock};
use flakeid_protocol::Refusal;
use flakeid_protocol::store::Fault;

use crate::operations;
use crate::restorations::{request, waits};
use crate::store_under_test::{Sqlite, Victim, connect, connect_with};

fn use_it(url: &str) -> Result<(), Fault> {
    let mut store = connect(url)?;
    operations::acquire(&mut *store, "space", &request(1)).map(drop)
}

fn rejection(url: &str) -> String {
    match use_it(url) {
        Err(Fault::Rejected(text)) => text,
        other => panic!("{url}: {other:?}"),
    }
}

fn at(path: &Path) -> String {
    format!("sqlite://{}", path.display())
}

#[test]
fn url_without_a_usable_file_is_rejected() {
    for (url, said) in [
        ("sqlite://", "needs a file"),
        ("sqlite:///", "needs a file"),
        ("sqlite:///tmp/", "needs a file"),
        ("sqlite:///tmp/x.db?mode=ro", "cannot contain options"),
        ("sqlite:///tmp/x.db#a", "cannot contain options"),
        ("sqlite:///tmp/%zz", "two hexadecimal digits"),
        ("sqlite:///tmp/%0", "two hexadecimal digits"),
        ("sqlite:///tmp/%+1", "two hexadecimal digits"),
        ("sqlite:///tmp/a%00b", "two hexadecimal digits"),
        ("sqlite:///tmp/..", "does not name a file"),
        ("sqlite:///nowhere/at/all/x.db", "the directory /nowhere/at/all cannot be used"),
    ] {
        let text = rejection(url);
        assert!(text.contains(said), "{url}: {text}");
    }
    let directory = tempfile::tempdir().unwrap();
    use_it(&format!("sqlite://{}/a%20b%3F%C3%BC.db", directory.path().display())).unwrap();
    assert!(directory.path().join("a b?ü.db").exists());
}

#[test]
fn files_are_accessible_only_to_their_owner() {
    let store = Sqlite::new();
    use_it(&store.url()).unwrap();
    for suffix in ["", "-wal", "-serial"] {
        let mode = fs::metadata(store.beside(suffix)).unwrap().mode() & 0o777;
        assert_eq!(mode, 0o600, "{suffix}: {mode:o}");
    }
    fs::set_permissions(store.file(), fs::Permissions::from_mode(0o602)).unwrap();
    let text = rejection(&store.url());
    assert!(text.contains("all users can write"), "{text}");
}

#[test]
fn database_must_be_a_regular_file_in_a_protected_directory() {
    let directory = tempfile::tempdir().unwrap();
    let (file, link) = (directory.path().join("x.db"), directory.path().join("link.db"));
    use_it(&at(&file)).unwrap();
    symlink(&file, &link).unwrap();
    assert!(rejection(&at(&link)).contains("symbolic link"));
    symlink(&file, directory.path().join("y.db-serial")).unwrap();
    assert!(rejection(&at(&directory.path().join("y.db"))).contains("symbolic link"));
    fs::create_dir(directory.path().join("d.db")).unwrap();
    assert!(rejection(&at(&directory.path().join("d.db"))).contains("not a regular file"));
    assert!(rejection(&at(&file.join("below.db"))).contains("is not a directory"));

    let open = directory.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(rejection(&at(&open.join("x.db"))).contains("all users can write to the directory"));
    fs::set_permissions(&open, fs::Permissions::from_mode(0o1777)).unwrap();
    use_it(&at(&open.join("x.db"))).unwrap();
    // A symbolic link to the directory of the database file is accepted.
    symlink(&open, directory.path().join("to-open")).unwrap();
    use_it(&at(&directory.path().join("to-open/x.db"))).unwrap();
}

#[test]
fn databases_of_other_programs_are_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x.db");
    fs::write(&file, "this file is not a database, only a long string. ".repeat(100)).unwrap();
    let text = rejection(&at(&file));
    assert!(text.contains("not a database"), "{text}");
    assert!(fs::read_to_string(&file).unwrap().starts_with("this file is not a database"));

    let file = directory.path().join("theirs.db");
    let theirs = rusqlite::Connection::open(&file).unwrap();
    theirs.execute_batch("CREATE TABLE t (x)").unwrap();
    drop(theirs);
    assert!(rejection(&at(&file)).contains("another program's database"));

    let store = Sqlite::new();
    use_it(&store.url()).unwrap();
    let newer = rusqlite::Connection::open(store.file()).unwrap();
    newer.execute_batch("UPDATE flakeid_meta SET version = 99").unwrap();
    drop(newer);
    assert!(rejection(&store.url()).contains("version 99"));
}

/// Checks that the store is reported as unavailable while another process waits in an open transaction, and that
/// requests succeed after that process is killed.
#[test]
fn store_locked_by_another_process_is_reported_as_unavailable() {
    let store = Sqlite::new();
    use_it(&store.url()).unwrap();
    let victim = Victim::of(&store.url());
    match use_it(&store.url()) {
        Err(Fault::Unavailable(text)) => {
            assert!(text.contains("flakeid.db has been locked by another process"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    victim.kill();
    use_it(&store.url()).unwrap();
}

/// Checks that the store is reported as unavailable while another program holds `SQLite`'s own lock.
#[test]
fn store_locked_by_an_sqlite_tool_is_reported_as_unavailable() {
    let store = Sqlite::new();
    use_it(&store.url()).unwrap();
    let tool = rusqlite::Connection::open(store.file()).unwrap();
    tool.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(use_it(&store.url()), Err(Fault::Unavailable(_))));
    tool.execute_batch("ROLLBACK").unwrap();
    use_it(&store.url()).unwrap();
}

#[test]
fn acquire_refuses_clocks_that_show_an_impossible_time() {
    let store = Sqlite::new();
    for (unix_ms, ahead) in [(0, false), (1_500_000_000_000, false), (3_471_292_800_000, true)] {
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(unix_ms));
        let mut store = connect_with(&store.url(), &clock).unwrap();
        let refused = operations::acquire(&mut *store, "space", &request(1));
        let Err(Fault::Refused(Refusal::ImpossibleClock { by_ms })) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(by_ms > 0, ahead);
    }
    assert!(!store.file().exists());
}

/// Checks that `SQLite` checkpoints the write-ahead log into the database file before the log reaches 4 MB.
#[test]
fn write_ahead_log_is_merged_before_reaching_four_megabytes() {
    let store = Sqlite::new();
    let mut connection = store.connect();
    for _ in 0..3 {
        for node in 0..64 {
            operations::acquire(&mut *connection, "space", &request(node)).unwrap();
        }
        let log = fs::metadata(store.beside("-wal")).unwrap().len();
        assert!(log < 4_000_000, "{log}");
    }
    assert!(fs::metadata(store.file()).unwrap().len() > 10_000);
}

/// Checks that files from another machine are refused until an operator adopts the files.
#[test]
fn files_copied_from_another_machine_are_refused_until_adopted() {
    let store = Sqlite::new();
    use_it(&store.url()).unwrap();
    let file = rusqlite::Connection::open(store.file()).unwrap();
    let moved = "UPDATE flakeid_namespace SET incarnation = 'elsewhere/1/2'";
    file.execute_batch(moved).unwrap();
    drop(file);
    assert!(matches!(use_it(&store.url()), Err(Fault::Refused(Refusal::Foreign(_)))));
    operations::adopt(&mut *store.connect(), "space").unwrap();
    let refused = use_it(&store.url());
    assert!(waits(&refused), "{refused:?}");
}

/// Checks that the store is reported as unavailable when the disk is full, and that the store remains undamaged.
#[test]
fn full_disk_makes_the_store_unavailable_without_data_loss() {
    // The child process runs the same test, but only acquires a node on the full disk.
    if let Ok(url) = std::env::var("FLAKEID_TEST_SQLITE_FULL") {
        return println!("{:?}", use_it(&url));
    }
    let store = Sqlite::new();
    use_it(&store.url()).unwrap();
    let full = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" --exact \"$1\" --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .arg(std::thread::current().name().unwrap())
        .env("FLAKEID_TEST_SQLITE_FULL", store.url())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&full.stdout);
    assert!(said.contains("Unavailable("), "{full:?}");
    std::thread::sleep(Duration::from_millis(1));
    let listing = operations::list(&mut *store.connect(), "space").unwrap();
    assert_eq!(listing.rows.len(), 1);
    use_it(&store.url()).unwrap();
}
