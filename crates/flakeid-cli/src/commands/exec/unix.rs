//! The processes of a command, on Unix: the command, and what it has started.
//!
//! On Linux all of it is found, wherever it went, because orphans become children of this process. Other
//! systems have only the command's process group.

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

/// The command and what it has started, and the signals that are passed on to it.
pub(super) struct Processes {
    terminate: unix::Signal,
    hang_up: unix::Signal,
    interrupt: unix::Signal,
    /// Handled also because the kernel discards the status of children of a process that ignores this signal.
    child_ended: unix::Signal,
    /// On a terminal the command stays in our group, so that it can read and gets Ctrl-C by itself.
    /// Elsewhere it has a group of its own, which gets the signals that are passed on.
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
            // If this process is killed, its lease is not renewed any more.
            let die_with_parent = move || {
                set_parent_process_death_signal(Some(Signal::KILL))?;
                // The parent may have been killed before that.
                if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH.into()) }
            };
            // SAFETY: the closure makes two system calls and allocates nothing.
            unsafe { command.pre_exec(die_with_parent) };
        }
    }

    /// Waits for a signal to pass on; `None` if a child has ended instead.
    pub(super) async fn next(&mut self) -> Option<Signal> {
        tokio::select! {
            _ = self.terminate.recv() => Some(Signal::TERM),
            _ = self.hang_up.recv() => Some(Signal::HUP),
            _ = self.interrupt.recv() => Some(Signal::INT),
            _ = self.child_ended.recv() => None,
        }
    }

    /// Passes a signal on to the command, or to what it left behind, unless the terminal has sent it to
    /// all of them as well.
    pub(super) fn pass_on(&mut self, command: Option<u32>, signal: Signal) {
        if self.has_group || signal != Signal::INT {
            match command {
                Some(_) => self.signal(command, signal),
                None => self.signal_all(None, signal),
            }
        }
    }

    fn signal(&self, command: Option<u32>, signal: Signal) {
        let command = command.and_then(|pid| Pid::from_raw(pid.cast_signed()));
        // It may have ended.
        let _ = command.map(|pid| {
            if self.has_group { kill_process_group(pid, signal) } else { kill_process(pid, signal) }
        });
    }
}

#[cfg(target_os = "linux")]
impl Processes {
    /// Asks the command to end, and all that it has started.
    pub(super) fn end(&mut self, command: Option<u32>) {
        self.signal_all(command, Signal::TERM);
    }

    /// Asks what the ended command has left behind to end, and reports that if it `is_noted`.
    pub(super) fn end_rest(&mut self, _: Option<u32>, is_noted: bool) {
        if Self::have_ended() {
            return;
        }
        if is_noted {
            descendants::note_rest();
        }
        self.signal_all(None, Signal::TERM);
    }

    /// Kills the command and all that it has started, and reports which processes cannot be killed.
    pub(super) fn kill(&mut self, command: &mut Child, node: u64) {
        self.signal_all(command.id(), Signal::KILL);
        self.descendants.note_refused(node);
    }

    /// Signals all that can be found, or else the command and its group.
    fn signal_all(&mut self, command: Option<u32>, signal: Signal) {
        if !self.descendants.signal(signal) {
            self.signal(command, signal);
        }
    }

    /// Reaps orphans that have ended while the command runs.
    pub(super) fn reap(command: Option<u32>) {
        if let Some(command) = command.and_then(|pid| Pid::from_raw(pid.cast_signed())) {
            descendants::reap_all_but(command);
        }
    }

    /// Whether nothing is left of a command whose status is known.
    pub(super) fn have_ended() -> bool {
        descendants::have_ended()
    }
}

#[cfg(not(target_os = "linux"))]
impl Processes {
    /// Asks the command to end, with its group if it has one.
    pub(super) fn end(&mut self, command: Option<u32>) {
        self.signal(command, Signal::TERM);
    }

    /// Kills what is left of the group of a command that had this number.
    pub(super) fn end_rest(&mut self, command: Option<u32>, _: bool) {
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

    /// The system reaps orphans.
    pub(super) fn reap(_: Option<u32>) {}

    /// The rest of the group has been killed, and what left the group cannot be found.
    pub(super) fn have_ended() -> bool {
        true
    }
}

/// Returns the status of the command as a shell counts it.
pub(super) fn status_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Returns the status of a process that a signal has ended, as a shell counts it.
pub(super) fn status_of_signal(signal: Signal) -> u8 {
    u8::try_from(128 + signal.as_raw()).unwrap_or(u8::MAX)
}
