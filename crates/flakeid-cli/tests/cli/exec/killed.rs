//! Tests of the effects of `kill -9` on `flakeid exec`. The guide describes these effects.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{STUBBORN, TIMEOUT, exec, kill, row, script, wait_for_file};
use crate::run::scratch;

/// Whether a process exists and has not ended. A zombie counts as ended.
fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // In the `stat` file, the process state follows the process name, which is in parentheses.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Kills `flakeid exec` while its command runs a writer. Returns whether the writer continues to
/// write.
fn writer_outlives_exec(dir: &Path, command: &str) -> bool {
    script(dir, "writer", &format!("exec > /dev/null 2>&1; echo $$ > pid; {STUBBORN}"));
    let store = format!("sqlite://{}", dir.join("flakeid.db").display());
    let mut exec = exec(dir, &["--store", &store, "--", "sh", "-c", command]);
    wait_for_file(dir, "times");
    let pid = fs::read_to_string(dir.join("pid")).unwrap().trim().parse().unwrap();
    exec.kill().unwrap();
    exec.wait().unwrap();
    let times = || fs::read_to_string(dir.join("times")).unwrap().lines().count();
    let (before, start) = (times(), Instant::now());
    while is_running(pid) && times() < before + 10 {
        assert!(start.elapsed() < TIMEOUT, "the writer neither ended nor wrote");
        sleep(Duration::from_millis(20));
    }
    let outlives = is_running(pid);
    if outlives {
        kill(pid, Signal::KILL);
    }
    // No other process may get the node before the lease expires.
    assert_eq!(row(&store)["state"], "held");
    outlives
}

#[test]
fn killing_flakeid_exec_also_kills_the_command() {
    let (dir, _) = scratch("exec_killed");
    assert!(!writer_outlives_exec(&dir, "exec ./writer"));
}

#[test]
fn child_of_a_shell_wrapper_outlives_killed_flakeid_exec() {
    let (dir, _) = scratch("exec_killed_wrapper");
    assert!(writer_outlives_exec(&dir, "./writer; true"));
}
