//! Tests of `flakeid exec`, which runs a command that generates its own IDs on a leased node.

// On systems other than Linux, `flakeid exec` cannot find processes that left the command's process group, and the
// tests have no clock library to preload.
#[cfg(target_os = "linux")]
mod descendants;
mod fence;
#[cfg(all(target_os = "linux", feature = "_system-tests"))]
mod helpers;
#[cfg(target_os = "linux")]
mod killed;
#[cfg(target_os = "linux")]
mod test_clock;
#[cfg(all(target_os = "linux", feature = "_system-tests"))]
mod unsignalled;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::run::{Run, finish, flakeid, run, run_with, scratch};
use crate::serve::serve;

/// The longest time to wait for a process.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A script that writes the time to a file about every 20 ms and ignores SIGTERM.
const STUBBORN: &str = "trap '' TERM; while :; do date +%s%3N >> times; sleep 0.02; done";

fn command(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = flakeid();
    command.arg("exec").args(arguments).current_dir(dir);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn exec(dir: &Path, arguments: &[&str]) -> Child {
    command(dir, arguments).spawn().unwrap()
}

fn ended(child: Child) -> Run {
    finish(child.wait_with_output().unwrap())
}

/// Compiles a C file in the `exec` folder and returns the path of the compiled file.
#[cfg(target_os = "linux")]
fn compiled(dir: &Path, name: &str, arguments: &[&str]) -> std::path::PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/exec").join(name);
    let built = dir.join(name).with_extension("");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-o"]).arg(&built).arg(source).args(arguments);
    let output = compiler.output().expect("cc, which links the tests, too");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    built
}

