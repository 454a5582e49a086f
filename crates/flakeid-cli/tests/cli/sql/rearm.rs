//! Tests of changing the node of a database with `flakeid_rearm` while transactions are open. After
//! the change, no transaction may issue an ID with the old node.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use flakeid_test_servers::{PostgresServer, Server};

use super::session::{Session, psql_client};
use super::{SetOnDrop, ids, psql, psql_at, script, wait_until};

const NODE: &str = "SELECT flakeid_node(flakeid_next());";

/// Starts a server that generates IDs on node 7. Its database `ids` contains tables and functions
/// for the tests.
fn server() -> PostgresServer {
    let server = PostgresServer::new();
    psql(&server, &script("twitter", &["--node", "7"])).unwrap();
    psql(
        &server,
        "CREATE TABLE t (id bigint DEFAULT flakeid_next() PRIMARY KEY, x int);
         CREATE TABLE calls (id bigint DEFAULT 0);
         CREATE FUNCTION set_id() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN NEW.id := flakeid_next(); RETURN NEW; END $$;
         CREATE TRIGGER calls_id BEFORE INSERT ON calls FOR EACH ROW EXECUTE FUNCTION set_id();
         CREATE FUNCTION inlined() RETURNS bigint LANGUAGE sql AS 'SELECT flakeid_next()';",
    )
    .unwrap();
    server
}

fn session(server: &PostgresServer) -> Session {
    Session::new(psql_client(&server.url()))
}

/// The number of node changes while two databases exchange nodes.
const MOVES: usize = 24;

/// Statements that generate IDs in different ways within a transaction.
const WAYS: [&str; 9] = [
    "SELECT flakeid_next();",
    "SELECT count(*) FROM flakeid_next_n(5000);",
    "INSERT INTO t DEFAULT VALUES;",
    "INSERT INTO calls DEFAULT VALUES;",
    "SELECT inlined();",
    "EXECUTE prepared;",
    "SAVEPOINT s; SELECT flakeid_next(); ROLLBACK TO s;",
    "DO $$ BEGIN PERFORM flakeid_next(); RAISE 'undone'; EXCEPTION WHEN raise_exception THEN NULL; END $$;",
    "DECLARE c CURSOR FOR SELECT flakeid_next() FROM generate_series(1, 9); FETCH c;",
];

#[test]
fn rearm_fails_during_open_transactions_that_generated_ids() {
    let server = server();
    let mut session = session(&server);
    session.answer(&format!("PREPARE prepared AS {}", WAYS[0]));
    let pid = session.answer("SELECT pg_backend_pid();");
    for way in WAYS {
        // PostgreSQL caches plans from the sixth execution on, so the test executes the statement
        // seven times.
        assert_eq!(session.answer(&NODE.repeat(7)).lines().last(), Some("7"));
        session.answer(&format!("BEGIN; {way}"));
        let answer = psql(&server, "SELECT flakeid_rearm(8);");
        let node = session.answer(NODE);
        let refusal = answer.expect_err(&format!("{way}: the next ID is of node {node}"));
        let expected = format!(
            "transactions that have taken IDs are still open in these server processes: {pid}\n"
        );
        assert!(refusal.contains(&expected), "{refusal}");
        assert!(refusal.contains("HINT:") && node == "7", "{node}: {refusal}");
        session.answer("COMMIT;");
    }
    // After the transactions have ended, the node can change, and no cached plan contains the old
    // node.
    psql(&server, "SELECT flakeid_rearm(8);").unwrap();
    for way in &WAYS[..6] {
        assert_eq!(
            session.answer(&format!("BEGIN; {way} COMMIT; {NODE}")).lines().last(),
            Some("8")
        );
    }
    session.end();
}

#[test]
fn rearm_changes_the_node_of_transactions_that_have_taken_no_id() {
    let server = server();
    for (begin, then) in [
        ("BEGIN; SELECT 1;", NODE),
        ("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM t;", NODE),
        ("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t;", "EXECUTE prepared;"),
        ("BEGIN; SELECT 1;", "SELECT DISTINCT flakeid_node(id) FROM flakeid_next_n(9000) id;"),
        ("BEGIN; SELECT 1;", "INSERT INTO t DEFAULT VALUES RETURNING flakeid_node(id);"),
        ("BEGIN; DECLARE c CURSOR FOR SELECT flakeid_node(flakeid_next()) FROM t;", "FETCH c;"),
    ] {
        psql(&server, "SELECT flakeid_rearm(7);").unwrap();
        let mut session = session(&server);
        session.answer(&format!("PREPARE prepared AS {NODE}"));
        // After seven executions, the session has cached every plan that can be cached.
        session.answer(&"EXECUTE prepared; INSERT INTO t DEFAULT VALUES;".repeat(7));
        session.answer(begin);
        psql(&server, "SELECT flakeid_rearm(8);").unwrap();
        assert_eq!(session.answer(then), "8", "{then}");
        session.end();
    }
}

