//! The life cycle of a server's process.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::Process;

/// A server's program: its process while it runs, and a log for all its processes.
#[derive(Debug)]
pub struct Daemon {
    name: &'static str,
    log: PathBuf,
    process: Mutex<Option<Process>>,
    /// The folder of the server, which is deleted after the process has ended.
    _home: Option<TempDir>,
}

impl Daemon {
    pub(crate) fn new(name: &'static str, log: PathBuf) -> Self {
        Self { name, log, process: Mutex::new(None), _home: None }
    }

    /// Creates a program with a log in its own folder.
    pub(crate) fn in_home(name: &'static str, home: TempDir) -> Self {
        let daemon = Self::new(name, home.path().join("log"));
        Self { _home: Some(home), ..daemon }
    }

    /// Starts the program and waits until the server is ready.
    ///
    /// # Panics
    /// If the program ends early, or the server is not ready within a minute; the message contains
    /// the log.
    pub(crate) fn start(&self, command: &mut Command, is_ready: impl Fn() -> bool) {
        let log = File::options().create(true).append(true).open(&self.log).expect("a log");
        command.stdout(log.try_clone().expect("the log")).stderr(log);
        *self.process() = Some(Process::start(command));
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_ready() {
            let runs = self.process().as_mut().is_some_and(Process::is_running);
            assert!(
                runs && Instant::now() < deadline,
                "{} did not start: {}",
                self.name,
                fs::read_to_string(&self.log).unwrap_or_default()
            );
            sleep(Duration::from_millis(20));
        }
    }

    /// Sends the signal that the server's own tools use, and kills the process if it has not ended
    /// within half a minute.
    pub(crate) fn stop(&self, signal: libc::c_int) {
        if let Some(mut process) = self.process().take() {
            process.end(signal, Duration::from_secs(30));
        }
    }

    pub(crate) fn kill(&self) {
        if let Some(mut process) = self.process().take() {
            process.kill();
        }
    }

    /// The log, if the program has ended although nothing stopped or killed it.
    pub(crate) fn ended(&self) -> Option<String> {
        let has_ended = self.process().as_mut().is_some_and(|process| !process.is_running());
        let log = || fs::read_to_string(&self.log).unwrap_or_default();
        has_ended.then(|| format!("{} has ended: {}", self.name, log()))
    }

    pub(crate) fn signal(&self, signal: libc::c_int) {
        self.process().as_ref().expect("the server runs").signal(signal);
    }

    /// The data directory, next to the log.
    pub(crate) fn data(&self) -> PathBuf {
        self.log.with_file_name("data")
    }

    pub(crate) fn process(&self) -> MutexGuard<'_, Option<Process>> {
        // A failed test still has to stop its server.
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
