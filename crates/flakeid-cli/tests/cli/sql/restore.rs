//! Tests of dumps that are restored into their original database, and of upgrades from an older
//! version of the functions.

use std::collections::HashSet;
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flakeid_test_servers::{PostgresServer, Server};

use super::session::{Session, psql_client};
use super::{ids, psql, script};

/// A layout whose ticks last a second, so that a dump and its restore fit into one tick.
const SLOW: &str = "baidu-29";

const MANY: &str = "SELECT id FROM ids.flakeid_next_n(50) id;";

fn own_script() -> String {
    script(SLOW, &["--node", "7", "--schema", "ids"])
}

fn server() -> PostgresServer {
    let server = PostgresServer::new();
    psql(&server, &format!("CREATE SCHEMA ids;\n{}", own_script())).unwrap();
    psql(&server, "CREATE TABLE ids.t (id bigint DEFAULT ids.flakeid_next() PRIMARY KEY);")
        .unwrap();
    server
}

fn dump(server: &PostgresServer, args: &[&str]) -> String {
    let output = Command::new("pg_dump").args(args).arg(server.url()).output();
    let output = output.expect("the package postgresql-client");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Waits until the next tick of the layout has begun.
fn wait_for_tick() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    thread::sleep(Duration::from_nanos(1_005_000_000 - u64::from(now.subsec_nanos())));
}

#[test]
fn database_restored_from_its_own_dump_generates_no_ids() {
    let server = server();
    for (index, clean) in [
        ["--clean", "--if-exists", "--schema=ids"].as_slice(),
        &["--clean", "--table=ids.flakeid_position"],
    ]
    .into_iter()
    .enumerate()
    {
        // Like a session in a connection pool, this session has already verified the database and
        // cached every plan.
        let mut old = Session::new(psql_client(&server.url()));
        old.answer(&format!(
            "PREPARE prepared AS SELECT ids.flakeid_next();{}",
            "EXECUTE prepared;".repeat(7)
        ));
        wait_for_tick();
        let dump = dump(&server, clean);
        let mut seen: HashSet<i64> = ids(&psql(&server, MANY).unwrap()).into_iter().collect();
        psql(&server, &format!("BEGIN; {dump} COMMIT;")).unwrap();
        for answer in [psql(&server, MANY), psql(&server, "INSERT INTO ids.t DEFAULT VALUES;")] {
            let refusal = answer.expect_err("the database generated IDs");
            let expected = "FLAKEID_FORKED: node 7 belongs to the database from which this one was copied or restored";
            assert!(refusal.contains(expected), "{refusal}");
            assert!(refusal.contains("flakeid_rearm(node)"), "{refusal}");
        }
        let refusal = old.refusal("EXECUTE prepared;");
        assert!(refusal.contains("FLAKEID_FORKED"), "{refusal}");
        // Running the script must not enable the restored database to generate IDs.
        psql(&server, &own_script()).unwrap();
        assert!(psql(&server, MANY).unwrap_err().contains("FLAKEID_FORKED"));
        psql(&server, "SELECT ids.flakeid_rearm(7);").unwrap();
        for id in ids(&psql(&server, MANY).unwrap()) {
            assert!(seen.insert(id), "restore {index}: {id} was issued twice");
        }
    }
}

/// Restoring only the data sets the sequence back. The functions cannot detect such a restore, so
/// the guide requires a call to `flakeid_rearm`.
#[test]
fn calling_rearm_after_a_data_restore_prevents_duplicate_ids() {
    let server = server();
    wait_for_tick();
    psql(&server, MANY).unwrap();
    let dump = dump(&server, &["--data-only", "--schema=ids"]);
    let mut seen: HashSet<i64> = ids(&psql(&server, MANY).unwrap()).into_iter().collect();
    psql(&server, &dump).unwrap();
    psql(&server, "SELECT ids.flakeid_rearm(7);").unwrap();
    for id in ids(&psql(&server, MANY).unwrap()) {
        assert!(seen.insert(id), "{id} was issued twice");
    }
}

/// An older version of the functions did not record the identity of the sequence, and could not
/// detect that a restore had set the sequence back.
#[test]
fn postgres_script_upgrades_functions_from_an_older_version() {
    let server = server();
    wait_for_tick();
    let issued = ids(&psql(&server, MANY).unwrap());
    // This SQL simulates a database with the older version of the functions after a restore: the
    // sequence is set back, and the new function is missing.
    psql(&server, "SELECT setval('ids.flakeid_position', pg_sequence_last_value('ids.flakeid_position') - 40);
                   DROP FUNCTION ids.flakeid_own_position();").unwrap();
    psql(&server, &own_script()).unwrap();
    let next = ids(&psql(&server, MANY).unwrap());
    assert!(next[0] > issued[49], "{} is not above {}", next[0], issued[49]);
    // Running the script again does not use up a tick.
    psql(&server, &own_script()).unwrap();
    let position = "SELECT pg_sequence_last_value('ids.flakeid_position');";
    let before = psql(&server, position).unwrap();
    psql(&server, &own_script()).unwrap();
    assert_eq!(psql(&server, position).unwrap(), before);
    // Upgrading the functions in a copy must not enable the copy to generate IDs.
    server.sql_in("postgres", "CREATE DATABASE copy TEMPLATE ids OWNER flakeid").unwrap();
    let url = server.url_of("flakeid", PostgresServer::PASSWORD, "copy", "");
    super::psql_at(&url, "DROP FUNCTION ids.flakeid_own_position();").unwrap();
    super::psql_at(&url, &own_script()).unwrap();
    let refusal = super::psql_at(&url, MANY).unwrap_err();
    assert!(refusal.contains("FLAKEID_FORKED"), "{refusal}");
}

/// A session that uses two schemas verifies the database once for each schema, not at every call.
#[test]
fn postgres_session_verifies_the_database_once_per_schema() {
    let server = server();
    let other = script("twitter", &["--node", "8", "--schema", "others"]);
    psql(&server, &format!("CREATE SCHEMA others;\n{other}")).unwrap();
    let mut session = Session::new(psql_client(&server.url()));
    session.answer("SELECT ids.flakeid_next(); SELECT others.flakeid_next();");
    // Without the function `flakeid_this_database`, only a session that has already verified the
    // database can generate IDs.
    psql(
        &server,
        "DROP FUNCTION ids.flakeid_this_database(); DROP FUNCTION others.flakeid_this_database();",
    )
    .unwrap();
    let nodes =
        "SELECT ids.flakeid_node(ids.flakeid_next()), others.flakeid_node(others.flakeid_next());";
    assert_eq!(session.answer(&nodes.repeat(3)), ["7|8"; 3].join("\n"));
    session.end();
}
