//! Tests of `flakeid leases` without a terminal. The tests in `operator.rs` run `flakeid leases` on
//! a terminal.

use std::path::Path;
use std::thread;
use std::time::Duration;

use flakeid_core::{Clock, Id, Layout, SystemClock};
use serde_json::{Value, json};

use crate::refusals::refused;
use crate::run::{Run, run, run_and_close, scratch, start};

/// Runs `flakeid leases` with the given store.
fn leases(url: &str, args: &[&str]) -> Run {
    run(&[&["leases"], args, &["--store", url]].concat())
}

fn rows(url: &str) -> Vec<Value> {
    leases(url, &["ls", "--all"]).quiet().json()
}

fn row(url: &str, node: u64) -> Value {
    rows(url).into_iter().find(|row| row["node"] == node).unwrap_or(Value::Null)
}

/// Leases a node in a new process, kills the process, and returns its process ID.
pub(crate) fn die_with(url: &str, node: &str) -> u32 {
    let mut child = start(&["next", "-n", "1000000000", "--store", url, "--node", node]);
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0; 100]).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    child.id()
}

#[test]
fn init_creates_missing_namespaces_and_keeps_existing_namespaces() {
    let (_, url) = scratch("init");
    let created = leases(&url, &["init", "--namespace", "orders", "--max-window", "2min"]).quiet();
    assert_eq!(
        created.json(),
        [json!({
            "namespace": "orders", "created": true, "layout": "twitter",
            "block_bits": 0, "max_window_ms": 120_000, "max_ahead_ms": 20_000, "max_skew_ms": 1_000, "quiet_ms": 125_000,
            "history": true, "wait_ms": 0,
        })]
    );
    for args in [&[] as &[&str], &["--max-window", "2min", "--max-skew", "1s"]] {
        let again = leases(&url, &[&["init", "--namespace", "orders"], args].concat()).quiet();
        assert_eq!(again.json()[0]["created"], false);
    }
    for (option, part) in [
        (
            &["--max-skew", "2s"] as &[&str],
            "--max-skew: is 2000 ms, but namespace \"orders\" exists with 1000 ms",
        ),
        (&["--no-history"], "--no-history: namespace \"orders\" exists with a history"),
    ] {
        let other = leases(&url, &[&["init", "--namespace", "orders"], option].concat());
        refused(&other, "FLAKEID_INVALID_OPTION", &[part]);
    }
    let other = leases(&url, &["init", "--namespace", "orders", "--layout", "sonyflake"]);
    refused(&other, "FLAKEID_STORE_REJECTED", &["\"orders\" is for the layout t41.d5.w5.s12@"]);
    let sonyflake = leases(&url, &["init", "--layout", "sonyflake", "--no-history"]).quiet();
    assert_eq!(
        (&sonyflake.json()[0]["layout"], &sonyflake.json()[0]["history"]),
        (&json!("sonyflake"), &json!(false))
    );
}

