//! A supervisor for the command that `flakeid exec` runs. The supervisor forwards signals to the
//! command. Before the lease ends, the supervisor ends the command and all processes that the
//! command started.

use std::ffi::OsString;
use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use flakeid_core::Error;
use tokio::process::{Child, Command};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::lease::{Lease, Order};
#[cfg(not(unix))]
use super::other::{Processes, status_of, status_of_signal};
#[cfg(unix)]
use super::unix::{Processes, status_of, status_of_signal};
use crate::failure::Failure;
use crate::format::duration;
use crate::terminal;

/// The time between two checks of the lease.
const INTERVAL: Duration = Duration::from_millis(50);
/// The maximum duration of a single sleep during the wait for the node's first tick. Short sleeps
/// ensure that a change to the system clock during the wait takes effect quickly.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// The minimum duration of a wait that is reported to the user, in milliseconds. The wait lasts until
/// the node's first tick begins.
const SHORTEST_REPORTED_MS: u64 = 1_000;

/// The result of a command that has ended.
pub(super) struct Ended {
    /// The exit status of the command, as a shell reports it.
    pub(super) status: u8,
    /// The error that ended the lease, or `None` if the lease was not lost.
    pub(super) lost: Option<Error>,
}

/// A supervisor that starts the command, waits for the command, and ends the processes that the
/// command started.
pub(super) struct Supervisor {
    processes: Processes,
    runtime: Runtime,
    /// The time between SIGTERM and SIGKILL for processes that the command left behind.
    grace: Duration,
}

impl Supervisor {
    pub(super) fn new(grace: Duration) -> Result<Self, Failure> {
        let failed = |error| Failure::io("cannot start the supervisor of the command", error);
        // The runtime runs on this thread, because on Linux the kernel kills the command when the
        // thread that started the command ends.
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let entered = runtime.enter();
        let processes = Processes::new().map_err(failed)?;
        drop(entered);
        Ok(Self { processes, runtime, grace })
    }

    /// Waits until the node's first tick begins. If a signal arrives earlier, returns the exit
    /// status for that signal.
    pub(super) fn wait_for_first_tick(&mut self, lease: &Lease) -> Option<u8> {
        let left = lease.ms_to_first_tick();
        if left >= SHORTEST_REPORTED_MS {
            let (node, left) = (lease.node(), duration::shown(left));
            terminal::note(&format!(
                "flakeid: node {node} can be used in {left}, when the window of its previous holder \
                 ends; the command starts then"
            ));
        }
        let Self { processes, runtime, .. } = self;
        runtime.block_on(async {
            loop {
                let left = Duration::from_millis(lease.ms_to_first_tick());
                if left.is_zero() {
                    return None;
                }
                tokio::select! {
                    signal = processes.next() => if let Some(signal) = signal {
                        return Some(status_of_signal(signal));
                    },
                    () = sleep(left.min(LONGEST_SLEEP)) => {}
                }
            }
        })
    }

    /// Starts the command. The environment of the command contains the variables in `set`, but not
    /// the variables in `removed`.
    pub(super) fn start(
        &self,
        command: &[OsString],
        removed: &[&str],
        set: &[(&str, u64)],
    ) -> Result<Child, Failure> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(Error::invalid_option("COMMAND", "missing: give a command after --").into());
        };
        let mut command = Command::new(program);
        command.args(arguments).kill_on_drop(true);
        for name in removed {
            command.env_remove(name);
        }
        command.envs(set.iter().map(|(name, value)| (name, value.to_string())));
        self.processes.prepare(&mut command);
        let _entered = self.runtime.enter();
        let failed = |error| Failure::io(format!("cannot start {}", program.display()), error);
        command.spawn().map_err(failed)
    }

    /// Waits until the command and all processes that it started have ended. If the lease is about
    /// to end, ends the processes that are still running.
    pub(super) fn run(mut self, mut child: Child, lease: &mut Lease) -> Result<Ended, Failure> {
        let Self { processes, runtime, grace } = &mut self;
        let ended = runtime.block_on(supervise(&mut child, processes, *grace, lease));
        ended.map_err(|error| Failure::io("cannot wait for the command", error))
    }
}

async fn supervise(
    child: &mut Child,
    processes: &mut Processes,
    grace: Duration,
    lease: &mut Lease,
) -> io::Result<Ended> {
    let mut due = interval(INTERVAL);
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut previous, mut lost, mut was_signalled) = (Order::Continue, None, false);
    let number = child.id();
    // The exit status of the command, and the time at which any remaining processes are killed. The
    // value is `None` while the command is running.
    let mut ended: Option<(ExitStatus, Instant)> = None;
    loop {
        tokio::select! {
            status = child.wait(), if ended.is_none() => {
                ended = Some((status?, Instant::now() + grace));
                processes.end_remaining(number, !was_signalled && lost.is_none());
            }
            signal = processes.next() => if let Some(signal) = signal {
                was_signalled = true;
                processes.forward(child.id(), signal);
            },
            _ = due.tick() => {}
        }
        let order = lease.order();
        if order != Order::Continue && lost.is_none() {
            lost = Some(lease.error());
        }
        if order == Order::End && previous == Order::Continue {
            processes.end(child.id());
        }
        if order == Order::Kill || ended.is_some_and(|(_, at)| Instant::now() >= at) {
            processes.kill(child, lease.node());
        }
        previous = order;
        Processes::reap(child.id());
        if let Some((status, _)) = ended
            && Processes::have_ended()
        {
            return Ok(Ended { status: status_of(status), lost });
        }
    }
}
