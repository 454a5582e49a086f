//! A wall clock that a test sets or stops, for `flakeid exec` and the processes that it starts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;

use super::{command, compiled, ended, script};
use crate::run::Run;

/// A simulated wall clock for a command and the processes that the command starts.
pub(super) struct TestClock {
    dir: PathBuf,
    library: PathBuf,
}

impl TestClock {
    pub(super) fn new(dir: &Path) -> Self {
        script(dir, "set-clock", "echo \"$1\" > new && mv new \"$TEST_CLOCK\"");
        fs::write(dir.join("setting"), "0 0").unwrap();
        let library = compiled(dir, "clock.c", &["-shared", "-fPIC"]);
        Self { dir: dir.to_owned(), library }
    }

    /// Starts `flakeid exec`.
    pub(super) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = command(&self.dir, arguments);
        command.env("LD_PRELOAD", &self.library).env("TEST_CLOCK", self.dir.join("setting"));
        command.spawn().unwrap()
    }

    /// Runs `flakeid exec` until it ends.
    pub(super) fn exec(&self, arguments: &[&str]) -> Run {
        ended(self.start(arguments)).quiet()
    }

    /// Stops the clock at a Unix time in milliseconds.
    pub(super) fn stop_at(&self, unix_ms: i64) {
        fs::write(self.dir.join("new"), format!("0 0 {unix_ms}")).unwrap();
        fs::rename(self.dir.join("new"), self.dir.join("setting")).unwrap();
    }
}