#[test]
fn init_rejects_invalid_options() {
    const OPTION: &str = "FLAKEID_INVALID_OPTION";
    const RANGE: &str = "FLAKEID_FIELD_OUT_OF_RANGE";
    let (_, url) = scratch("init_refused");
    for (args, code, part) in [
        (&["--max-window", "1"] as &[&str], OPTION, "--max-window: \"1\" is not a duration"),
        (&["--max-ahead", "-1s"], OPTION, "--max-ahead: \"-1s\" is not"),
        (
            &["--max-window", "1ms"],
            RANGE,
            "FIELD_OUT_OF_RANGE: --max-window 1 ms is out of range: must be from 2",
        ),
        (&["--max-ahead", "2d"], RANGE, "--max-ahead 172800000 ms is out of range"),
        (
            &["--lost", "1h"],
            OPTION,
            "--lost: \"1h\" is not WINDOW,AHEAD,SKEW: write the three bounds of the namespace that was \
             lost, such as 10s,20s,1s, or default",
        ),
        (&["--lost", ""], OPTION, "--lost: \"\" is not WINDOW,AHEAD,SKEW"),
        (&["--lost", "1h,20s,5s,2h,1s"], OPTION, "is not WINDOW,AHEAD,SKEW"),
        (
            &["--lost", "1h,20s,5s,1s"],
            OPTION,
            "--lost: --quiet 1000 ms is out of range: must be from 3610001 to 604800000 ms",
        ),
        (
            &["--quiet", "11s"],
            RANGE,
            "--quiet 11000 ms is out of range: must be from 12001 to 604800000 ms",
        ),
        (&["--lost", "usual"], OPTION, "--lost: \"usual\" is not"),
        (
            &["--lost", "1h,20,5s"],
            OPTION,
            "--lost: \"20\" is not a duration; write it as 500ms, 20s, 5min, 2h or 3d",
        ),
        (&["--lost", "-1h,20s,5s"], OPTION, "--lost: \"-1h\" is not a duration"),
        (
            &["--lost", "1ms,20s,5s"],
            OPTION,
            "--lost: --max-window 1 ms is out of range: must be from 2 to 86400000 ms",
        ),
        (
            &["--lost", "20s,2d,5s"],
            OPTION,
            "--lost: --max-ahead 172800000 ms is out of range: must be from 0 to 86400000 ms",
        ),
        (
            &["--lost", "20s,20s,0s"],
            OPTION,
            "--lost: --max-skew 0 ms is out of range: must be from 1 to 86400000 ms",
        ),
        (
            &["--lost", "1h", "--layout", "t40.n10.s8@0/10s"],
            OPTION,
            "such as 40s,40s,1s, or default",
        ),
        (&["--namespace", ""], OPTION, "must have 1 to 64 characters"),
        (&["--layout", "nope"], "FLAKEID_INVALID_LAYOUT", "neither a preset"),
    ] {
        refused(&leases(&url, &[&["init"], args].concat()), code, &[part]);
    }
    let both = leases(&url, &["init", "--fresh", "--lost", "default"]);
    assert_eq!((both.code, both.text()), (Some(2), ""));
    assert!(both.stderr.contains("'--fresh' cannot be used with '--lost"), "{}", both.stderr);
}

/// An embedded store detects lost data itself, so --fresh and --lost are allowed but not required.
#[test]
fn init_accepts_the_flags_fresh_and_lost_for_embedded_stores() {
    let (_, url) = scratch("init_lost");
    let init = |args: &[&str]| leases(&url, &[&["init"], args].concat());
    assert_eq!(init(&["--namespace", "new", "--fresh"]).quiet().json()[0]["wait_ms"], 0);
    let created = init(&["--namespace", "old", "--lost", "1h,20s,5s"]).quiet().json()[0].clone();
    assert_eq!((&created["created"], &created["max_window_ms"]), (&json!(true), &json!(10_000)));
    // The wait is the sum of the lost namespace's `max_window` and three times its `max_skew`.
    let wait_ms = created["wait_ms"].as_u64().unwrap();
    assert!((3_590_000..=3_625_000).contains(&wait_ms), "{created}");
    let next = run(&["next", "--store", &url, "--namespace", "old"]);
    assert_eq!(next.code, Some(1));
    assert!(next.stderr.contains("FLAKEID_FENCE_IN_FUTURE"), "{}", next.stderr);
    run(&["next", "--store", &url, "--namespace", "new"]).quiet();

    // A later `init` reports the remaining waiting time.
    let again = init(&["--namespace", "old"]).quiet().json()[0].clone();
    assert_eq!(again["created"], false);
    assert!(again["wait_ms"].as_u64().unwrap() <= wait_ms, "{again}");
    let late = init(&["--namespace", "new", "--lost", "default"]);
    assert_eq!((late.code, &late.json()[0]["wait_ms"]), (Some(0), &json!(0)));
    let parts = ["already exists, so --lost has no effect", "flakeid leases fast-forward"];
    assert!(parts.iter().all(|part| late.stderr.contains(part)), "{}", late.stderr);
    init(&["--namespace", "new", "--fresh"]).quiet();
}

