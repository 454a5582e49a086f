//! Tests of the scripts that `flakeid sql` prints. Most of the tests run a script in a database.

mod claim;
mod decode;
mod generate;
mod install;
mod keyed;
mod mariadb;
mod mariadb_clock;
mod mariadb_moves;
mod mariadb_storm;
mod mysql;
mod one_table;
mod places;
mod rearm;
mod restore;
mod schedule;
mod session;
mod storm;
mod uuid;

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use flakeid_test_servers::{PostgresServer, Server};
use serde_json::Value;

use self::session::psql_client;
use crate::run::{pipe, run};

/// Returns the `PostgreSQL` script that `flakeid sql` prints for a layout. `args` contains additional options.
fn script(layout: &str, args: &[&str]) -> String {
    let first = ["sql", "--dialect", "postgres", "--layout", layout];
    run(&[&first, args].concat()).quiet().text().to_owned()
}

/// Runs SQL with psql as the owner of the database, and returns the output or the error.
fn psql(server: &PostgresServer, sql: &str) -> Result<String, String> {
    psql_at(&server.url(), sql)
}

/// Runs SQL with psql in the database at `url`, and returns the output or the error.
fn psql_at(url: &str, sql: &str) -> Result<String, String> {
    outcome(psql_client(url), sql)
}

/// Runs SQL in a database client, and returns the client's output or error message.
fn outcome(mut client: Command, sql: &str) -> Result<String, String> {
    let output = pipe(&mut client, sql.as_bytes());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// The definition of an SQL function `outcome(sql)`, which returns the result of a query as a
/// string. If the query fails, the function returns the SQLSTATE and the message.
const OUTCOME: &str = "
    CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE result text;
    BEGIN
        EXECUTE query INTO result;
        RETURN result;
    EXCEPTION WHEN OTHERS THEN
        RETURN SQLSTATE || ' ' || SQLERRM;
    END $$;";

fn vectors(name: &str) -> Value {
    let path = format!("{}/../../tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// Quotes a string as an SQL literal.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Parses the output of a query that returns one ID per line.
fn ids(output: &str) -> Vec<i64> {
    output.lines().map(|line| line.parse().expect(line)).collect()
}

/// Waits until the condition is true, for at most 30 s.
fn wait_until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "the condition did not become true");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The number of connections that issue IDs concurrently while faults are injected.
const SESSIONS: usize = 16;

/// Runs sessions in [`SESSIONS`] threads while faults are injected, and then ends the running sessions. Each thread
/// runs one session after another. `session` receives a timeout in milliseconds (0 for no timeout) and the path of an
/// output file.
fn issue_during(
    folder: &Path,
    session: impl Fn(usize, &Path) + Sync,
    inject_faults: impl FnOnce(),
    end_sessions: impl FnOnce(),
) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for number in 0..SESSIONS {
            let (session, over) = (&session, &over);
            scope.spawn(move || {
                // Half of the threads cancel statements after a timeout, which is different for each of these threads.
                let timeout = if number % 2 == 0 { 1 + number / 2 } else { 0 };
                for run in 0.. {
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    session(timeout, &folder.join(format!("{number}-{run}")));
                }
            });
        }
        {
            // The guard ends the sessions even if an assertion fails.
            let _end = SetOnDrop(&over);
            inject_faults();
        }
        end_sessions();
    });
}

/// Returns the IDs in the sessions' output files, and checks that no ID occurs twice. Ignores an incomplete last line
/// of a file.
fn issued(folder: &Path) -> HashSet<i64> {
    let (mut seen, mut outputs) = (HashSet::new(), 0);
    for file in fs::read_dir(folder).unwrap() {
        let output = fs::read_to_string(file.unwrap().path()).unwrap();
        let whole = output.rsplit_once('\n').map_or("", |(whole, _)| whole);
        for id in ids(whole) {
            assert!(seen.insert(id), "{id} was issued twice");
        }
        outputs += 1;
    }
    eprintln!("{outputs} outputs, {} IDs", seen.len());
    assert!(outputs >= SESSIONS && seen.len() > 20_000, "{outputs} outputs, {} IDs", seen.len());
    seen
}

/// A guard that sets a flag when it is dropped, so that threads end even after a failed assertion.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
