//! Tests of a process that `flakeid exec` is not permitted to signal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::{ended, row, wait_for_file};
use crate::run::{CLEARED, Run, run, scratch};

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
        let is_root = rustix::process::geteuid().is_root();
        let sudo = || Command::new("sudo").args(["-n", "true"]).output();
        assert!(
            is_root || sudo().is_ok_and(|output| output.status.success()),
            "this test starts a process of another user, which requires root, or sudo without a password"
        );
        assert!(Command::new("mkfifo").arg(dir.join("gate")).status().unwrap().success());
        let mut command = Command::new("sudo");
        command.arg("-n");
        if is_root {
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
        let command = command.spawn().expect("setpriv: apt-get install util-linux");
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
