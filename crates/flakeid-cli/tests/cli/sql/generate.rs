//! Tests of the `PostgreSQL` functions that generate IDs: in open transactions, with incorrect
//! clocks, and in batches.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use flakeid_core::{Id, Layout};
use flakeid_test_servers::{PostgresServer, Server};

use super::{OUTCOME, ids, psql, script};

/// Returns a script that uses a simulated clock instead of the system clock. The table `test_clock`
/// contains the time in Unix milliseconds, and each sleep advances this time.
pub(super) fn with_manual_clock(layout: &str, node: u64, schema: &str) -> String {
    let script = script(layout, &["--node", &node.to_string(), "--schema", schema]);
    let replaced = script.replace("clock_timestamp()", "public.test_now()");
    assert_ne!(replaced, script);
    let waiting = replaced.replace("pg_sleep(", "public.test_sleep(");
    assert_ne!(waiting, replaced);
    format!("CREATE SCHEMA {schema};\n{waiting}")
}

pub(super) const MANUAL_CLOCK: &str = "
    CREATE TABLE test_clock (ms bigint);
    INSERT INTO test_clock VALUES (1505914988849);
    CREATE FUNCTION test_now() RETURNS timestamptz LANGUAGE sql AS $$
        SELECT timestamptz 'epoch' + ms * interval '1 ms' FROM public.test_clock $$;
    CREATE FUNCTION test_sleep(seconds numeric) RETURNS void LANGUAGE sql AS $$
        UPDATE public.test_clock SET ms = ms + (seconds * 1000)::bigint $$;";

/// An uncommitted insert must not make other transactions wait, even after a rollback to a
/// savepoint.
#[test]
fn open_transaction_does_not_block_other_sessions() {
    let server = PostgresServer::new();
    psql(&server, &script("twitter", &["--node", "7"])).unwrap();
    psql(&server, "CREATE TABLE t (id bigint DEFAULT flakeid_next() PRIMARY KEY, x int);").unwrap();
    let open = "BEGIN; INSERT INTO t (x) VALUES (1); SAVEPOINT s; INSERT INTO t (x) SELECT flakeid_sequence(id) \
                FROM flakeid_next_n(5000) id; ROLLBACK TO s; SELECT flakeid_next(); SELECT pg_sleep(60);";
    let mut holder = session(&server, open);
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND state = 'active' \
                 AND pid <> pg_backend_pid();";
    let deadline = Instant::now() + Duration::from_secs(30);
    while psql(&server, waits).unwrap() != "1" {
        assert!(Instant::now() < deadline, "the transaction makes no progress");
    }
    let locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory';";
    assert_eq!(psql(&server, locks).unwrap(), "0");
    let sql = "SET lock_timeout = '1s'; SET statement_timeout = '10s';
               INSERT INTO t (x) SELECT generate_series(1, 20000) RETURNING id;
               SELECT flakeid_next_n(20000);";
    let mut all = ids(&psql(&server, sql).unwrap());
    assert!(all.is_sorted_by(|a, b| a < b), "IDs of one session strictly increase");
    all.dedup();
    assert_eq!(all.len(), 40_000);
    holder.kill().unwrap();
    holder.wait().unwrap();
}

fn session(server: &PostgresServer, sql: &str) -> Child {
    let mut psql = Command::new("psql");
    psql.args(["-X", "-q", "-A", "-t", "-c", sql, &server.url()]);
    psql.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the package postgresql-client")
}

