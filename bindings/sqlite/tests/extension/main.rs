//! Tests of the extension. The tests load the extension into their own copy of SQLite and into the program `sqlite3`.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]
#![allow(clippy::doc_markdown)]

mod decode;
mod generate;
mod processes;
mod refusals;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, types::Value};

/// Returns the path of the library, which Cargo builds into the directory of the test executable.
fn library() -> PathBuf {
    let name =
        format!("{}flakeid_sqlite{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = std::env::current_exe().unwrap().parent().unwrap().join(name);
    assert!(library.exists(), "{}", library.display());
    library
}

/// Opens a connection and loads the extension.
fn open(database: &Path) -> Connection {
    let connection = Connection::open(database).unwrap();
    load(&connection);
    connection
}

#[allow(unsafe_code, reason = "loads the extension under test")]
fn load(connection: &Connection) {
    // SAFETY: the loaded library is the extension under test.
    unsafe {
        connection.load_extension_enable().unwrap();
        connection.load_extension(library(), None::<&str>).unwrap();
    }
    connection.load_extension_disable().unwrap();
}

/// Opens an in-memory database and configures the extension.
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

/// Returns the single value of a query as a string, or SQLite's error message.
fn answer(connection: &Connection, sql: &str) -> Result<String, String> {
    let value = connection.query_row(sql, [], |row| row.get::<_, Value>(0));
    value.map_err(|error| error.to_string()).map(|value| match value {
        Value::Null => "null".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Text(text) => text,
        other => panic!("{sql}: {other:?}"),
    })
}

/// Returns all values of a query that selects one column.
fn column(connection: &Connection, sql: &str) -> Vec<i64> {
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}
