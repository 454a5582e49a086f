#![allow(unsafe_code)]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server's process, killed by its own ID when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
}

impl Process {
    /// Starts a program; its output goes where the command says.
    ///
    /// # Panics
    /// If it cannot be started, naming the program.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::null()).spawn();
        let child = child.unwrap_or_else(|error| {
            panic!("{} cannot be started: {error}", command.get_program().display())
        });
        Self { child }
    }

    /// Its process ID.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// If the process ID is none.
    pub fn signal(&self, signal: libc::c_int) {
        let pid = libc::pid_t::try_from(self.child.id()).expect("a process ID");
        // SAFETY: the child was not waited for yet, so its ID is still its own.
        unsafe { libc::kill(pid, signal) };
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Asks it to end by a signal; kills it if it has not within `timeout`.
    pub fn end(&mut self, signal: libc::c_int, timeout: Duration) {
        if self.is_running() {
            // A stopped process ends only once it goes on.
            self.signal(signal);
            self.signal(libc::SIGCONT);
        }
        let deadline = Instant::now() + timeout;
        while self.is_running() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.kill();
    }

    /// Kills it and waits for its end.
    pub fn kill(&mut self) {
        // Both fail only if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
