//! The `SQLite` store for the conformance suite, and helpers for the store's own tests.

use std::any::Any;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::store::{Fault, Store};
use tempfile::TempDir;

pub(crate) use crate::retrying::{TIMEOUT, connect, connect_with};

/// The environment variable that passes the store's URL to a child process that will be killed.
pub const VICTIM: &str = "FLAKEID_TEST_SQLITE_VICTIM";

pub struct Sqlite {
    directory: TempDir,
}

impl Sqlite {
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub fn file(&self) -> PathBuf {
        self.directory.path().join("flakeid.db")
    }

    pub fn beside(&self, suffix: &str) -> PathBuf {
        self.directory.path().join(format!("flakeid.db{suffix}"))
    }

    pub fn url(&self) -> String {
        format!("sqlite://{}", self.file().display())
    }

    /// Executes a statement directly on the database, after dropping the trigger that protects the fences.
    fn damage_by(&self, sql: &str, values: impl rusqlite::Params) {
        let connection = rusqlite::Connection::open(self.file()).unwrap();
        connection.execute_batch("DROP TRIGGER IF EXISTS flakeid_fence_stays").unwrap();
        assert_eq!(connection.execute(sql, values).unwrap(), 1);
    }

    fn attack(&self, sql: &str, namespace: &str, node: u64) -> Result<(), String> {
        let connection = rusqlite::Connection::open(self.file()).unwrap();
        let done = connection.execute(sql, (namespace, i64::try_from(node).unwrap()));
        done.map(drop).map_err(|error| error.to_string())
    }
}

/// Repeats a request until the store is available or the timeout passes. For example, the store is unavailable while
/// another process holds the store's lock.
pub fn persist<T>(mut ask: impl FnMut() -> Result<T, Fault>) -> Result<T, Fault> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match ask() {
            Err(Fault::Unavailable(_)) if Instant::now() < deadline => {}
            answer => return answer,
        }
    }
}

/// Starts a transaction and waits until the process is killed, if this process is the child process of a test.
pub fn wait_in_a_transaction_if_child() {
    let Ok(url) = std::env::var(VICTIM) else { return };
    let outcome = connect(&url).unwrap().transact("victim", &mut |ledger| {
        if let Some(kept) = ledger.namespace()? {
            ledger.put_namespace(&kept)?;
        }
        println!("waiting in a transaction");
        loop {
            std::thread::park();
        }
    });
    // The transaction fails only if the child did not get the lock within 2 s. The parent then starts another child.
    println!("{outcome:?}");
    std::process::exit(0);
}

/// A child process that waits in an open transaction.
pub struct Victim(std::process::Child);

impl Victim {
    pub fn of(url: &str) -> Self {
        loop {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "store_responds_after_a_process_was_killed_in_a_transaction",
                    "--nocapture",
                ])
                .env(VICTIM, url)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            if lines.map_while(Result::ok).any(|line| line.contains("waiting in a transaction")) {
                return Self(child);
            }
            // The child exited, because it did not get the lock within 2 s. The loop starts another child.
            child.wait().unwrap();
        }
    }

    pub fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

pub fn copy(from: &Path, to: &Path) {
    match std::fs::read(from) {
        Ok(bytes) => std::fs::write(to, bytes).unwrap(),
        Err(_) => std::fs::write(to, []).unwrap(),
    }
}

impl StoreUnderTest for Sqlite {
    fn connect(&self) -> Box<dyn Store> {
        connect(&self.url()).unwrap()
    }

    fn crash(&self) {
        for _ in 0..5 {
            Victim::of(&self.url()).kill();
        }
    }

    fn backup(&self) -> Box<dyn Any> {
        let read = |suffix| std::fs::read(self.beside(suffix)).unwrap_or_default();
        Box::new([read(""), read("-wal")])
    }

    fn restore(&self, copy: Box<dyn Any>) {
        let [file, wal] = *copy.downcast::<[Vec<u8>; 2]>().unwrap();
        std::fs::write(self.file(), file).unwrap();
        std::fs::write(self.beside("-wal"), wal).unwrap();
    }

    fn delete_row(&self, namespace: &str, node: u64) -> Result<(), String> {
        let sql = "DELETE FROM flakeid_node WHERE namespace = ?1 AND node = ?2";
        self.attack(sql, namespace, node)
    }

    fn lower_fence(&self, namespace: &str, node: u64) -> Result<(), String> {
        let lower = "UPDATE flakeid_node SET fence = fence - 1 WHERE namespace = ?1 AND node = ?2";
        self.attack(lower, namespace, node)?;
        Ok(())
    }

    fn guards_rows(&self) -> bool {
        true
    }

    fn can_hold(&self, field: &str, text: &str) -> bool {
        field != "fence" || text.parse::<i64>().is_ok()
    }

    fn damage(&self, namespace: &str, node: u64, field: &str, text: &str) {
        let sql =
            format!("UPDATE flakeid_node SET {field} = ?3 WHERE namespace = ?1 AND node = ?2");
        self.damage_by(&sql, (namespace, i64::try_from(node).unwrap(), text));
    }

    fn crash_voids_tokens(&self) -> bool {
        false
    }
}
