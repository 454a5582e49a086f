//! Tests that run the schedules of the test vectors in a database. A schedule contains clock
//! readings and calls, for which the database must issue the same IDs as the Rust generator.

use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_test_servers::PostgresServer;
use serde_json::{Value, json};

use super::generate::{MANUAL_CLOCK, with_manual_clock};
use super::{OUTCOME, array, literal, psql, text, vectors};

/// Whether a database can run a schedule. The schedule must use a fixed node, and its options for
/// overflow and rollback must match the behaviour of the script.
fn is_applicable(schedule: &Value, layout: &Layout) -> bool {
    schedule["window"].is_null()
        && schedule["options"] == json!({"overflow": "wait", "rollback": "continue"})
        && schedule["build_error"].is_null()
        && layout.width() < 64
        // `flakeid sql` does not print a script for generating IDs if the layout's horizon has
        // passed.
        && layout.horizon() > SystemClock.unix_ms()
        && layout.tick_at(text(&schedule["clock"]).parse().unwrap()).is_ok()
}

#[test]
fn postgres_issues_the_ids_expected_by_the_test_vectors() {
    let server = PostgresServer::new();
    psql(&server, &format!("{OUTCOME}{MANUAL_CLOCK}")).unwrap();
    let (mut schedules, mut calls) = (0, 0);
    for schedule in array(&vectors("schedules.json")["schedules"]) {
        let layout: Layout = text(&schedule["layout"]).parse().unwrap();
        if is_applicable(schedule, &layout) {
            calls += follow(&server, schedule, &layout, &format!("s{schedules}"));
            schedules += 1;
        }
    }
    assert!(schedules >= 5 && calls >= 20, "{schedules} schedules, {calls} calls");
}

/// Runs a schedule in a database, compares the results, and returns the number of compared calls.
fn follow(server: &PostgresServer, schedule: &Value, layout: &Layout, schema: &str) -> usize {
    let node = text(&schedule["node"]).parse().unwrap();
    let name = text(&schedule["name"]);
    psql(server, &with_manual_clock(text(&schedule["layout"]), node, schema)).unwrap();
    // The tick before the start of the schedule is marked as used up. The database may then issue
    // IDs in the first tick, like a generator with a manual clock.
    let clock: i64 = text(&schedule["clock"]).parse().unwrap();
    let begin = layout.tick_at(clock).unwrap();
    psql(server, &format!("UPDATE test_clock SET ms = {clock};")).unwrap();
    let slot_bits = 63 - (64 - layout.max_tick().leading_zeros()).min(44);
    psql(
        server,
        &format!(
            "SELECT setval('{schema}.flakeid_position', greatest(({begin}::bigint << {slot_bits}) - 1, 0), {begin} > 0);"
        ),
    )
    .unwrap();
    let mut compared = 0;
    for step in array(&schedule["steps"]) {
        if let Some(clock) = step["clock"].as_str() {
            psql(server, &format!("UPDATE test_clock SET ms = {clock};")).unwrap();
        }
        let expect = &step["expect"];
        let query = match text(&step["call"]) {
            "next_id" => format!("SELECT {schema}.flakeid_next()"),
            // A database always waits, so a `try_` call is skipped if the schedule expects an
            // error.
            "try_next_id" if expect["error"].is_null() => format!("SELECT {schema}.flakeid_next()"),
            "fill" | "try_fill" if expect["error"].is_null() => {
                format!(
                    "SELECT count(*) || ' ' || min(id) || ' ' || max(id) FROM {schema}.flakeid_next_n({}) id",
                    expect["count"]
                )
            }
            "fill" => format!("SELECT count(*) FROM {schema}.flakeid_next_n({})", step["n"]),
            "retire" => break,
            _ => continue,
        };
        let answer = psql(server, &format!("SELECT outcome({});", literal(&query))).unwrap();
        compared += 1;
        if let Some(code) = expect["error"].as_str() {
            assert!(answer.contains(code), "{name}: {answer}, not {code}");
            continue;
        }
        let expected = match expect["id"].as_str() {
            Some(id) => id.to_owned(),
            None if expect["count"] == 0 => continue,
            None => {
                format!("{} {} {}", expect["count"], text(&expect["first"]), text(&expect["last"]))
            }
        };
        assert_eq!(answer, expected, "{name}: {step}");
        let shown = psql(server, "SELECT ms FROM test_clock;").unwrap();
        if text(&step["call"]) != "try_fill" {
            assert_eq!(shown, text(&step["clock_after"]), "{name}: {step}");
        }
    }
    compared
}
