//! The extension, loaded by SQLite: that of the tests, and the program `sqlite3`.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]
#![allow(clippy::doc_markdown)]

mod decode;
mod generate;
mod processes;
mod refusals;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, types::Value};

/// The library, which cargo puts beside the tests.
fn library() -> PathBuf {
    let name =
        format!("{}flakeid_sqlite{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = std::env::current_exe().unwrap().parent().unwrap().join(name);
    assert!(library.exists(), "{}", library.display());
    library
}

/// A connection with the extension.
fn open(database: &Path) -> Connection {
    let connection = Connection::open(database).unwrap();
    load(&connection);
    connection
}

#[allow(unsafe_code, reason = "a library could do anything; this is ours")]
fn load(connection: &Connection) {
    // SAFETY: the library is the one under test.
    unsafe {
        connection.load_extension_enable().unwrap();
        connection.load_extension(library(), None::<&str>).unwrap();
    }
    connection.load_extension_disable().unwrap();
}

/// A database in memory, configured.
fn configured(options: &[&str]) -> Connection {
    let connection = open(Path::new(":memory:"));
    configure(&connection, options).unwrap();
    connection
}

fn configure(connection: &Connection, options: &[&str]) -> Result<String, String> {
    let places = vec!["?"; options.len()].join(", ");
    let params = rusqlite::params_from_iter(options);
    let sql = format!("SELECT flakeid_configure({places})");
    connection.query_row(&sql, params, |row| row.get(0)).map_err(|error| error.to_string())
}

/// The only value of a query as text, or what SQLite says against it.
fn answer(connection: &Connection, sql: &str) -> Result<String, String> {
    let value = connection.query_row(sql, [], |row| row.get::<_, Value>(0));
    value.map_err(|error| error.to_string()).map(|value| match value {
        Value::Null => "null".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Text(text) => text,
        other => panic!("{sql}: {other:?}"),
    })
}

/// All values of a query of one column.
fn column(connection: &Connection, sql: &str) -> Vec<i64> {
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}
