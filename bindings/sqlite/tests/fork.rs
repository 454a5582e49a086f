//! Tests of SQLite connections in a forked child process. According to SQLite's documentation, the child must not use a
//! connection of its parent. A child that uses this connection anyway, or opens another connection, must not repeat an
//! ID.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]
#![allow(clippy::doc_markdown)]

use std::io::{Read, Write};
use std::process::ExitCode;

use rusqlite::Connection;

fn main() -> ExitCode {
    flakeid_test_runner::run(flakeid_test_runner::tests![
        forked_child_rejects_a_fixed_node,
        forked_child_leases_another_node,
    ])
}

fn configured(options: &[&str]) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    let name =
        format!("{}flakeid_sqlite{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = std::env::current_exe().unwrap().parent().unwrap().join(name);
    #[allow(unsafe_code, reason = "loads the extension under test")]
    // SAFETY: the loaded library is the extension under test.
    unsafe {
        connection.load_extension_enable().unwrap();
        connection.load_extension(library, None::<&str>).unwrap();
    }
    let options: Vec<String> = options.iter().map(|option| format!("'{option}'")).collect();
    let sql = format!("SELECT flakeid_configure({})", options.join(", "));
    connection.query_row(&sql, [], |_| Ok(())).unwrap();
    connection
}

fn ids(connection: &Connection) -> Result<String, String> {
    let sql = "SELECT group_concat(id) FROM flakeid_next_n(100)";
    connection.query_row(sql, [], |row| row.get(0)).map_err(|error| error.to_string())
}

/// Runs `work` in a forked child process, and returns the string that the child writes to a pipe.
#[allow(unsafe_code, reason = "the test forks")]
fn in_child(work: impl FnOnce() -> String) -> String {
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    // SAFETY: during the fork, no other thread of the process holds a lock that `work` takes. A fork handler delays the
    // fork until the thread that renews leases has finished any work that a fork must not interrupt.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        drop(reader);
        let written = writer.write_all(work().as_bytes());
        // SAFETY: `_exit` ends the child without running the exit handlers that it inherited from its parent.
        unsafe { libc::_exit(written.is_err().into()) };
    }
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    let mut status = 0;
    // SAFETY: `child` is a child of this process.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "{text}");
    text
}

fn forked_child_rejects_a_fixed_node() {
    let connection = configured(&["layout=twitter", "node=9"]);
    ids(&connection).unwrap();
    let said = in_child(|| ids(&connection).unwrap_err());
    assert!(said.starts_with("FLAKEID_FORKED: "), "{said}");
    ids(&connection).unwrap();
}

fn forked_child_leases_another_node() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("store=sqlite://{}/leases.db", folder.path().display());
    let connection = configured(&["layout=twitter", &store]);
    let mut made: Vec<u64> = Vec::new();
    let mut add =
        |text: &str| made.extend(text.split(',').map(|id| id.parse::<u64>().expect(text)));
    add(&ids(&connection).unwrap());
    add(&in_child(|| ids(&connection).unwrap_or_else(|error| error)));
    add(&ids(&connection).unwrap());
    let nodes: Vec<u64> = made.chunks(100).map(|ids| ids[0] >> 12 & 1023).collect();
    assert_ne!(nodes[0], nodes[1], "the child has a node of its own");
    made.sort_unstable();
    made.dedup();
    assert_eq!(made.len(), 300);
}
