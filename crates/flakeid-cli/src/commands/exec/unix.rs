//! Forwards signals to the command on Unix, and ends the command and the processes that it started.
//!
//! On Linux, all of these processes are found, in any session or process group, because orphans
//! become children of this process. On other systems, only the processes in the command's process
//! group are found.

#![cfg_attr(target_os = "linux", allow(unsafe_code))]

use std::io::{self, IsTerminal};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

pub(super) use rustix::process::Signal;
use rustix::process::{Pid, kill_process, kill_process_group};
use tokio::process::{Child, Command};
use tokio::signal::unix::{self, SignalKind};

#[cfg(target_os = "linux")]
use super::descendants::{self, Descendants};

/// The command and the processes that it started, and the signals that are forwarded to these
/// processes.
pub(super) struct Processes {
    terminate: unix::Signal,
    hang_up: unix::Signal,
    interrupt: unix::Signal,
    /// The handler of SIGCHLD. Without a handler, this process might ignore SIGCHLD, and the kernel
    /// would then discard the exit statuses of its children.
    child_ended: unix::Signal,
    /// Whether the command has its own process group, which gets the forwarded signals. If standard
    /// input is a terminal, the command stays in the process group of this process. The command can
    /// then read from the terminal and gets Ctrl-C from the terminal.
    has_group: bool,
    #[cfg(target_os = "linux")]
    descendants: Descendants,
}

impl Processes {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: unix::signal(SignalKind::terminate())?,
            hang_up: unix::signal(SignalKind::hangup())?,
            interrupt: unix::signal(SignalKind::interrupt())?,
            child_ended: unix::signal(SignalKind::child())?,
            has_group: !io::stdin().is_terminal(),
            #[cfg(target_os = "linux")]
            descendants: Descendants::adopt()?,
        })
    }

    pub(super) fn prepare(&self, command: &mut Command) {
        if self.has_group {
            command.process_group(0);
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::io::Errno;
            use rustix::process::{getpid, getppid, set_parent_process_death_signal};
            let parent = getpid();
            // If this process is killed, nothing renews the lease any more, so the kernel must kill the
            // command too.
            let die_with_parent = move || {
                set_parent_process_death_signal(Some(Signal::KILL))?;
                // If the parent process was killed before the parent-death signal was set, the
                // signal never arrives. In this case, the command must not start.
                if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH.into()) }
            };
            // SAFETY: the closure only makes two system calls and allocates no memory, so it may
            // run between `fork` and `exec`.
            unsafe { command.pre_exec(die_with_parent) };
        }
    }

    /// Waits for a signal to forward to the command. Returns `None` if a child ends first.
    pub(super) async fn next(&mut self) -> Option<Signal> {
        tokio::select! {
            _ = self.terminate.recv() => Some(Signal::TERM),
            _ = self.hang_up.recv() => Some(Signal::HUP),
            _ = self.interrupt.recv() => Some(Signal::INT),
            _ = self.child_ended.recv() => None,
        }
    }

    /// Forwards a signal to the command or, if the command has ended, to its remaining processes.
    /// If the command is in the same process group as this process, SIGINT is not forwarded,
    /// because the terminal has already sent SIGINT to the whole group.
    pub(super) fn forward(&mut self, command: Option<u32>, signal: Signal) {
        if self.has_group || signal != Signal::INT {
            match command {
                Some(_) => self.signal(command, signal),
                None => self.signal_all(None, signal),
            }
        }
    }

    fn signal(&self, command: Option<u32>, signal: Signal) {
        let command = command.and_then(|pid| Pid::from_raw(pid.cast_signed()));
        // An error is ignored, because the command may already have ended.
        let _ = command.map(|pid| {
            if self.has_group { kill_process_group(pid, signal) } else { kill_process(pid, signal) }
        });
    }
}

#[cfg(target_os = "linux")]
impl Processes {
    /// Sends SIGTERM to the command and all processes that it started.
    pub(super) fn end(&mut self, command: Option<u32>) {
        self.signal_all(command, Signal::TERM);
    }

    /// Sends SIGTERM to the processes that remain after the command has ended. If `is_reported` is
    /// true, also reports these processes to the user.
    pub(super) fn end_remaining(&mut self, _: Option<u32>, is_reported: bool) {
        if Self::have_ended() {
            return;
        }
        if is_reported {
            descendants::report_remaining();
        }
        self.signal_all(None, Signal::TERM);
    }

    /// Kills the command and all processes that it started, and reports the processes that cannot
    /// be killed.
    pub(super) fn kill(&mut self, command: &mut Child, node: u64) {
        self.signal_all(command.id(), Signal::KILL);
        self.descendants.report_refused(node);
    }

    /// Sends a signal to all descendants. If the descendants cannot be found, sends the signal to
    /// the command's own process group, or only to the command if it has no group of its own.
    fn signal_all(&mut self, command: Option<u32>, signal: Signal) {
        if !self.descendants.signal(signal) {
            self.signal(command, signal);
        }
    }

    /// Reaps orphans that end while the command is running.
    pub(super) fn reap(command: Option<u32>) {
        if let Some(command) = command.and_then(|pid| Pid::from_raw(pid.cast_signed())) {
            descendants::reap_all_except(command);
        }
    }

    /// Whether all processes of a command have ended. Call this function only after the command's
    /// exit status is known.
    pub(super) fn have_ended() -> bool {
        descendants::have_ended()
    }
}

#[cfg(not(target_os = "linux"))]
impl Processes {
    /// Sends SIGTERM to the command or, if the command has its own process group, to that group.
    pub(super) fn end(&mut self, command: Option<u32>) {
        self.signal(command, Signal::TERM);
    }

    /// Kills the remaining processes of a command that has ended, if the command has its own
    /// process group. `command` is the command's process ID.
    pub(super) fn end_remaining(&mut self, command: Option<u32>, _: bool) {
        if self.has_group {
            self.signal(command, Signal::KILL);
        }
    }

    pub(super) fn kill(&mut self, command: &mut Child, _: u64) {
        self.signal(command.id(), Signal::KILL);
    }

    fn signal_all(&mut self, command: Option<u32>, signal: Signal) {
        self.signal(command, signal);
    }

    /// Does nothing, because on these systems the init process reaps orphans.
    pub(super) fn reap(_: Option<u32>) {}

    /// Returns `true`: `end_remaining` has killed the other processes in the command's process
    /// group, and processes outside the group cannot be found.
    pub(super) fn have_ended() -> bool {
        true
    }
}

/// Returns the exit status that a shell would report for the command.
pub(super) fn status_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Returns the exit status that a shell reports for a process that was killed by the given signal.
pub(super) fn status_of_signal(signal: Signal) -> u8 {
    u8::try_from(128 + signal.as_raw()).unwrap_or(u8::MAX)
}
