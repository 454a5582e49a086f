//! The worker processes: starts, pauses, kills and restarts them.

#![allow(unsafe_code)]

use std::fs;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::shared_memory::{SharedMemory, Tally};

/// The command line of a worker.
pub(crate) struct WorkerCommand {
    pub(crate) folder: PathBuf,
    pub(crate) seed: u64,
    pub(crate) rate: u64,
    /// The window and the TTL of long leases, in milliseconds.
    pub(crate) long_window: u64,
    pub(crate) long_ttl: u64,
    /// The store's URL for each slot, and the group whose clock the worker reads.
    pub(crate) stores: Vec<(String, usize)>,
    /// The interpreters and the scripts of the last slots.
    pub(crate) scripts: Vec<(PathBuf, PathBuf)>,
    /// The program of the workers in odd slots, if it differs from that of the others.
    pub(crate) beside: Option<PathBuf>,
    /// Whether workers lease any node instead of a particular one.
    pub(crate) any_node: bool,
}

/// The worker processes, one for each slot. Each one leads a separate process group.
pub(crate) struct Workers {
    command: WorkerCommand,
    shared: Arc<SharedMemory>,
    processes: Vec<Process>,
    /// The workers that ended unexpectedly.
    pub(crate) crashed: Vec<String>,
}

#[derive(Default)]
struct Process {
    child: Option<Child>,
    runs: u64,
    /// The time at which the paused process is resumed.
    paused_until: Option<Instant>,
    /// The time at which the next process is started.
    start_at: Option<Instant>,
}

impl Workers {
    pub(crate) fn new(command: WorkerCommand, shared: Arc<SharedMemory>) -> Self {
        let processes = command.stores.iter().map(|_| Process::default()).collect();
        Self { command, shared, processes, crashed: Vec::new() }
    }

    /// Returns the folder with the events and errors of each worker.
    pub(crate) fn events(&self) -> PathBuf {
        self.command.folder.join("events")
    }