/// A procedure that commits in a loop runs many transactions in a single call.
#[test]
fn rearm_changes_the_node_of_a_running_procedure() {
    let server = server();
    let sql = "CREATE TABLE stop ();
               CREATE PROCEDURE fill() LANGUAGE plpgsql AS $$ BEGIN
                 FOR x IN 1 .. 20000 LOOP
                   INSERT INTO t (x) VALUES (x);
                   COMMIT;
                   EXIT WHEN EXISTS (SELECT FROM stop);
                   PERFORM pg_sleep(0.005);
                 END LOOP;
               END $$;";
    psql(&server, sql).unwrap();
    let count = |node| {
        let sql = format!("SELECT count(*) FROM t WHERE flakeid_node(id) = {node};");
        psql(&server, &sql).unwrap().parse::<u64>().unwrap()
    };
    thread::scope(|scope| {
        let call = scope.spawn(|| psql(&server, "CALL fill();"));
        wait_until(|| count(7) > 20);
        rearm(&server.url(), 8);
        let before = count(7);
        wait_until(|| count(8) > 20);
        psql(&server, "INSERT INTO stop DEFAULT VALUES;").unwrap();
        call.join().unwrap().unwrap();
        assert_eq!(count(7), before, "rows of node 7 after flakeid_rearm(8)");
    });
}

/// Calls `flakeid_rearm` until the call succeeds. The call fails while transactions are open, and
/// on a busy machine a transaction may stay open for a second.
fn rearm(url: &str, node: u32) {
    wait_until(|| match psql_at(url, &format!("SELECT flakeid_rearm({node});")) {
        Ok(_) => true,
        Err(refusal) => {
            assert!(
                refusal.contains("transactions that have taken IDs are still open"),
                "{refusal}"
            );
            false
        }
    });
}

/// Two databases exchange three nodes. Each database gets the node that the other database has just
/// released.
#[test]
fn databases_issue_distinct_ids_while_exchanging_nodes() {
    let server = server();
    server.sql_in("postgres", "CREATE DATABASE other OWNER flakeid").unwrap();
    let urls = [server.url(), server.url_of("flakeid", PostgresServer::PASSWORD, "other", "")];
    psql_at(&urls[1], &script("twitter", &["--node", "9"])).unwrap();
    let over = AtomicBool::new(false);
    let mut seen = HashSet::new();
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for url in urls.iter().flat_map(|url| [url, url, url]) {
            let over = &over;
            workers.push(scope.spawn(move || {
                let mut session = Session::new(psql_client(url));
                let mut issued = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    // An open transaction that still used the old node could issue the same IDs as
                    // the other database.
                    session.answer("BEGIN;");
                    for _ in 0..30 {
                        issued.extend(ids(&session.answer("SELECT flakeid_next_n(100);")));
                        thread::sleep(Duration::from_millis(2));
                    }
                    session.answer("COMMIT;");
                }
                session.end();
                issued
            }));
        }
        {
            // The guard ends the sessions even if an assertion fails.
            let _end = SetOnDrop(&over);
            exchange_nodes(&urls);
        }
        for worker in workers {
            for id in worker.join().unwrap() {
                assert!(seen.insert(id), "{id} was issued twice");
            }
        }
    });
    assert!(seen.len() > 1000 * MOVES, "{} IDs", seen.len());
}

/// Changes the nodes of the two databases alternately.
fn exchange_nodes(urls: &[String; 2]) {
    let mut free = 8;
    let mut nodes = [7, 9];
    for round in 0..MOVES {
        let which = round % 2;
        rearm(&urls[which], free);
        std::mem::swap(&mut free, &mut nodes[which]);
        if which == 1 {
            thread::sleep(Duration::from_millis(30));
        }
    }
}

/// The guide requires dropping the sequence `flakeid_position` before a node is released.
#[test]
fn dropping_the_sequence_waits_for_transactions_that_generated_ids() {
    let server = server();
    let mut session = session(&server);
    session.answer(
        "PREPARE prepared AS SELECT flakeid_next(); EXECUTE prepared; BEGIN; EXECUTE prepared;",
    );
    let drop = "SET lock_timeout = '100ms'; DROP SEQUENCE flakeid_position;";
    let refusal = psql(&server, drop).unwrap_err();
    assert!(refusal.contains("lock timeout"), "{refusal}");
    session.answer("COMMIT; BEGIN; SELECT 1;");
    psql(&server, drop).unwrap();
    let refusal = session.refusal("EXECUTE prepared;");
    assert!(refusal.contains("could not open relation"), "{refusal}");
    // A new sequence does not contain the latest position, so the functions treat the new sequence
    // like a sequence that was restored from a dump.
    psql(&server, &script("twitter", &["--node", "7"])).unwrap();
    let refusal = psql(&server, NODE).unwrap_err();
    assert!(refusal.contains("FLAKEID_FORKED"), "{refusal}");
    psql(&server, "SELECT flakeid_rearm(7);").unwrap();
    assert_eq!(psql(&server, NODE).unwrap(), "7");
}