#[test]
fn ls_lists_nodes_with_their_holders_and_states() {
    let (_, url) = scratch("ls");
    let pid = die_with(&url, "7");
    run(&["next", "--store", &url, "--node", "8"]).quiet();
    leases(&url, &["quarantine", "9", "--yes"]).quiet();
    let shown = leases(&url, &["ls"]).quiet().json();
    let nodes: Vec<&Value> = shown.iter().map(|row| &row["node"]).collect();
    assert_eq!(nodes, [7, 9], "free nodes are not shown");
    let states: Vec<Value> = rows(&url).iter().map(|row| row["state"].clone()).collect();
    assert_eq!(states, ["held", "free", "quarantined"]);
    let held = row(&url, 7);
    assert_eq!(
        (&held["pid"], &held["grant"], &held["namespace"]),
        (&json!(pid), &json!(1), &json!("default"))
    );
    assert_eq!(held["owner"], Value::Null);
    let (fence, now) =
        (held["fence_unix_ms"].as_i64().unwrap(), held["store_unix_ms"].as_i64().unwrap());
    assert!(fence > now - 60_000 && fence < now + 45_000, "{held}");
    assert!(held["expires_unix_ms"].as_i64().unwrap() > held["acquired_unix_ms"].as_i64().unwrap());
    // The output contains no token, so readers of the output cannot renew another process's lease.
    assert!(!shown.iter().any(|row| row.to_string().contains("token")));
}

#[test]
fn missing_namespace_error_lists_the_existing_namespaces() {
    let (_, url) = scratch("missing");
    leases(&url, &["init", "--namespace", "orders"]).quiet();
    leases(&url, &["init", "--namespace", "users"]).quiet();
    for args in [
        &["ls"] as &[&str],
        &["watch"],
        &["release", "1", "--yes"],
        &["quarantine", "1", "--yes"],
        &["fast-forward", "--by", "1s", "--yes"],
        &["prune", "--before", "90d", "--yes"],
        &["adopt", "--yes"],
    ] {
        let run = leases(&url, args);
        let parts = ["no namespace \"default\"", "flakeid leases init", "has orders, users"];
        refused(&run, "FLAKEID_STORE_REJECTED", &parts);
    }
}

/// A mistyped path causes an error, and no store is created.
#[test]
fn commands_report_a_missing_store_without_creating_it() {
    let (dir, url) = scratch("not_there");
    let path = dir.join("flakeid.db").display().to_string();
    for args in [
        &["leases", "ls"] as &[&str],
        &["leases", "watch"],
        &["leases", "release", "1", "--yes"],
        &["leases", "quarantine", "1", "--yes"],
        &["leases", "quarantine", "1", "--lift", "--yes"],
        &["leases", "fast-forward", "--by", "1s", "--yes"],
        &["leases", "prune", "--before", "90d", "--yes"],
        &["leases", "adopt", "--yes"],
        &["whois", "910499571847892992"],
    ] {
        let run = run(&[args, &["--store", &url]].concat());
        refused(&run, "FLAKEID_STORE_REJECTED", &[&path, "check the path", "flakeid leases init"]);
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0, "{args:?}");
    }
    // The commands do not accept an empty file as a store, and leave the file empty.
    std::fs::write(&path, "").unwrap();
    let empty = leases(&url, &["ls"]);
    refused(&empty, "FLAKEID_STORE_REJECTED", &[&path, "flakeid leases init"]);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
    leases(&url, &["init"]).quiet();
    leases(&url, &["ls"]).quiet();
}

#[test]
fn released_node_is_free_and_keeps_its_fence() {
    let (_, url) = scratch("release");
    die_with(&url, "7");
    let before = row(&url, 7);
    let refusal = leases(&url, &["release", "7"]);
    refused(
        &refusal,
        "FLAKEID_INVALID_OPTION",
        &[
            "--yes: this command needs confirmation, but standard input or standard error is not a terminal",
            "hint: this releases node 7 in namespace default of sqlite://",
        ],
    );
    assert_eq!(row(&url, 7)["state"], "held");
    let done = leases(&url, &["release", "7", "--yes"]).quiet();
    assert!(done.text().starts_with("node 7 in namespace default of "), "{}", done.text());
    assert!(done.text().ends_with(": it can be leased now\n"), "{}", done.text());
    let after = row(&url, 7);
    assert_eq!((&after["state"], &after["fence"]), (&json!("free"), &before["fence"]));
    for (node, outcome) in [("7", "is free"), ("6", "was never used")] {
        let done = leases(&url, &["release", node, "--yes"]).quiet();
        let outcome = format!(" {outcome}: nothing to do\n");
        assert!(done.text().ends_with(&outcome), "{}", done.text());
    }
    let wrong = leases(&url, &["release", "1024", "--yes"]);
    refused(
        &wrong,
        "FLAKEID_FIELD_OUT_OF_RANGE",
        &["node 1024 is out of range: must be from 0 to 1023"],
    );
}

