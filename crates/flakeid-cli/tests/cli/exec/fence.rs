//! Tests of a node's fence after `flakeid exec` releases the node, and of the fence's effect on the
//! next grant.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_core::{Clock, SystemClock};
use rustix::process::Signal;

use super::{TIMEOUT, ended, exec, kill, row, wait_for_file};
use crate::run::{run, scratch};

/// The length of a tick in the default layout, in milliseconds.
const TICK_MS: i64 = 1;

fn fence(row: &serde_json::Value) -> i64 {
    row["fence_unix_ms"].as_i64().expect("a fence")
}

#[test]
fn exec_releases_the_node_without_lowering_its_fence() {
    let (dir, store) = scratch("exec_fence");
    let script = "echo yes > begun; until [ -e listed ]; do sleep 0.02; done";
    let command = exec(&dir, &["--store", &store, "--", "sh", "-c", script]);
    wait_for_file(&dir, "begun");
    let held = row(&store);
    fs::write(dir.join("listed"), "").unwrap();
    assert!(fence(&held) > SystemClock.unix_ms(), "{held}");
    assert_eq!(ended(command).quiet().code, Some(0));
    let free = row(&store);
    assert_eq!((&free["state"], fence(&free)), (&"free".into(), fence(&held)));
}

/// With `--no-ahead`, the command cannot have used a tick above the current tick, unless the clock
/// was set back.
#[cfg(target_os = "linux")]
#[test]
fn no_ahead_flag_makes_exec_lower_the_fence_to_the_current_tick() {
    let (_, store) = scratch("exec_no_ahead");
    let exec = ["exec", "--store", &store, "--no-ahead", "--", "date", "+%s%3N"];
    let last: i64 = run(&exec).quiet().text().trim().parse().unwrap();
    let free = row(&store);
    assert_eq!(free["state"], "free");
    assert!((last + TICK_MS..=SystemClock.unix_ms() + TICK_MS).contains(&fence(&free)), "{free}");
}

#[test]
fn second_exec_with_the_same_node_waits_until_the_fence_passes() {
    for named in [["--name", "app"], ["--node", "9"]] {
        let (_, store) = scratch("exec_again");
        let exec = |arguments: &[&str]| {
            let first = ["exec", "--store", &store, "--window", "4s"];
            run(&[&first, arguments, &["--", "date", "+%s%3N"]].concat())
        };
        exec(&named).quiet();
        let free = row(&store);
        let began: i64 = exec(&named).text().trim().parse().unwrap();
        assert!(began >= fence(&free), "{named:?}: {began} is before {free}");
        // A command on another node does not wait. A wait would be reported on standard error.
        exec(&[]).quiet();
    }
}

/// The second command never starts, so `flakeid exec` releases the node with the fence that the
/// node had before the grant.
#[test]
fn exec_releases_the_node_if_signalled_before_the_command_starts() {
    let (dir, store) = scratch("exec_interrupted");
    let arguments = ["--store", &store, "--node", "7", "--", "sh", "-c", "echo yes >> begun"];
    ended(exec(&dir, &arguments)).quiet();
    let before = fence(&row(&store));
    let waiting = exec(&dir, &arguments);
    let start = Instant::now();
    while row(&store)["state"] != "held" {
        assert!(start.elapsed() < TIMEOUT, "the node was not leased again");
        sleep(Duration::from_millis(20));
    }
    kill(waiting.id(), Signal::TERM);
    let ended = ended(waiting);
    assert_eq!(ended.code, Some(128 + 15), "{}", ended.stderr);
    assert!(ended.stderr.contains("node 7 can be used in"), "{}", ended.stderr);
    let free = row(&store);
    assert_eq!((&free["state"], fence(&free)), (&"free".into(), before));
    assert_eq!(fs::read_to_string(dir.join("begun")).unwrap(), "yes\n", "the command ran once");
}

#[cfg(target_os = "linux")]
mod clock {
    use super::super::test_clock::TestClock;
    use super::{Clock, SystemClock, fence, row, scratch};

    /// Some generators exit when the clock goes back, and rely on a supervisor to restart them.
    /// Even after such an exit, the fence must be above the ticks of all IDs that were issued
    /// before the clock went back.
    #[test]
    fn fence_is_not_lowered_when_the_clock_goes_back() {
        for flags in [&[][..], &["--no-ahead"]] {
            let (dir, store) = scratch("exec_rollback");
            let clock = TestClock::new(&dir);
            let script = "date +%s%3N; ./set-clock '-5000 0'";
            let arguments = [&["--store", &store], flags, &["--", "sh", "-c", script]].concat();
            let last: i64 = clock.exec(&arguments).text().trim().parse().unwrap();
            assert!(fence(&row(&store)) > last, "{flags:?}: {} after {last}", row(&store));
        }
    }

    /// If the clock is set forward and back again between two checks, the clock readings do not
    /// show the changes. However, each change makes the kernel cancel the timer that watches the
    /// clock.
    #[test]
    fn exec_does_not_lower_the_fence_after_two_opposite_clock_steps() {
        let (dir, store) = scratch("exec_forward");
        let clock = TestClock::new(&dir);
        clock.exec(&["--store", &store, "--no-ahead", "--", "./set-clock", "0 1"]);
        assert!(fence(&row(&store)) > SystemClock.unix_ms() + 1_000, "{}", row(&store));
    }
}
