//! The command that `flakeid exec` runs: signals are passed on, and it is ended in time.

#![cfg_attr(target_os = "linux", allow(unsafe_code))]

use std::ffi::OsString;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use flakeid_core::Error;
use tokio::process::{self, Command};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{MissedTickBehavior, interval};

use super::lease::{Lease, Order};
use crate::failure::Failure;

/// How often it is seen whether the lease goes on.
const INTERVAL: Duration = Duration::from_millis(50);

/// What came of the command.
pub(super) struct Ended {
    /// As a shell counts it.
    pub(super) status: u8,
    /// Why it was ended, if the lease was lost.
    pub(super) lost: Option<Error>,
}

/// The command, and what waits for it.
pub(super) struct Child {
    // Before the runtime, which it needs until it is dropped.
    process: process::Child,
    signals: Signals,
    runtime: Runtime,
}

impl Child {
    pub(super) fn start(command: &[OsString], variables: &[(&str, u64)]) -> Result<Self, Failure> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(Error::invalid_option("COMMAND", "there is none").into());
        };
        let failed = |error| Failure::io(format!("cannot start {}", program.display()), error);
        // On this thread: on Linux a child can be told of the end of the thread that started it.
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let entered = runtime.enter();
        let signals = Signals::new().map_err(failed)?;
        let mut command = Command::new(program);
        command.args(arguments).kill_on_drop(true);
        command.envs(variables.iter().map(|(name, value)| (name, value.to_string())));
        signals.prepare(&mut command);
        let process = command.spawn().map_err(failed)?;
        drop(entered);
        Ok(Self { process, signals, runtime })
    }

    /// Waits until the command has ended, or the lease; then gives the node back.
    pub(super) fn run(mut self, mut lease: Lease) -> Result<Ended, Failure> {
        let Self { process, signals, runtime } = &mut self;
        let (status, was_ended) = runtime
            .block_on(supervise(process, signals, &mut lease))
            .map_err(|error| Failure::io("cannot wait for the command", error))?;
        let lost = was_ended.then(|| lease.error());
        lease.end();
        Ok(Ended { status: status_of(status), lost })
    }
}

/// The command's status, and whether it was ended here.
async fn supervise(
    child: &mut process::Child,
    signals: &mut Signals,
    lease: &mut Lease,
) -> io::Result<(ExitStatus, bool)> {
    let pid = child.id();
    let mut due = interval(INTERVAL);
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut last, mut was_ended) = (Order::GoOn, false);
    let status = loop {
        tokio::select! {
            status = child.wait() => break status?,
            signal = signals.next() => signals.send(pid, signal),
            _ = due.tick() => {}
        }
        let order = lease.order();
        was_ended = was_ended || order != Order::GoOn;
        if order != last && order == Order::End {
            signals.end(pid);
        }
        if order == Order::Kill {
            signals.kill(pid);
            child.start_kill()?;
        }
        last = order;
    };
    // What it has started goes with it: the node is given back.
    signals.kill(pid);
    Ok((status, was_ended))
}

#[cfg(unix)]
use unix::{Signals, status_of};

#[cfg(unix)]
mod unix {
    use std::io::{self, IsTerminal};
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use rustix::process::{Pid, Signal, kill_process, kill_process_group};
    use tokio::process::Command;
    use tokio::signal::unix::{self, SignalKind};

    /// The signals that are passed on.
    pub(super) struct Signals {
        terminate: unix::Signal,
        hang_up: unix::Signal,
        interrupt: unix::Signal,
        /// On a terminal the command stays in our group, so that it can read and gets Ctrl-C by itself.
        /// Elsewhere it has a group of its own, which can be ended with all that it has started.
        has_group: bool,
    }

    impl Signals {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self {
                terminate: unix::signal(SignalKind::terminate())?,
                hang_up: unix::signal(SignalKind::hangup())?,
                interrupt: unix::signal(SignalKind::interrupt())?,
                has_group: !io::stdin().is_terminal(),
            })
        }

        pub(super) fn prepare(&self, command: &mut Command) {
            if self.has_group {
                command.process_group(0);
            }
            #[cfg(target_os = "linux")]
            {
                // Nobody would end the command when its lease has ended.
                let die_with_parent =
                    || Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?);
                // SAFETY: it makes one system call and allocates nothing.
                unsafe { command.pre_exec(die_with_parent) };
            }
        }

        pub(super) async fn next(&mut self) -> Signal {
            tokio::select! {
                _ = self.terminate.recv() => Signal::TERM,
                _ = self.hang_up.recv() => Signal::HUP,
                _ = self.interrupt.recv() => Signal::INT,
            }
        }

        /// Passes a signal on, unless the terminal has sent it to the command as well.
        pub(super) fn send(&self, pid: Option<u32>, signal: Signal) {
            if self.has_group || signal != Signal::INT {
                self.tell(pid, signal);
            }
        }

        pub(super) fn end(&self, pid: Option<u32>) {
            self.tell(pid, Signal::TERM);
        }

        /// Kills all that the command has started, if it has a group.
        pub(super) fn kill(&self, pid: Option<u32>) {
            if self.has_group {
                self.tell(pid, Signal::KILL);
            }
        }

        fn tell(&self, pid: Option<u32>, signal: Signal) {
            let pid = pid.and_then(|pid| Pid::from_raw(pid.cast_signed()));
            // It may have ended: then there is nobody to tell.
            let _ = pid.map(|pid| {
                if self.has_group {
                    kill_process_group(pid, signal)
                } else {
                    kill_process(pid, signal)
                }
            });
        }
    }

    /// As a shell counts it.
    pub(super) fn status_of(status: ExitStatus) -> u8 {
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
    }
}

#[cfg(not(unix))]
use other::{Signals, status_of};

#[cfg(not(unix))]
mod other {
    use std::io;
    use std::process::ExitStatus;

    use tokio::process::Command;

    /// The console tells the command itself; there is no gentle way to end it.
    pub(super) struct Signals;

    impl Signals {
        #[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        pub(super) fn prepare(&self, _: &mut Command) {}

        /// Ctrl-C ends the command, and not us before.
        pub(super) async fn next(&mut self) {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending().await
            }
        }

        pub(super) fn send(&self, _: Option<u32>, (): ()) {}

        pub(super) fn end(&self, _: Option<u32>) {}

        pub(super) fn kill(&self, _: Option<u32>) {}
    }

    pub(super) fn status_of(status: ExitStatus) -> u8 {
        status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
    }
}
