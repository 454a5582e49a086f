//! Tests that change the node in `MariaDB` while statements are running. After the change, no statement may issue an
//! ID with the old node.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::thread;

use flakeid_test_servers::MariadbServer;

use super::mariadb::{client, query, script, server};
use super::session::Session;
use super::{ids, wait_until};

const NODE: &str = "SELECT flakeid_node(flakeid_next());";

/// The names and statements of procedures that each generate IDs in a different way.
const WAYS: [(&str, &str); 4] = [
    ("by_statement", "INSERT INTO t VALUES (flakeid_next(), i)"),
    ("by_variable", "SET got = flakeid_next(); INSERT INTO t VALUES (got, i)"),
    ("by_function", "INSERT INTO t VALUES (wrapped(), i)"),
    (
        "by_trigger",
        "INSERT INTO triggered (x) VALUES (i); INSERT INTO t SELECT id, x FROM triggered WHERE x = i",
    ),
];

/// Returns the statements that the guide recommends for changing the node.
fn change_node(node: u32) -> String {
    let script = script("mariadb", "twitter", &["--node", &node.to_string(), "--schema", "ids"]);
    format!("DROP FUNCTION IF EXISTS flakeid_own_node;\n{script}")
}

/// Starts a server that generates IDs on node 7. Its database `ids` contains tables, and procedures that fill the
/// tables.
fn filled_server() -> MariadbServer {
    let server = server();
    query(&server, &change_node(7)).unwrap();
    let mut sql = "CREATE TABLE t (id BIGINT PRIMARY KEY, x INT);
        CREATE TABLE stop (x INT);
        CREATE TABLE triggered (id BIGINT DEFAULT 0 PRIMARY KEY, x INT, KEY (x));
        CREATE TRIGGER triggered_id BEFORE INSERT ON triggered FOR EACH ROW SET NEW.id = flakeid_next();
        DELIMITER $$
        CREATE FUNCTION wrapped() RETURNS BIGINT NOT DETERMINISTIC MODIFIES SQL DATA RETURN flakeid_next() $$\n"
        .to_owned();
    for (name, statements) in WAYS {
        write!(
            sql,
            "CREATE PROCEDURE {name}() BEGIN
               DECLARE got BIGINT;
               DECLARE i INT DEFAULT 0;
               WHILE i < 20000 AND NOT EXISTS (SELECT 1 FROM stop) DO
                 {statements}; DO SLEEP(0.005); SET i = i + 1;
               END WHILE;
             END $$\n"
        )
        .unwrap();
    }
    query(&server, &sql).unwrap();
    server
}

/// Runs statements while a procedure is running. Returns the result of the procedure, and the nodes of the rows that
/// the procedure inserted after the statements had run.
fn run_during(
    server: &MariadbServer,
    procedure: &str,
    statements: &str,
) -> (Result<String, String>, String) {
    query(server, "DELETE FROM t; DELETE FROM triggered; DELETE FROM stop;").unwrap();
    thread::scope(|scope| {
        let call = scope.spawn(|| query(server, &format!("CALL {procedure}();")));
        let last =
            || query(server, "SELECT IFNULL(MAX(x), 0) FROM t;").unwrap().parse::<u64>().unwrap();
        wait_until(|| last() > 20 || call.is_finished());
        query(server, statements).unwrap();
        let before = last();
        wait_until(|| last() > before + 20 || call.is_finished());
        query(server, "INSERT INTO stop VALUES (1);").unwrap();
        let end = call.join().unwrap();
        let since =
            format!("SELECT GROUP_CONCAT(DISTINCT (id >> 12) & 1023) FROM t WHERE x > {before};");
        (end, query(server, &since).unwrap())
    })
}

/// Until a procedure ends, `MariaDB` keeps the old version of every function that the procedure has called.
#[test]
fn mariadb_procedure_fails_if_the_node_changes_during_the_call() {
    let server = filled_server();
    for (index, (procedure, _)) in WAYS.into_iter().enumerate() {
        let (old, new) = if index % 2 == 0 { (7, 8) } else { (8, 7) };
        let (end, since) = run_during(&server, procedure, &change_node(new));
        assert!(
            !since.contains(&old.to_string()),
            "{procedure} continued with node {since}: {end:?}"
        );
        let refusal = end.expect_err(procedure);
        assert!(
            refusal.contains(&format!("Unknown column 'node_{old}'")),
            "{procedure}: {refusal}"
        );
        assert_eq!(query(&server, NODE).unwrap(), new.to_string());
    }
}