#[test]
fn quarantined_node_cannot_be_leased_until_quarantine_is_lifted() {
    let (_, url) = scratch("quarantine");
    run(&["next", "--store", &url]).quiet();
    leases(&url, &["quarantine", "5", "--yes"]).quiet();
    let next = || run(&["next", "--store", &url, "--node", "5"]);
    refused(&next(), "FLAKEID_STORE_REJECTED", &["node 5 of namespace \"default\" is quarantined"]);
    assert!(leases(&url, &["quarantine", "5", "--yes"]).quiet().text().contains("nothing to do"));
    refused(&leases(&url, &["quarantine", "5", "--lift"]), "FLAKEID_INVALID_OPTION", &["--yes"]);
    let named = leases(&url, &["quarantine", "5", "--lift", "--name", "db1", "--yes"]);
    refused(&named, "FLAKEID_INVALID_OPTION", &["belongs to no database"]);
    leases(&url, &["quarantine", "5", "--lift", "--yes"]).quiet();
    next().quiet();
    let lifted = leases(&url, &["quarantine", "5", "--lift", "--yes"]).quiet();
    assert!(lifted.text().contains("nothing to do"), "{}", lifted.text());
}

#[test]
fn fast_forward_raises_the_floor_and_ends_leases() {
    let (_, url) = scratch("fast_forward");
    die_with(&url, "7");
    refused(
        &leases(&url, &["fast-forward", "--by", "10s"]),
        "FLAKEID_INVALID_OPTION",
        &["--yes", "(1 in all)"],
    );
    let done = leases(&url, &["fast-forward", "--by", "1h", "--yes"]).quiet();
    assert!(done.text().contains(": new leases issue IDs from "), "{}", done.text());
    assert_eq!(row(&url, 7)["state"], "free");
    let next = run(&["next", "--store", &url]);
    assert_eq!(next.code, Some(1), "{}", next.text());
    assert!(next.stderr.contains("FLAKEID_FENCE_IN_FUTURE"), "{}", next.stderr);
    let lower = leases(&url, &["fast-forward", "--to", "2020-01-01", "--yes"]).quiet();
    assert!(lower.text().ends_with(": nothing to do\n"), "{}", lower.text());
    for (args, code) in [
        (&["--to", "tomorrow"] as &[&str], "FLAKEID_INVALID_OPTION"),
        (&["--by", "tomorrow"], "FLAKEID_INVALID_OPTION"),
        (&["--to", "9999-01-01"], "FLAKEID_HORIZON_REACHED"),
        (&["--to", "1970-01-01"], "FLAKEID_BEFORE_EPOCH"),
    ] {
        refused(&leases(&url, &[&["fast-forward", "--yes"], args].concat()), code, &[]);
    }
    for usage in [&["fast-forward"] as &[&str], &["fast-forward", "--to", "0", "--by", "1s"]] {
        assert_eq!(leases(&url, usage).code, Some(2));
    }
}

#[test]
fn prune_removes_ended_grants_and_whois_no_longer_finds_them() {
    let (_, url) = scratch("prune");
    let ids = [(); 3].map(|()| {
        let next = run(&["next", "--node", "7", "--store", &url]);
        next.quiet().text().trim().to_owned()
    });
    let holders = || {
        let found =
            run(&[&["whois", "--store", &url], &ids.each_ref().map(|id| &**id)[..]].concat());
        found.quiet().json().into_iter().map(|answer| answer["holder"].clone()).collect::<Vec<_>>()
    };
    let before = holders();
    assert!(before.iter().all(Value::is_object), "{before:?}");
    let refusal = leases(&url, &["prune", "--before", "0ms"]);
    let parts = ["--yes", "hint: this removes the grants of namespace default of sqlite://"];
    refused(&refusal, "FLAKEID_INVALID_OPTION", &parts);
    for (time, part) in [("9999-01-01", "is in the future"), ("soon", "duration before now (90d)")]
    {
        let refusal = leases(&url, &["prune", "--yes", "--before", time]);
        refused(&refusal, "FLAKEID_INVALID_OPTION", &["--before", part]);
    }
    let none = leases(&url, &["prune", "--yes", "--before", "1h"]).quiet();
    assert!(none.text().starts_with("no grant of namespace default of "), "{}", none.text());
    assert!(none.text().ends_with(": nothing to do\n"), "{}", none.text());
    assert_eq!(holders(), before);

    let rows = rows(&url);
    let done = leases(&url, &["prune", "--yes", "--before", "0ms"]).quiet();
    assert!(done.text().contains(": removed 2 grants that ended before "), "{}", done.text());
    assert_eq!(holders(), [Value::Null, Value::Null, before[2].clone()]);
    let nodes = |rows: &[Value]| rows.iter().map(|row| row["fence"].clone()).collect::<Vec<_>>();
    assert_eq!(nodes(&self::rows(&url)), nodes(&rows), "the rows are unchanged");
    assert_eq!(leases(&url, &["prune", "--yes"]).code, Some(2), "--before is required");

    leases(&url, &["init", "--namespace", "forgetful", "--no-history"]).quiet();
    let none = leases(&url, &["prune", "--namespace", "forgetful", "--yes", "--before", "1h"]);
    assert!(none.quiet().text().ends_with(" keeps no history: nothing to do\n"));
}

