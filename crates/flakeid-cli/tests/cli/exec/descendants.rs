//! Tests of processes that the command of `flakeid exec` started and left running. `flakeid exec`
//! ends these processes before it releases the node.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::{check_ends_before_a_lost_lease, compiled, ended, exec, row, script, wait_for_file};
use crate::run::{CLEARED, Run, run, scratch};

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

/// A command that starts a process owned by another user, as a set-uid program does. `flakeid exec`
/// is not permitted to signal this process, which runs until the test ends it.
struct Unsignalled {
    command: Child,
    dir: PathBuf,
}

impl Unsignalled {
    /// Starts `flakeid exec` with a script. The script uses `$UNSIGNALLED` to start a process owned
    /// by another user.
    fn start(dir: &Path, store: &str, arguments: &[&str], script: &str) -> Self {
        const WAITER: &str = "echo yes >&3; read line <&4";
        // The store is created here, so that it belongs to the current user even if root opens it
        // later.
        run(&["leases", "init", "--store", store]).quiet();
        assert!(Command::new("mkfifo").arg(dir.join("gate")).status().unwrap().success());
        let mut command = Command::new("sudo");
        command.arg("-n");
        if rustix::process::geteuid().is_root() {
            command = Command::new("env");
        }
        // Root can signal other users' processes only with the capability `CAP_KILL`, which is
        // removed here.
        command.args(["setpriv", "--bounding-set=-kill", "--inh-caps=-kill", "--", "env"]);
        command.args(CLEARED.map(|name| format!("--unset={name}")));
        command.arg("UNSIGNALLED=setpriv --reuid=65534 --clear-groups -- sh -c");
        command.args([env!("CARGO_BIN_EXE_flakeid"), "exec", "--store", store]).args(arguments);
        let script = format!("waiter='{WAITER}'; exec 3> begun 4<> gate; {script}");
        command.args(["--", "sh", "-c", &script]).current_dir(dir);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let command = command.spawn().expect("setpriv of util-linux, and root or sudo");
        wait_for_file(dir, "begun");
        Self { command, dir: dir.to_owned() }
    }

    fn is_running(&mut self) -> bool {
        self.command.try_wait().unwrap().is_none()
    }

    /// Lets the unsignalled process end, and returns the result of the command.
    fn end(self) -> Run {
        fs::write(self.dir.join("gate"), "end\n").unwrap();
        ended(self.command)
    }
}

#[test]
fn process_that_cannot_be_signalled_delays_node_release() {
    let (dir, store) = scratch("exec_unsignalled");
    let script = "$UNSIGNALLED \"$waiter\" & until [ -s begun ]; do sleep 0.02; done; exit 4";
    let mut command = Unsignalled::start(&dir, &store, &["--grace", "250ms"], script);
    sleep(Duration::from_millis(1_500));
    assert!(command.is_running());
    assert_eq!(row(&store)["state"], "held");
    let ended = command.end();
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert!(ended.stderr.contains("(sh), so node "), "{}", ended.stderr);
    assert_eq!(row(&store)["state"], "free");
}

#[test]
fn node_in_use_past_its_fence_is_not_released() {
    let (dir, store) = scratch("exec_unsignalled_lost");
    let script = "exec $UNSIGNALLED \"$waiter\"";
    let command = Unsignalled::start(&dir, &store, &["--window", "2s"], script);
    // Renewals fail while this transaction is open, and succeed again afterwards.
    let file = store.strip_prefix("sqlite://").unwrap();
    let locked = Command::new("sqlite3")
        .args([file, ".timeout 10000", "BEGIN EXCLUSIVE", ".shell sleep 4", "ROLLBACK"])
        .status()
        .expect("sqlite3: apt-get install sqlite3");
    assert!(locked.success());
    let ended = command.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("(sh), so node "), "{}", ended.stderr);
    assert_eq!(row(&store)["state"], "held", "{}", ended.stderr);
}
