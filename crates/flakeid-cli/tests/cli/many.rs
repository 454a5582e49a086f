//! Tests of many processes that lease nodes from one store at the same time. Some of the processes
//! are killed.

use std::io::Read;
use std::process::Child;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use flakeid_core::{Id, Layout};

use crate::run::{Run, run, scratch, start};

const PROCESSES: u64 = 12;
const ROUNDS: u64 = 8;

/// The layout has sixteen nodes for twelve processes, so the nodes of killed processes must be
/// reused.
const LAYOUT: &str = "t41.n4.s12@2010-01-01T00:00:00Z/1ms";

/// The code of the error on a machine that is so busy that another process locks the store for over 2 s.
const BUSY: &str = "FLAKEID_STORE_UNAVAILABLE";

/// Runs a command on the store until the store is not busy.
fn run_when_free(args: &[&str]) -> Run {
    loop {
        let run = run(args);
        if run.code == Some(0) || !run.stderr.contains(BUSY) {
            return run;
        }
    }
}

/// The outcome of one process, including the IDs that it wrote.
struct Outcome {
    pid: u32,
    ids: Vec<Id>,
    was_killed: bool,
}

fn spawn(url: &str) -> Child {
    start(&["next", "-n", "60000", "--format", "bytes", "--layout", LAYOUT, "--store", url])
}

/// Runs a process and reads all of its output. If `kill_after` is set, kills the process shortly
/// after reading `kill_after` bytes.
fn generate(url: &str, kill_after: Option<u64>) -> Option<Outcome> {
    let mut child = spawn(url);
    let pid = child.id();
    let mut stdout = child.stdout.take().unwrap();
    let mut bytes = Vec::new();
    if let Some(length) = kill_after {
        stdout.by_ref().take(length).read_to_end(&mut bytes).unwrap();
        thread::sleep(Duration::from_millis(length % 7));
        child.kill().unwrap();
    }
    stdout.read_to_end(&mut bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let ids: Vec<Id> =
        bytes.chunks_exact(8).map(|bytes| Id::from_be_bytes(bytes.try_into().unwrap())).collect();
    if kill_after.is_none() && output.status.code() != Some(0) {
        let is_expected = ["FLAKEID_NO_FREE_NODE", BUSY].iter().any(|code| stderr.contains(code));
        assert!(ids.is_empty() && is_expected, "{stderr}");
        return None;
    }
    assert!(kill_after.is_some() || ids.len() == 60_000);
    Some(Outcome { pid, ids, was_killed: kill_after.is_some() })
}

/// Releases the node of a killed process. This simulates an operator who does not want to wait
/// until the lease expires.
fn release_node_of(url: &str, outcome: &Outcome) {
    let listing = run_when_free(&["leases", "ls", "--store", url]);
    if listing.code != Some(0) && outcome.ids.is_empty() {
        // If the store does not exist, the process was killed before it created the store.
        assert!(listing.stderr.contains("`flakeid leases init"), "{}", listing.stderr);
        return;
    }
    let rows = listing.quiet().json();
    for row in rows.iter().filter(|row| row["pid"] == outcome.pid) {
        let node = row["node"].to_string();
        run_when_free(&["leases", "release", &node, "--now", "--yes", "--store", url]).quiet();
    }
}

#[test]
fn concurrent_processes_never_repeat_ids_even_if_some_processes_are_killed() {
    let (_, url) = scratch("many");
    let all = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let (url, all) = (&url, &all);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let turn = process * ROUNDS + round;
                    // Every third process is killed after the test has read fewer than 200,000 bytes
                    // (25,000 IDs of 8 bytes) of the process's output.
                    let kill_after = turn.is_multiple_of(3).then_some(turn * 2_500 % 200_000);
                    let Some(outcome) = generate(url, kill_after) else { continue };
                    if outcome.was_killed {
                        release_node_of(url, &outcome);
                    }
                    all.lock().unwrap().push(outcome);
                }
            });
        }
    });
    let all = all.into_inner().unwrap();
    let layout: Layout = LAYOUT.parse().unwrap();
    let mut ids: Vec<Id> = Vec::new();
    let mut arguments = vec!["whois".to_owned(), "--store".to_owned(), url];
    let mut expected = Vec::new();
    for outcome in &all {
        assert!(outcome.ids.windows(2).all(|pair| pair[0] < pair[1]));
        ids.extend(&outcome.ids);
        for id in outcome.ids.first().iter().chain(&outcome.ids.last()) {
            arguments.push(id.to_string());
            expected.push((outcome.pid, layout.unpack(**id).unwrap().node));
        }
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "IDs were generated twice");
    let is_killed_at_work = |outcome: &&Outcome| outcome.was_killed && !outcome.ids.is_empty();
    let killed_at_work = all.iter().filter(is_killed_at_work).count();
    let ended = all.iter().filter(|outcome| !outcome.was_killed).count();
    assert!(killed_at_work >= 16 && ended >= 32, "{killed_at_work} killed, {ended} ended");
    // For each of these IDs, `whois` must return the process that generated the ID.
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let found = run(&arguments).quiet().json();
    assert_eq!(found.len(), expected.len());
    for (found, (pid, node)) in found.iter().zip(expected) {
        assert_eq!(
            (&found["holder"]["pid"], &found["node"]),
            (&pid.into(), &node.into()),
            "{found}"
        );
    }
}
