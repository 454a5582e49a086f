//! Tests of incorrect clocks on `MariaDB`. Calls wait if the clock error is small, and are rejected
//! if the clock error is large.

use flakeid_core::{Id, Layout, Parts};
use flakeid_test_servers::MariadbServer;

use super::mariadb::{query, script, server};

const START: i64 = 1_505_914_988_849;

/// A server that generates IDs on node 7 with a simulated clock. The table `test_clock` contains
/// the time, and each sleep advances this time.
struct Clocked(MariadbServer);

impl Clocked {
    fn new() -> Self {
        let server = server();
        let clock = "CREATE TABLE test_clock (ms BIGINT) ENGINE = InnoDB;
            INSERT INTO test_clock VALUES (1505914988849);
            DELIMITER $$
            CREATE FUNCTION test_now() RETURNS DATETIME(6) READS SQL DATA
              RETURN (SELECT TIMESTAMPADD(MICROSECOND, ms * 1000, '1970-01-01 00:00:00.000000') FROM test_clock) $$
            CREATE FUNCTION test_sleep(seconds DECIMAL(20, 4)) RETURNS INT MODIFIES SQL DATA
            BEGIN UPDATE test_clock SET ms = ms + seconds * 1000; RETURN 0; END $$
            DELIMITER ;\n";
        let script = script("mariadb", "twitter", &["--node", "7", "--schema", "ids"]);
        let manual =
            script.replace("SYSDATE(6)", "test_now()").replace("DO SLEEP(", "DO test_sleep(");
        assert!(manual.matches("test_").count() >= 3);
        query(&server, &format!("{clock}{manual}")).unwrap();
        Self(server)
    }

    /// Sets the clock to an instant. Returns the value of an expression, or the server's error.
    fn at(&self, ms: i64, expression: &str) -> String {
        let sql = format!("UPDATE test_clock SET ms = {ms}; SELECT {expression};");
        query(&self.0, &sql).unwrap_or_else(|refusal| refusal)
    }

    fn next(&self, ms: i64) -> String {
        self.at(ms, "flakeid_next()")
    }

    /// Sets the clock to an instant, and generates `count` IDs. Returns the number of generated
    /// IDs, or the server's error.
    fn many(&self, ms: i64, count: u32) -> String {
        self.at(ms, &format!("COUNT(flakeid_next()) FROM seq_1_to_{count}"))
    }
}

/// Returns the tick of an ID in Unix milliseconds, and the sequence number of the ID.
fn parts(answer: &str) -> (i64, u64) {
    let id = answer.parse().unwrap_or_else(|_| panic!("{answer}"));
    let Parts { unix_ms, sequence, .. } = Layout::TWITTER.unpack(Id::from_i64(id)).unwrap();
    (unix_ms, sequence)
}

/// The SQL functions handle clock errors by the same rules as the Rust core, and report the same
/// error codes.
#[test]
fn mariadb_tolerates_small_clock_rollbacks_and_rejects_large_ones() {
    let clocked = Clocked::new();
    let layout = Layout::TWITTER;
    let next = |ms| clocked.next(ms);
    assert_eq!(parts(&next(START)), (START + 1, 0));
    assert_eq!(parts(&next(START + 1)), (START + 1, 1));
    // If the clock goes back slightly, the call waits until the clock catches up. The sequence
    // number that the call took before the wait is lost.
    assert_eq!(parts(&next(START - 500)), (START + 1, 3));
    assert_eq!(clocked.many(START + 1, 4092), "4092");
    assert_eq!(parts(&next(START - 500)), (START + 2, 0));
    // The clock goes back by more than the maximum time for which a call waits.
    assert_eq!(clocked.many(START + 2, 4095), "4095");
    let refusal = next(START - 3_600_000);
    let expected = "(IDCLK) at line 1: FLAKEID_CLOCK_ROLLBACK: the clock went back: the latest ID is 3600002 ms ahead";
    assert!(refusal.contains(expected), "{refusal}");
    assert_eq!(parts(&next(START + 10)), (START + 10, 0));
    let refusal = next(layout.epoch() - 1);
    assert!(
        refusal.contains("(IDEPO) at line 1: FLAKEID_BEFORE_EPOCH: the clock reads"),
        "{refusal}"
    );
    assert_eq!(parts(&next(layout.horizon() - 1)), (layout.horizon() - 1, 0));
    let refusal = next(layout.horizon());
    assert!(refusal.contains("(IDHOR) at line 1: FLAKEID_HORIZON_REACHED"), "{refusal}");
}

/// Each rejected call uses up a position. After enough rejected calls, the next position belongs to
/// the next tick.
#[test]
fn mariadb_keeps_rejecting_calls_until_the_clock_catches_up() {
    let clocked = Clocked::new();
    let hour = START + 3_600_000;
    let tick = hour - Layout::TWITTER.epoch();
    assert_eq!(parts(&clocked.next(hour)), (hour, 0));
    // About four million rejected calls would reach this position. Only three more positions of the
    // tick would then be left.
    let place = (tick << 22) + (1 << 22) - 4;
    let sql = format!(
        "INSERT INTO flakeid_position (value, session) VALUES ({place}, 0);
         DELETE FROM flakeid_position WHERE value = {place};"
    );
    query(&clocked.0, &sql).unwrap();
    for call in 1..=8 {
        let refusal = clocked.next(START);
        assert!(
            refusal.contains("FLAKEID_CLOCK_ROLLBACK: the clock went back"),
            "{call}: {refusal}"
        );
    }
    // The clock has caught up with the latest ID. The tick of that ID is used up, so the next ID
    // belongs to the next tick.
    assert_eq!(parts(&clocked.next(hour)).0, hour + 1);
    assert_eq!(clocked.many(hour + 1, 4000), "4000");
}

/// A call waits while the clock is behind the latest ID by less than a second, even if the tick of
/// that ID is not used up.
#[test]
fn mariadb_issues_no_id_ahead_of_the_clock() {
    let clocked = Clocked::new();
    assert_eq!(parts(&clocked.next(START + 5)), (START + 5, 0));
    for back in [1, 5, 900] {
        let (tick, _) = parts(&clocked.next(START + 5 - back));
        let clock = query(&clocked.0, "SELECT ms FROM test_clock;").unwrap();
        assert_eq!(clock, tick.to_string(), "{back} ms");
    }
    let refusal = clocked.next(START + 5 - 1500);
    assert!(refusal.contains("the latest ID is 1500 ms ahead of it"), "{refusal}");
    assert_eq!(parts(&clocked.next(START + 6)), (START + 6, 0));
}