#[test]
fn adopt_ends_all_leases_and_delays_new_grants() {
    let (_, url) = scratch("adopt");
    run(&["next", "--store", &url]).quiet();
    refused(&leases(&url, &["adopt"]), "FLAKEID_INVALID_OPTION", &["--yes", "out of use"]);
    let done = leases(&url, &["adopt", "--yes"]).quiet();
    assert!(done.text().contains(": adopted; new leases issue IDs from "), "{}", done.text());
    let waits = leases(&url, &["touch"]).quiet();
    assert!(waits.text().contains("grants nodes in 1"), "{}", waits.text());
}

/// Removes the serial number of the store in a folder. A store without its serial number counts as restored.
fn restore(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().ends_with("-serial") {
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn touch_begins_the_quiet_time_of_a_restored_store() {
    let (folder, url) = scratch("touch");
    leases(&url, &["init", "--max-skew", "500ms", "--quiet", "12s"]).quiet();
    run(&["next", "--store", &url]).quiet();
    assert!(leases(&url, &["touch"]).quiet().text().ends_with(": grants nodes now\n"));
    restore(&folder);
    assert!(leases(&url, &["touch"]).quiet().text().contains(": grants nodes in 1"));
    // The command waits by itself, and says why.
    let next = run(&["next", "--store", &url]);
    assert_eq!((next.code, next.lines().len()), (Some(0), 1), "{}", next.stderr);
    assert_eq!(next.stderr.matches("waiting: the store of namespace").count(), 1);
    assert!(leases(&url, &["touch"]).quiet().text().ends_with(": grants nodes now\n"));
    let begun = std::time::Instant::now();
    run(&["next", "--store", &url]).quiet();
    assert!(begun.elapsed() < Duration::from_secs(5), "the store grants at once");
}

/// A health check repeats `touch`, and no process has a lease. The bounds are short, so that the test is.
#[test]
fn touch_in_health_checks_spares_processes_the_wait() {
    let (folder, url) = scratch("health_check");
    let bounds = ["--max-ahead", "1s", "--max-skew", "500ms", "--quiet", "12s"];
    leases(&url, &[&["init"], &bounds[..]].concat()).quiet();
    run(&["next", "--store", &url]).quiet();
    restore(&folder);
    while !leases(&url, &["touch"]).quiet().text().ends_with(": grants nodes now\n") {
        thread::sleep(Duration::from_millis(100));
    }
    let unix_ms = || SystemClock.unix_ms();
    let before = unix_ms();
    let next = run(&["next", "--store", &url]).quiet();
    let took = unix_ms() - before;
    assert!(took < 5_000, "the store grants at once, and not after {took} ms");
    let id = Id::from_u64(next.text().trim().parse().unwrap());
    let parts = Layout::TWITTER.unpack(id).unwrap();
    let ahead = Layout::TWITTER.unix_ms_at(parts.tick) - before;
    assert!((-1_200..took + 1_200).contains(&ahead), "the ID is {ahead} ms ahead of the clock");
}

#[test]
fn ls_succeeds_when_the_reader_closes_the_pipe() {
    let (_, url) = scratch("closed_reader");
    die_with(&url, "7");
    run_and_close(&["leases", "ls", "--store", &url], 0).quiet();
}
