//! Tests of processes that the command of `flakeid exec` started and left running. `flakeid exec`
//! ends these processes before it releases the node.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::{check_ends_before_a_lost_lease, compiled, ended, exec, row, script};
use crate::run::scratch;

/// A script that writes the time to a file about every 20 ms for about a minute. The script
/// redirects its standard output and standard error to `/dev/null`, so that it does not keep the
/// output pipe of `flakeid exec` open.
const WRITER: &str = "exec > /dev/null 2>&1
    for i in $(seq 2000); do date +%s%3N >> times; sleep 0.02; done
    echo > survived";

/// A script that waits until the writer has started.
const STARTED: &str = "until [ -s times ]; do sleep 0.02; done";

/// Asserts that the writer has ended, that the node is free, and that the node's fence is later
/// than the last time in the writer's file.
fn assert_ended(dir: &Path, store: &str) {
    assert!(!dir.join("survived").exists(), "a process was not ended");
    let times = || fs::read_to_string(dir.join("times")).unwrap();
    let at_the_end = times();
    sleep(Duration::from_millis(200));
    assert_eq!(times(), at_the_end, "a process is still running");
    let last: i64 = at_the_end.lines().last().unwrap().parse().unwrap();
    let row = row(store);
    assert_eq!(row["state"], "free", "{row}");
    assert!(row["fence_unix_ms"].as_i64().unwrap() > last, "{last} is not below {row}");
}

#[test]
fn exec_ends_detached_processes_before_releasing_the_node() {
    for (name, start) in [
        ("setsid", "setsid ./writer &"),
        ("timeout", "timeout 60 ./writer &"),
        ("monitor", "bash -mc './writer & disown; exit'"),
        ("daemon", "setsid sh -c 'setsid ./writer & exit' & wait"),
        #[cfg(feature = "_system-tests")]
        (
            "python",
            "python3 -c \"import subprocess as s; s.Popen('./writer', start_new_session=True)\"",
        ),
    ] {
        let (dir, store) = scratch(&format!("exec_left_{name}"));
        script(&dir, "writer", WRITER);
        let script = format!("{start}\n{STARTED}; exit 3");
        let ended = ended(exec(&dir, &["--store", &store, "--", "sh", "-c", &script]));
        assert_ended(&dir, &store);
        assert_eq!(ended.code, Some(3), "{name}: {}", ended.stderr);
        assert!(ended.stderr.contains("(writer)"), "{name}: {}", ended.stderr);
    }
}

#[test]
fn leftover_process_receives_sigterm_before_sigkill() {
    let (dir, store) = scratch("exec_left_term");
    script(&dir, "writer", &format!("trap 'echo yes > ended; exit' TERM; {WRITER}"));
    let script = format!("setsid ./writer & {STARTED}");
    ended(exec(&dir, &["--store", &store, "--grace", "20s", "--", "sh", "-c", &script]));
    assert_ended(&dir, &store);
    assert_eq!(fs::read_to_string(dir.join("ended")).unwrap(), "yes\n");
}

#[test]
fn process_ignoring_sigterm_is_killed_after_the_grace_period() {
    let (dir, store) = scratch("exec_left_stubborn");
    script(&dir, "writer", &format!("trap '' TERM; {WRITER}"));
    let script = format!("setsid ./writer & {STARTED}; date +%s%3N > ended");
    ended(exec(&dir, &["--store", &store, "--grace", "2s", "--", "sh", "-c", &script]));
    assert_ended(&dir, &store);
    let read = |file| fs::read_to_string(dir.join(file)).unwrap();
    let last: i64 = read("times").lines().last().unwrap().parse().unwrap();
    let ended: i64 = read("ended").trim().parse().unwrap();
    assert!(last >= ended + 500, "killed {} ms after the command's end", last - ended);
}

#[test]
fn exec_ends_processes_that_keep_forking() {
    let (dir, store) = scratch("exec_left_forking");
    compiled(&dir, "comet.c", &[]);
    script(
        &dir,
        "writer",
        &format!(
            "trap '' TERM; (for i in $(seq 300); do setsid sleep 1 & sleep 0.01; done) & {WRITER}"
        ),
    );
    let script = format!("trap '' TERM; ./writer & {STARTED}; ./comet 30 survived");
    ended(exec(&dir, &["--store", &store, "--grace", "250ms", "--", "sh", "-c", &script]));
    assert_ended(&dir, &store);
}

#[test]
fn exec_ends_detached_processes_before_an_unrenewed_lease_expires() {
    check_ends_before_a_lost_lease(
        "exec_left_lost",
        |dir| script(dir, "writer", &format!("trap '' TERM; {WRITER}")),
        "setsid ./writer & wait",
    );
}

#[test]
fn orphaned_processes_are_reaped_while_the_command_runs() {
    let (dir, store) = scratch("exec_orphans");
    let script = "for i in 1 2 3 4 5; do (sleep 0.1 &); done
        sleep 0.2
        for i in $(seq 100); do
            zombies=0
            for child in $(cat /proc/$PPID/task/*/children); do
                case \"$(sed 's/.*) //' /proc/$child/stat)\" in Z*) zombies=1;; esac
            done
            [ $zombies = 0 ] && exit 0
            sleep 0.1
        done
        exit 1";
    let ended = ended(exec(&dir, &["--store", &store, "--", "sh", "-c", script]));
    assert_eq!(ended.code, Some(0), "zombies were not reaped: {}", ended.stderr);
}

#[test]
fn orphaned_processes_do_not_change_the_exit_status() {
    let (dir, store) = scratch("exec_orphans_status");
    let script = "for i in $(seq 40); do (sleep 0.2 & exit 0); done; sleep 0.2; exit 7";
    for _ in 0..3 {
        let ended = ended(exec(&dir, &["--store", &store, "--", "sh", "-c", script]));
        assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    }
}