/// The SQL functions handle clock errors by the same rules as the Rust core, and report the same
/// error codes.
#[test]
fn postgres_waits_or_fails_when_the_clock_goes_back() {
    let server = PostgresServer::new();
    psql(&server, &format!("{OUTCOME}{MANUAL_CLOCK}")).unwrap();
    let layout = Layout::TWITTER;
    psql(&server, &with_manual_clock("twitter", 7, "ids")).unwrap();
    let at = |ms: i64, query: &str| {
        let sql =
            format!("UPDATE test_clock SET ms = {ms}; SELECT outcome({});", super::literal(query));
        psql(&server, &sql).unwrap()
    };
    let next = |ms: i64| at(ms, "SELECT ids.flakeid_next()");
    let parts = |answer: &str| {
        let id = answer.parse().unwrap_or_else(|_| panic!("{answer}"));
        let parts = layout.unpack(Id::from_i64(id)).unwrap();
        (parts.unix_ms, parts.sequence)
    };
    let start = 1_505_914_988_849;
    // An earlier user of the node may have used the tick in which the script was installed, so the
    // first call waits for the next tick.
    assert_eq!(parts(&next(start)), (start + 1, 0));
    assert_eq!(parts(&next(start + 1)), (start + 1, 1));
    // If the clock goes back slightly, calls first use up the latest tick, and then wait until the
    // clock catches up.
    assert_eq!(parts(&next(start - 500)), (start + 1, 2));
    assert_eq!(at(start + 1, "SELECT count(*) FROM ids.flakeid_next_n(4093)"), "4093");
    assert_eq!(parts(&next(start - 500)), (start + 2, 0));
    // The clock goes back by more than the maximum time for which a call waits.
    assert_eq!(at(start + 2, "SELECT count(*) FROM ids.flakeid_next_n(4095)"), "4095");
    let refusal = next(start - 3_600_000);
    assert!(
        refusal.starts_with(
            "IDCLK FLAKEID_CLOCK_ROLLBACK: the clock went back: the latest ID is 3600002 ms ahead"
        ),
        "{refusal}"
    );
    // The rejected call changes no state, so the next ID belongs to the clock's current tick.
    assert_eq!(parts(&next(start + 10)), (start + 10, 0));
    let refusal = next(layout.epoch() - 1);
    assert!(refusal.starts_with("IDEPO FLAKEID_BEFORE_EPOCH: the clock reads"), "{refusal}");
    assert!(refusal.contains("before the layout's epoch, 2010-11-04T01:42:54.657Z"), "{refusal}");
    assert_eq!(parts(&next(layout.horizon() - 1)), (layout.horizon() - 1, 0));
    let refusal = next(layout.horizon());
    assert!(refusal.starts_with("IDHOR FLAKEID_HORIZON_REACHED"), "{refusal}");
    let refusal = at(start, "SELECT ids.flakeid_next_n(-1)");
    assert!(refusal.starts_with("IDRNG FLAKEID_FIELD_OUT_OF_RANGE: count -1"), "{refusal}");
    full_ticks(&server);
}

/// Checks calls in a tick whose sequence numbers are used up. The tick never ends, because sleeping
/// does not advance the clock.
fn full_ticks(server: &PostgresServer) {
    let stuck =
        with_manual_clock("sonyflake", 65_535, "stuck").replace("public.test_sleep(", "abs(");
    psql(server, &format!("UPDATE test_clock SET ms = 1505914988849; {stuck}")).unwrap();
    let sql = "UPDATE test_clock SET ms = 1505914988860; SELECT outcome('SELECT count(*) FROM stuck.flakeid_next_n(256)');
               SELECT outcome('SELECT stuck.flakeid_next()');";
    let answer = psql(server, sql).unwrap();
    let (all, refusal) = answer.split_once('\n').unwrap();
    assert_eq!(all, "256");
    assert!(refusal.starts_with("IDSEQ FLAKEID_SEQUENCE_EXHAUSTED"), "{refusal}");
    assert!(refusal.ends_with("the next number is free in 10 ms"), "{refusal}");
}

/// Layouts of every kind, each with a node number.
pub(super) const SHAPES: [(&str, u64); 10] = [
    ("twitter", 1023),
    ("sonyflake", 65_535),
    ("js-safe", 63),
    ("plain", 0),
    ("baidu-29", 2_097_151),
    ("t41@1577836800000/1ms", 0),
    ("t41.s22@1577836800000/1ms", 0),
    ("t39.c2.n8.s12@1577836800000/1ms", 255),
    ("t41.r2.n10.s10@1577836800000/1ms", 1023),
    ("t62.n1@0/1ms", 1),
];

/// For every kind of layout, the functions generate IDs both one by one and in batches. The IDs are
/// ordered, and the core can decode them.
#[test]
fn postgres_generates_ordered_ids_for_every_kind_of_layout() {
    let server = PostgresServer::new();
    for (index, (name, node)) in SHAPES.into_iter().enumerate() {
        let layout: Layout = name.parse().unwrap();
        let schema = format!("g{index}");
        let script = script(name, &["--node", &node.to_string(), "--schema", &schema]);
        psql(&server, &format!("CREATE SCHEMA {schema};\n{script}")).unwrap();
        let sql = format!(
            "SELECT {schema}.flakeid_next() FROM generate_series(1, 20);
             SELECT {schema}.flakeid_next_n(30);
             SELECT {schema}.flakeid_next();
             SELECT {schema}.flakeid_next_n(0);
             SELECT {schema}.flakeid_time({schema}.flakeid_next()) BETWEEN
               clock_timestamp() - make_interval(secs => {} / 1000.0) AND clock_timestamp();",
            layout.unit_ms() + 2000
        );
        let answer = psql(&server, &sql).unwrap();
        let (issued, is_now) = answer.rsplit_once('\n').unwrap();
        assert_eq!(is_now, "t", "{name}");
        let issued = ids(issued);
        assert_eq!(issued.len(), 51, "{name}");
        assert!(issued.is_sorted_by(|a, b| a < b), "{name}: {issued:?}");
        for id in issued {
            let parts = layout.unpack(Id::from_i64(id)).unwrap();
            assert_eq!((parts.node, parts.clock_sequence), (node, 0), "{name}");
        }
    }
}
