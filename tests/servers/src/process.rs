#![allow(unsafe_code)]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server's process. Dropping it kills the process by its own process ID.
#[derive(Debug)]
pub struct Process {
    child: Child,
}

impl Process {
    /// Starts a program. The command defines where its output goes.
    ///
    /// # Panics
    /// If the program cannot be started; the message names it.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::null()).spawn();
        let child = child.unwrap_or_else(|error| {
            panic!("{} cannot be started: {error}", command.get_program().display())
        });
        Self { child }
    }

    /// The process ID.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the process.
    ///
    /// # Panics
    /// If the process ID is out of range.
    pub fn signal(&self, signal: libc::c_int) {
        let pid = libc::pid_t::try_from(self.child.id()).expect("a process ID");
        // SAFETY: the child has not been waited for, so the process ID still belongs to it.
        unsafe { libc::kill(pid, signal) };
    }

    /// Whether the process is running.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a signal to end the process, and kills it if it is still running after `timeout`.
    pub fn end(&mut self, signal: libc::c_int, timeout: Duration) {
        if self.is_running() {
            // A stopped process ends only after it is continued.
            self.signal(signal);
            self.signal(libc::SIGCONT);
        }
        let deadline = Instant::now() + timeout;
        while self.is_running() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.kill();
    }

    /// Kills the process and waits for its end.
    pub fn kill(&mut self) {
        // Both calls fail only if the process has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