    /// Returns the latest event or error in a worker's log, or `None` if the worker has no log.
    pub(crate) fn latest_event(&self, slot: usize) -> io::Result<Option<String>> {
        match fs::read_to_string(self.events().join(format!("{slot:02}.log"))) {
            Ok(log) => Ok(log.lines().next_back().map(str::to_owned)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.processes.len()
    }

    pub(crate) fn start_all(&mut self) -> io::Result<()> {
        (0..self.processes.len()).try_for_each(|slot| self.start(slot))
    }

    fn start(&mut self, slot: usize) -> io::Result<()> {
        let WorkerCommand { folder, seed, rate, stores, scripts, .. } = &self.command;
        let WorkerCommand { long_window, long_ttl, .. } = &self.command;
        let (url, group) = &stores[slot];
        let beside = self.command.beside.as_ref().filter(|_| slot % 2 == 1);
        // Builds from before the version of documents have no such option.
        let url = if beside.is_some() { &url.replace("&place=campaign", "") } else { url };
        let of_script = (slot + scripts.len()).checked_sub(stores.len());
        let script = of_script.and_then(|index| scripts.get(index));
        let mut command = if let Some((interpreter, script)) = script {
            let mut command = Command::new(interpreter);
            command.arg(script);
            command
        } else {
            let mut command = match beside {
                Some(program) => Command::new(program),
                None => Command::new(std::env::current_exe()?),
            };
            command.arg("worker");
            command
        };
        let process = &mut self.processes[slot];
        process.runs += 1;
        self.shared.set(slot, Tally::Stop, 0);
        command.arg("--folder").arg(folder).args(["--url", url]);
        for (name, value) in [
            ("--slot", slot as u64),
            ("--run", process.runs),
            ("--group", *group as u64),
            ("--seed", *seed),
            ("--rate", *rate),
            ("--long-window", *long_window),
            ("--long-ttl", *long_ttl),
        ] {
            command.args([name, &value.to_string()]);
        }
        if self.command.any_node {
            command.arg("--any-node");
        }
        command.stdin(Stdio::null()).process_group(0);
        process.child = Some(command.spawn()?);
        (process.paused_until, process.start_at) = (None, None);
        Ok(())
    }

    /// Whether a slot's worker is running, and is neither paused nor about to be replaced.
    pub(crate) fn is_running(&self, slot: usize) -> bool {
        let process = &self.processes[slot];
        process.child.is_some() && process.paused_until.is_none() && process.start_at.is_none()
    }

    /// Kills a slot's worker, which may be paused, and with `children` also its forked children.
    /// Starts another worker after `delay`. Returns `false` if there is no worker.
    pub(crate) fn kill(
        &mut self,
        slot: usize,
        children: bool,
        delay: Duration,
    ) -> io::Result<bool> {
        let process = &mut self.processes[slot];
        let Some(mut child) = process.child.take() else { return Ok(false) };
        child.kill()?;
        // The children may be paused as well. The worker has not been waited for, so its process
        // group still exists under the same ID.
        signal_group(&child, if children { libc::SIGKILL } else { libc::SIGCONT });
        child.wait()?;
        process.start_at = Some(Instant::now() + delay);
        process.paused_until = None;
        Ok(true)
    }

    /// Pauses a worker and its children.
    pub(crate) fn pause(&mut self, slot: usize, duration: Duration) {
        let process = &mut self.processes[slot];
        if let Some(child) = &process.child {
            signal_group(child, libc::SIGSTOP);
            process.paused_until = Some(Instant::now() + duration);
        }
    }

    /// Requests the worker's end. Starts another worker after `delay`, but not before the old one
    /// has ended.
    pub(crate) fn restart(&mut self, slot: usize, delay: Duration) {
        self.shared.set(slot, Tally::Stop, 1);
        self.processes[slot].start_at = Some(Instant::now() + delay);
    }

    /// Resumes the processes whose pause is over, and starts the processes that are due.
    pub(crate) fn supervise(&mut self) -> io::Result<()> {
        let now = Instant::now();
        for slot in 0..self.processes.len() {
            let process = &mut self.processes[slot];
            if let (Some(child), Some(until)) = (&process.child, process.paused_until)
                && now >= until
            {
                signal_group(child, libc::SIGCONT);
                process.paused_until = None;
            }
            if let Some(child) = &mut process.child
                && let Some(status) = child.try_wait()?
            {
                process.child = None;
                if process.start_at.is_none() || !status.success() {
                    let how = status.signal().map_or_else(
                        || status.to_string(),
                        |signal| format!("{status}, signal {signal}"),
                    );
                    self.crashed.push(format!("worker {slot:02}, run {}: {how}", process.runs));
                    process.start_at.get_or_insert(now);
                }
            }
            if process.child.is_none() && process.start_at.is_some_and(|at| now >= at) {
                self.start(slot)?;
            }
        }
        Ok(())
    }

    /// Resumes and starts all processes immediately.
    pub(crate) fn resume_all(&mut self) -> io::Result<()> {
        for process in &mut self.processes {
            let now = Instant::now();
            process.paused_until = process.paused_until.map(|_| now);
            process.start_at = process.start_at.map(|_| now);
        }
        self.supervise()
    }

    /// Waits until all processes have ended because the campaign is over. Kills and reports the
    /// processes that take longer than `timeout`.
    pub(crate) fn shut_down(&mut self, timeout: Duration) -> io::Result<()> {
        let deadline = Instant::now() + timeout;
        for (slot, process) in self.processes.iter_mut().enumerate() {
            let Some(mut child) = process.child.take() else { continue };
            signal_group(&child, libc::SIGCONT);
            while child.try_wait()?.is_none() {
                if Instant::now() >= deadline {
                    self.crashed.push(format!("worker {slot:02} did not end in time"));
                    child.kill()?;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Ok(())
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.end();
        for child in self.processes.iter_mut().filter_map(|process| process.child.as_mut()) {
            signal_group(child, libc::SIGKILL);
            // The kill fails only if the process has ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Sends a signal to a worker that has not been waited for, and to its children.
fn signal_group(child: &Child, signal: libc::c_int) {
    let Ok(group) = libc::pid_t::try_from(child.id()) else { return };
    // SAFETY: the group's leader has not been waited for, so no other process can have its process
    // ID.
    unsafe { libc::killpg(group, signal) };
}
