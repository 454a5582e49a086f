//! Sessions that are cancelled, killed and rolled back at any point: no ID comes twice, and nobody is stuck.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use flakeid_test_servers::{PostgresServer, Server};

use super::{SetAtEnd, ids, psql, script};

const SESSIONS: usize = 16;
const LENGTH: Duration = Duration::from_secs(7);

/// What a session does again and again. Every ID is written out in the statement that made it, so that those of
/// transactions that were rolled back are known too.
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
fn postgres_faults_neither_repeat_ids_nor_block_sessions() {
    let server = PostgresServer::new();
    psql(&server, &script("twitter", &["--node", "7"])).unwrap();
    psql(&server, "CREATE TABLE t (id bigint DEFAULT flakeid_next() PRIMARY KEY, x int);").unwrap();
    let folder = tempdir();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for number in 0..SESSIONS {
            let (server, folder, over) = (&server, &folder, &over);
            scope.spawn(move || {
                // Half of them are cut short by their own clocks, each at another point.
                let timeout = if number % 2 == 0 { 1 + number / 2 } else { 0 };
                for run in 0.. {
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    session(server, timeout, &folder.join(format!("{number}-{run}")));
                }
            });
        }
        {
            // Also when an assertion fails: the sessions would go on for ever.
            let _end = SetAtEnd(&over);
            inject_faults(&server);
        }
        // Nobody may be left waiting for a lock that a dead or idle session has.
        let cancel = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
        server.sql(cancel).unwrap();
    });
    let mut seen = HashSet::new();
    let mut outputs = 0;
    for file in fs::read_dir(&folder).unwrap() {
        let output = fs::read_to_string(file.unwrap().path()).unwrap();
        // The last line may have been cut.
        let whole = output.rsplit_once('\n').map_or("", |(whole, _)| whole);
        for id in ids(whole) {
            assert!(seen.insert(id), "{id} was issued twice");
        }
        outputs += 1;
    }
    assert!(outputs >= SESSIONS && seen.len() > 20_000, "{outputs} outputs, {} IDs", seen.len());
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

/// Cancels statements and throws sessions out, and twice kills a server process as the kernel would, after which
/// the whole server recovers from its log.
fn inject_faults(server: &PostgresServer) {
    let begin = Instant::now();
    let pick = |what: &str| {
        server.sql(&format!(
            "SELECT count({what}(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' \
             AND pid <> pg_backend_pid() ORDER BY random() LIMIT 3) some"
        ))
    };
    let mut kills = 0;
    for round in 0_u32.. {
        let elapsed = begin.elapsed();
        if elapsed >= LENGTH && kills == 2 {
            break;
        }
        // A server that is recovering answers nobody.
        _ = pick(if round % 5 == 4 { "pg_terminate_backend" } else { "pg_cancel_backend" });
        assert!(elapsed < 5 * LENGTH, "{kills} of 2 server processes were killed");
        if kills < 2 && elapsed >= LENGTH * (kills + 1) / 3 {
            let victim = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' \
                          AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1";
            if let Ok(pid) = server.sql(victim)
                && !pid.is_empty()
            {
                // It may have ended by itself meanwhile.
                let killed = Command::new("kill").args(["-9", &pid]).stderr(Stdio::null()).status();
                kills += u32::from(killed.unwrap().success());
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while server.sql("SELECT 1").is_err() {
        assert!(Instant::now() < deadline, "the server does not come back");
        thread::sleep(Duration::from_millis(50));
    }
}

/// One connection, until it is thrown out.
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

fn tempdir() -> std::path::PathBuf {
    crate::run::scratch("sql-storm").0
}
