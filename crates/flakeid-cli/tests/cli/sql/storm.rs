//! Tests that cancel statements, disconnect sessions and kill `PostgreSQL` server processes at
//! arbitrary times, while transactions commit and roll back. No ID may be issued twice, and no
//! session may be blocked.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use flakeid_test_servers::{PostgresServer, Server};

use super::{ids, issue_during, issued, psql, script};
use crate::run::scratch;

const LENGTH: Duration = Duration::from_secs(7);

/// The statements that each session repeats. Every statement that generates an ID returns the ID,
/// so that IDs in rolled-back transactions are also known.
const ROUND: &str = "
    INSERT INTO t (x) VALUES (1) RETURNING id;
    INSERT INTO t (x) SELECT generate_series(1, 300) RETURNING id;
    BEGIN; SELECT flakeid_next(); SAVEPOINT s; SELECT flakeid_next_n(50); ROLLBACK TO s;
    SELECT flakeid_next(); INSERT INTO t (x) VALUES (2) RETURNING id; ROLLBACK;
    BEGIN; INSERT INTO t (x) VALUES (3) RETURNING id; SELECT flakeid_next_n(5000); COMMIT;
    DO $$ BEGIN
      BEGIN PERFORM flakeid_next(); RAISE EXCEPTION 'undone'; EXCEPTION WHEN raise_exception THEN NULL; END;
    END $$;
    SELECT flakeid_next();
";

#[test]
fn postgres_faults_cause_no_duplicate_ids_or_blocked_sessions() {
    let server = PostgresServer::new();
    psql(&server, &script("twitter", &["--node", "7"])).unwrap();
    psql(&server, "CREATE TABLE t (id bigint DEFAULT flakeid_next() PRIMARY KEY, x int);").unwrap();
    let folder = scratch("sql-storm").0;
    let session = |timeout, output: &Path| session(&server, timeout, output);
    // Sessions that are still running are terminated at the end. Afterwards, no session may hold an
    // advisory lock.
    let cancel = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    let end_sessions = || drop(server.sql(cancel).unwrap());
    issue_during(&folder, session, || inject_faults(&server), end_sessions);
    let seen = issued(&folder);
    let locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory';";
    assert_eq!(psql(&server, locks).unwrap(), "0");
    let stored = ids(&psql(
        &server,
        "SET statement_timeout = '5s'; INSERT INTO t DEFAULT VALUES RETURNING id;",
    )
    .unwrap());
    assert!(!seen.contains(&stored[0]));
    fs::remove_dir_all(&folder).unwrap();
}

/// Cancels statements, disconnects sessions, and kills two server processes with `SIGKILL`, as the
/// kernel does if memory runs out. After each kill, the whole server recovers from its log.
fn inject_faults(server: &PostgresServer) {
    let begin = Instant::now();
    let pick = |function: &str| {
        server.sql(&format!(
            "SELECT count({function}(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' \
             AND pid <> pg_backend_pid() ORDER BY random() LIMIT 3) some"
        ))
    };
    let mut kills = 0;
    for round in 0_u32.. {
        let elapsed = begin.elapsed();
        if elapsed >= LENGTH && kills == 2 {
            break;
        }
        // An error is ignored, because a server does not respond while it recovers.
        _ = pick(if round % 5 == 4 { "pg_terminate_backend" } else { "pg_cancel_backend" });
        assert!(elapsed < 5 * LENGTH, "{kills} of 2 server processes were killed");
        if kills < 2 && elapsed >= LENGTH * (kills + 1) / 3 {
            let victim = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' \
                          AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1";
            if let Ok(pid) = server.sql(victim)
                && !pid.is_empty()
            {
                // An error is ignored, because the process may have ended in the meantime.
                let killed = Command::new("kill").args(["-9", &pid]).stderr(Stdio::null()).status();
                kills += u32::from(killed.unwrap().success());
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while server.sql("SELECT 1").is_err() {
        assert!(Instant::now() < deadline, "the server did not recover");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Runs the statements in one connection, until all statements have run or the connection is lost.
fn session(server: &PostgresServer, timeout_ms: usize, output: &Path) {
    let input = output.with_extension("sql");
    let round = format!("SET statement_timeout = {timeout_ms};\n{}", ROUND.repeat(20));
    fs::write(&input, round).unwrap();
    let mut psql = Command::new("psql");
    psql.args(["-X", "-q", "-A", "-t", &server.url()]);
    psql.stdin(File::open(&input).unwrap()).stdout(File::create(output).unwrap());
    psql.stderr(Stdio::null()).status().expect("the package postgresql-client");
    fs::remove_file(&input).unwrap();
}