/// Writes a script into the test's folder, so that commands can call the script by its name.
#[cfg(target_os = "linux")]
fn script(dir: &Path, name: &str, lines: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = dir.join(name);
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Waits until a script has written to a file.
fn wait_for_file(dir: &Path, file: &str) {
    let start = Instant::now();
    while fs::read_to_string(dir.join(file)).unwrap_or_default().is_empty() {
        assert!(start.elapsed() < TIMEOUT, "the script did not write {file}");
        sleep(Duration::from_millis(20));
    }
}

fn kill(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Returns the only row in a store, as `leases ls` formats it.
fn row(store: &str) -> serde_json::Value {
    let listed = run(&["leases", "ls", "--all", "--store", store]).quiet().json();
    listed.iter().find(|line| line["node"].is_u64()).expect("a node").clone()
}

#[test]
fn exec_passes_the_node_in_the_given_environment_variables() {
    let (_, store) = scratch("exec");
    let printed = |arguments: &[&str], script: &str| {
        run(&[&["exec", "--store", &store], arguments, &["--", "sh", "-c", script]].concat())
            .quiet()
    };
    assert_eq!(printed(&[], "echo $WORKER_ID").text(), "0\n");
    let two = printed(&["--env", "A", "--env", "B"], "echo $A $B ${WORKER_ID-none}");
    assert_eq!(two.text(), "1 1 none\n", "a node that has never been used");
    let parts = ["--node", "37", "--env-datacenter", "DC", "--env-worker", "W"];
    assert_eq!(printed(&parts, "echo $DC $W ${WORKER_ID-none}").text(), "1 5 none\n");
}

/// The command must not inherit the store's URL, because the URL may contain a password.
#[test]
fn command_does_not_inherit_variables_that_exec_reads() {
    let (_, store) = scratch("exec_variables");
    let variables = [
        ("FLAKEID_STORE", store.as_str()),
        ("FLAKEID_NAMESPACE", "orders"),
        ("FLAKEID_LAYOUT", "twitter"),
        ("FLAKEID_NODE", "37"),
        ("FLAKEID_KEY_FILE", "keys"),
        ("OTHER", "kept"),
    ];
    let printed = |arguments: &[&str]| {
        let arguments = [&["exec"], arguments, &["--", "env"]].concat();
        let run = run_with(&variables, &arguments).quiet();
        let mut found: Vec<String> = run.lines().into_iter().map(str::to_owned).collect();
        found.retain(|line| {
            ["FLAKEID_", "WORKER_ID", "OTHER"].iter().any(|name| line.starts_with(name))
        });
        found.sort();
        found
    };
    // `flakeid exec` does not read `FLAKEID_KEY_FILE`, so the command inherits this variable.
    let others = ["FLAKEID_KEY_FILE=keys", "OTHER=kept"];
    assert_eq!(printed(&[]), [&others[..], &["WORKER_ID=37"]].concat());
    let named = ["--layout", "sonyflake", "--namespace", "named", "--env", "FLAKEID_NODE"];
    assert_eq!(printed(&named), [&others[..1], &["FLAKEID_NODE=37"], &others[1..]].concat());
}

#[test]
fn window_option_sets_the_length_of_the_lease() {
    let (dir, store) = scratch("exec_window");
    let script = "echo yes > begun; until [ -e listed ]; do sleep 0.02; done";
    let arguments = ["--store", &store, "--window", "40s", "--", "sh", "-c", script];
    run(&["leases", "init", "--store", &store, "--max-window", "60s"]).quiet();
    let command = exec(&dir, &arguments);
    wait_for_file(&dir, "begun");
    // The first renewal is due when about a third of the window has passed.
    let held = row(&store);
    fs::write(dir.join("listed"), "").unwrap();
    assert_eq!(held["fence"].as_u64(), held["start"].as_u64().map(|start| start + 40_000));
    ended(command).quiet();

    let (_, store) = scratch("exec_window_refused");
    let refused = run(&[&["exec", "--store", &store], &arguments[2..]].concat());
    assert!(refused.stderr.contains("--window 40000 ms is out of range"), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("when the namespace is created (`--max-window`)"),
        "{}",
        refused.stderr
    );
}

#[test]
fn concurrent_commands_get_different_nodes() {
    let (dir, store) = scratch("exec_two");
    let arguments = ["--store", &store, "--", "sh", "-c", "echo $WORKER_ID; sleep 2"];
    let runs = [(); 2].map(|()| exec(&dir, &arguments));
    let mut nodes =
        runs.map(|run| finish(run.wait_with_output().unwrap()).quiet().text().to_owned());
    nodes.sort();
    assert_eq!(nodes, ["0\n", "1\n"]);
}

#[test]
fn exec_exits_with_the_status_of_the_command() {
    let (_, store) = scratch("exec_status");
    for (script, status) in [("exit 3", 3), ("kill -KILL $$", 137)] {
        let ended = run(&["exec", "--store", &store, "--", "sh", "-c", script]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(status), ""));
    }
    let none = run(&["exec", "--store", &store, "--", "./no-such-command"]);
    assert_eq!(none.code, Some(1));
    assert!(none.stderr.contains("cannot start ./no-such-command"), "{}", none.stderr);
    assert_eq!(row(&store)["state"], "free");
    let parts =
        ["--layout", "sonyflake", "--env-datacenter", "D", "--env-worker", "W", "--", "true"];
    let refused = run(&[&["exec", "--store", &store], &parts[..]].concat());
    assert!(refused.stderr.contains("does not split its node number"), "{}", refused.stderr);
}

#[test]
fn exec_forwards_signals_to_the_command() {
    let (dir, store) = scratch("exec_signals");
    let script = "trap 'exit 5' TERM; echo yes > begun; while :; do sleep 0.02; done";
    let command = exec(&dir, &["--store", &store, "--", "sh", "-c", script]);
    wait_for_file(&dir, "begun");
    kill(command.id(), rustix::process::Signal::TERM);
    assert_eq!(ended(command).code, Some(5));
    assert_eq!(row(&store)["state"], "free");
}

/// Runs a command that writes the time to `times`. Stops the clock of the command and of `flakeid exec` shortly before
/// the end of the lease, which cannot be renewed, and checks that all processes of the command end at this time.
#[cfg(target_os = "linux")]
fn check_ends_before_a_lost_lease(name: &str, prepare: impl Fn(&Path), script: &str) {
    let (dir, store) = scratch(name);
    prepare(&dir);
    let clock = test_clock::TestClock::new(&dir);
    // With this grace period, only the end of the lease ends the command.
    let options = ["--store", &store, "--layout", "twitter", "--grace", "1h"];
    let mut command = clock.start(&[&options[..], &["--", "sh", "-c", script]].concat());
    wait_for_file(&dir, "times");
    // The store runs no transaction while this file is locked, so the fence in the store is the end of the lease.
    let file = store.strip_prefix("sqlite://").unwrap();
    let serial = fs::File::open(format!("{file}-serial")).unwrap();
    rustix::fs::flock(&serial, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let fence = Command::new("sqlite3").args([file, "SELECT fence FROM flakeid_node"]).output();
    let fence = fence.expect("sqlite3: apt-get install sqlite3");
    let fence: u64 = String::from_utf8(fence.stdout).unwrap().trim().parse().unwrap();
    let end = flakeid_core::Layout::TWITTER.unix_ms_at(fence);
    clock.stop_at(end - 200);
    let stopped = Instant::now();
    while command.try_wait().unwrap().is_none() {
        if stopped.elapsed() > TIMEOUT {
            command.kill().unwrap();
            panic!("the command did not end before its lease");
        }
        sleep(Duration::from_millis(10));
    }
    let ended = ended(command);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("the command was ended"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("when its lease ended"), "{}", ended.stderr);
    let times = || fs::read_to_string(dir.join("times")).unwrap();
    let at_the_end = times();
    sleep(Duration::from_millis(300));
    assert_eq!(times(), at_the_end, "a process is still running");
}

/// `flakeid exec` ends the command and its processes, even though they ignore SIGTERM.
#[cfg(target_os = "linux")]
#[test]
fn exec_ends_the_command_before_an_unrenewed_lease_expires() {
    check_ends_before_a_lost_lease("exec_lost", |_| (), &format!("({STUBBORN}) & wait"));
}

/// The grace period (`--grace`), in which the command can end after SIGTERM, is longer than the lease window.
#[test]
fn command_completes_even_if_the_grace_period_exceeds_the_lease_window() {
    let (dir, store) = scratch("exec_short");
    let (_broker, url) = serve(&["--store", &store, "--lease-window", "4s"]);
    let script = "echo yes > begun; until [ -e renewed ]; do sleep 0.02; done; echo done";
    let command = exec(&dir, &["--store", &url, "--grace", "10s", "--", "sh", "-c", script]);
    wait_for_file(&dir, "begun");
    for _ in 0..2 {
        let (fence, start) = (row(&url)["fence"].clone(), Instant::now());
        while row(&url)["fence"] == fence {
            assert!(start.elapsed() < TIMEOUT, "the lease is not renewed");
            sleep(Duration::from_millis(100));
        }
    }
    fs::write(dir.join("renewed"), "").unwrap();
    assert_eq!(ended(command).quiet().text(), "done\n");
}
