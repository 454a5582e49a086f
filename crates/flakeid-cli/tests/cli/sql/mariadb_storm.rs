//! Tests that cancel statements, disconnect sessions and kill the `MariaDB` server at arbitrary
//! times, while transactions commit and roll back. No ID may be issued twice, and no session may be
//! blocked.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use flakeid_test_servers::{MariadbServer, Server};

use super::mariadb::{client, query, script, server};
use super::{ids, issue_during, issued};
use crate::run::scratch;

const LENGTH: Duration = Duration::from_secs(7);

/// The statements that each session repeats. Every statement that generates an ID returns the ID.
///
/// The table deliberately has no trigger. After one of five runs with a trigger, `MariaDB` 10.11
/// rejected every insert. The error message stated that the trigger had "an error in its body:
/// 'Query was empty'". The cause of the error is unknown.
const ROUND: &str = "
    INSERT INTO t VALUES (flakeid_next(), 1) RETURNING id;
    INSERT INTO t SELECT flakeid_next(), seq FROM seq_1_to_100 RETURNING id;
    START TRANSACTION; SELECT flakeid_next(); SAVEPOINT s; SELECT flakeid_next() FROM seq_1_to_50; ROLLBACK TO s;
    SELECT flakeid_next(); INSERT INTO t VALUES (flakeid_next(), 2) RETURNING id; ROLLBACK;
    START TRANSACTION; INSERT INTO t VALUES (flakeid_next(), 3) RETURNING id; SELECT flakeid_next() FROM seq_1_to_500; COMMIT;
    SELECT flakeid_next();
";

#[test]
fn mariadb_faults_cause_no_duplicate_ids_or_blocked_sessions() {
    let server = server();
    query(&server, &script("mariadb", "twitter", &["--node", "7", "--schema", "ids"])).unwrap();
    query(&server, "CREATE TABLE t (id BIGINT PRIMARY KEY, x INT);").unwrap();
    let folder = scratch("sql-mariadb-storm").0;
    let session = |timeout, output: &Path| {
        session(&server, timeout, output);
        thread::sleep(Duration::from_millis(5));
    };
    issue_during(&folder, session, || inject_faults(&server), || ());
    let seen = issued(&folder);
    let last = "SET max_statement_time = 5; INSERT INTO t VALUES (flakeid_next(), 1) RETURNING id;";
    assert!(!seen.contains(&ids(&query(&server, last).unwrap())[0]));
    assert_eq!(query(&server, "SELECT COUNT(*) FROM flakeid_position;").unwrap(), "0");
    fs::remove_dir_all(&folder).unwrap();
}

/// Cancels statements, disconnects sessions, and kills the server twice. After each restart, the
/// server recovers from its log.
fn inject_faults(server: &MariadbServer) {
    let begin = Instant::now();
    let mut kills = 0;
    for round in 0_u32.. {
        let elapsed = begin.elapsed();
        if elapsed >= LENGTH && kills == 2 {
            break;
        }
        let some = "SELECT id FROM information_schema.PROCESSLIST WHERE user = 'flakeid' ORDER BY RAND() LIMIT 3";
        let verb = if round % 5 == 4 { "KILL HARD CONNECTION" } else { "KILL HARD QUERY" };
        for id in server.sql(some).unwrap().lines() {
            // An error is ignored, because the session may already have ended.
            _ = server.sql(&format!("{verb} {id}"));
        }
        if kills < 2 && elapsed >= LENGTH * (kills + 1) / 3 {
            server.kill();
            server.start();
            kills += 1;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Runs the statements over a single connection, until all statements have run or the connection is
/// lost.
fn session(server: &MariadbServer, timeout_ms: usize, output: &Path) {
    let input = output.with_extension("sql");
    let seconds = f64::from(u32::try_from(timeout_ms).unwrap()) / 1000.0;
    let round = format!("SET max_statement_time = {seconds};\n{}", ROUND.repeat(20));
    fs::write(&input, round).unwrap();
    let mut client = client(server);
    client.args(["--force", "--unbuffered", "--skip-reconnect"]);
    client.stdin(File::open(&input).unwrap()).stdout(File::create(output).unwrap());
    client.stderr(Stdio::null()).status().expect("the package mariadb-client");
    fs::remove_file(&input).unwrap();
}