#[test]
fn mariadb_node_change_waits_for_transactions_that_generated_ids() {
    let server = filled_server();
    for (index, way) in
        ["SELECT flakeid_next();", "INSERT INTO triggered (x) VALUES (1);", "SELECT wrapped();"]
            .into_iter()
            .enumerate()
    {
        let (old, new) = if index % 2 == 0 { ("7", 8) } else { ("8", 7) };
        let mut unbuffered = client(&server);
        unbuffered.arg("--unbuffered");
        let mut session = Session::new(unbuffered);
        session.answer(&format!("START TRANSACTION; {way}"));
        thread::scope(|scope| {
            let change = scope.spawn(|| query(&server, &change_node(new)));
            let waits = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for%metadata lock';";
            wait_until(|| query(&server, waits).unwrap() == "1");
            assert_eq!(session.answer(NODE), old, "{way}");
            session.answer("COMMIT;");
            change.join().unwrap().unwrap();
        });
        assert_eq!(session.answer(NODE), new.to_string(), "{way}");
        session.end();
    }
}

/// A running procedure can still call a dropped function, so the guide requires dropping the table of positions before
/// a node is released.
#[test]
fn dropping_the_position_table_stops_mariadb_id_generation() {
    let server = filled_server();
    for (procedure, _) in &WAYS[2..] {
        let (end, since) = run_during(&server, procedure, "DROP TABLE flakeid_position;");
        assert_eq!(since, "NULL", "{procedure}: {end:?}");
        let refusal = end.expect_err(procedure);
        assert!(refusal.contains("flakeid_position' doesn't exist"), "{procedure}: {refusal}");
        query(&server, &change_node(7)).unwrap();
    }
}

/// In an older version of the script, the table has no column for the node, and the functions insert rows without
/// naming the columns.
#[test]
fn mariadb_script_upgrades_functions_from_an_older_version() {
    let server = filled_server();
    let first = query(&server, "SELECT flakeid_next();").unwrap();
    let older = "ALTER TABLE flakeid_position DROP COLUMN node_7;
        DELIMITER $$
        CREATE OR REPLACE FUNCTION wrapped() RETURNS BIGINT NOT DETERMINISTIC MODIFIES SQL DATA BEGIN
          INSERT INTO flakeid_position VALUES (NULL, CONNECTION_ID());
          DELETE FROM flakeid_position WHERE session = CONNECTION_ID();
          RETURN (LAST_INSERT_ID() >> 22 << 22) | (7 << 12) | (LAST_INSERT_ID() & 4095);
        END $$\n";
    query(&server, older).unwrap();
    // Procedures that run during the upgrade still use the older function.
    let upgrade = script("mariadb", "twitter", &["--node", "7", "--schema", "ids"]);
    let (end, since) = run_during(&server, "by_function", &upgrade);
    assert_eq!((end, since.as_str()), (Ok(String::new()), "7"));
    let second = query(&server, "SELECT flakeid_next();").unwrap();
    assert!(second > first, "{second} is not above {first}");
    // After the upgrade, changing the node stops procedures that still use the older function.
    let (end, since) = run_during(&server, "by_function", &change_node(8));
    assert_eq!(since, "NULL", "{end:?}");
    let refusal = end.expect_err("the older function");
    assert!(refusal.contains("Column count doesn't match"), "{refusal}");
    assert_eq!(query(&server, NODE).unwrap(), "8");
}

/// Restoring a dump sets the position back. The functions cannot detect the restore, so the guide requires running the
/// script again.
#[test]
fn rerunning_the_mariadb_script_after_restore_prevents_duplicate_ids() {
    let server = server();
    // A tick of this layout lasts a second, so the dump and the restore fit into one tick.
    let script = script("mariadb", "baidu-29", &["--node", "7", "--schema", "ids"]);
    query(&server, &script).unwrap();
    let many = "SELECT flakeid_next() FROM seq_1_to_50;";
    query(&server, many).unwrap();
    let dump = server.dump();
    let mut seen: HashSet<i64> = ids(&query(&server, many).unwrap()).into_iter().collect();
    server.load(&dump);
    query(&server, &format!("DROP FUNCTION flakeid_own_node;\n{script}")).unwrap();
    for id in ids(&query(&server, many).unwrap()) {
        assert!(seen.insert(id), "{id} was issued twice");
    }
}
