//! A worker process: leases a node, issues IDs, releases the node and starts again, until the
//! campaign ends or kills the worker. Some workers fork while they hold a node.

#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::process;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use flakeid::{Generator, Identity, LeaseEvent};
use flakeid_core::{Clock, Error, Id, SystemClock};

use crate::controls;
use crate::ids::{IdLog, LAYOUT};
use crate::lease_options::{self, WorkerLease};
use crate::schedule::Rng;
use crate::shared_memory::{GroupClock, NODES, SharedMemory, Tally};

/// The options of a worker process.
#[derive(Args, Clone)]
pub(crate) struct Worker {
    #[arg(long)]
    pub(crate) folder: PathBuf,
    #[arg(long)]
    pub(crate) url: String,
    #[arg(long)]
    pub(crate) slot: usize,
    /// The number of this process among the processes of its slot, starting at 1.
    #[arg(long)]
    pub(crate) run: u64,
    #[arg(long)]
    pub(crate) group: usize,
    #[arg(long)]
    pub(crate) seed: u64,
    /// The number of IDs per second.
    #[arg(long)]
    pub(crate) rate: u64,
    /// The window of a long lease, in milliseconds.
    #[arg(long)]
    pub(crate) long_window: u64,
    /// The TTL of a long lease, in milliseconds.
    #[arg(long)]
    pub(crate) long_ttl: u64,
    /// Lease any node instead of a particular one.
    #[arg(long)]
    pub(crate) any_node: bool,
}

/// The maximum number of IDs per call.
const MAX_IDS: u64 = 8192;
/// The maximum number of forks between a worker and its descendants.
const MAX_DEPTH: u32 = 2;

/// A worker, its child or its grandchild.
struct Process {
    worker: Worker,
    shared: Arc<SharedMemory>,
    parent: libc::pid_t,
    rng: Rng,
    /// The number of forks between the worker and this process.
    depth: u32,
    id_logs: u64,
    ends: Option<Instant>,
}

impl Worker {
    /// Runs until the campaign or this worker has to end.
    pub(crate) fn run(&self) -> io::Result<()> {
        let shared = Arc::new(SharedMemory::open(&self.folder)?);
        // SAFETY: ignoring the signal has no precondition. It makes the kernel reap the children.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        let clock = GroupClock::new(Arc::clone(&shared), self.group);
        let name = format!("{:02}-{}", self.slot, self.run);
        let (worker, for_controls) = (self.clone(), Arc::clone(&shared));
        thread::spawn(move || {
            let done = controls::run(&for_controls, &clock, &worker.folder, &name, worker.slot);
            // A control without a log would prove nothing.
            if let Err(error) = done {
                eprintln!("control {name}: {error}");
                process::exit(3);
            }
        });
        let rng = Rng::for_part(self.seed, (self.slot as u64) << 32 | self.run);
        // SAFETY: `getppid` always succeeds.
        let parent = unsafe { libc::getppid() };
        let worker = self.clone();
        Process { worker, shared, parent, rng, depth: 0, id_logs: 0, ends: None }.run()
    }

    fn identity(&self) -> Identity {
        match self.slot % 12 {
            6..=8 => Identity::Name(format!("worker-{}", self.slot)),
            _ if self.any_node => Identity::Any,
            9 | 10 => Identity::Node(0),
            11 => Identity::Node(5),
            _ => Identity::Any,
        }
    }

    fn lease(&self) -> WorkerLease {
        let long = [self.long_window, self.long_ttl].map(Duration::from_millis);
        lease_options::worker_lease(self.slot, long.into())
    }

    /// Whether the worker forks. A worker with a fixed node does not, because the node stays with
    /// the parent.
    fn forks(&self) -> bool {
        !matches!(self.identity(), Identity::Node(_)) && self.slot % 3 == 2
    }
}

impl Process {
    fn run(mut self) -> io::Result<()> {
        while !self.is_over() {
            match self.open() {
                Ok(generator) => {
                    self.shared.count(self.worker.slot, Tally::Opened, 1);
                    self.issue_ids(&generator, 0)?;
                    drop(generator);
                    // Without this wait, the worker would often get the same node again before any
                    // other worker.
                    self.sleep(200..1000);
                }
                Err(error) => {
                    self.failed(&error)?;
                    self.sleep(5..60);
                }
            }
        }
        Ok(())
    }

    fn sleep(&mut self, ms: Range<u64>) {
        thread::sleep(Duration::from_millis(self.rng.in_range(ms)));
    }

    fn is_over(&self) -> bool {
        let asked = self.depth == 0 && self.shared.tally(self.worker.slot, Tally::Stop) != 0;
        // SAFETY: `getppid` always succeeds. A worker must not outlive the campaign. Forked
        // children are often orphans, and have their own end time.
        let orphaned = self.depth == 0 && unsafe { libc::getppid() } != self.parent;
        let late = self.ends.is_some_and(|end| Instant::now() >= end);
        self.shared.is_over() || asked || orphaned || late
    }

    fn open(&self) -> Result<Generator, Error> {
        let WorkerLease { window, ttl, .. } = self.worker.lease();
        let (shared, slot) = (Arc::clone(&self.shared), self.worker.slot);
        let log = self.log().ok();
        let log = move |event: &LeaseEvent| {
            let tally = match event {
                LeaseEvent::Acquired { .. } => Some(Tally::Grants),
                LeaseEvent::Renewed { .. } => Some(Tally::Renewals),
                LeaseEvent::FencedOff { .. } => Some(Tally::FencedOff),
                LeaseEvent::StoreLost { .. } => Some(Tally::StoreLost),
                LeaseEvent::Released { .. } => Some(Tally::Released),
                _ => None,
            };
            if let Some(tally) = tally {
                shared.count(slot, tally, 1);
            }
            if let Some(log) = &log {
                append_line(log, &format!("{event:?}"));
            }
        };
        let mut builder = flakeid::lease(&self.worker.url, LAYOUT)?;
        if !self.worker.any_node {
            builder = builder.node_range(0..=NODES as u64 - 1);
        }
        builder
            .namespace(lease_options::NAMESPACE)
            .identity(self.worker.identity())
            .window(window)
            .ttl(ttl)
            .max_wait(lease_options::MAX_WAIT)
            .clock(GroupClock::new(Arc::clone(&self.shared), self.worker.group))
            .observer(log)
            .open()
    }

    fn log(&self) -> io::Result<File> {
        let name = format!("{:02}.log", self.worker.slot);
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.worker.folder.join("events").join(name))
    }

    fn failed(&self, error: &Error) -> io::Result<()> {
        self.shared.count(self.worker.slot, Tally::Failures, 1);
        append_line(&self.log()?, &format!("{:?}: {error}", error.kind()));
        Ok(())
    }

    /// Issues IDs above `last` for a few seconds.
    fn issue_ids(&mut self, generator: &Generator, mut last: u64) -> io::Result<()> {
        let Worker { slot, run, rate, .. } = self.worker;
        self.id_logs += 1;
        let name = format!("{slot:02}-{run}-{}-{}", process::id(), self.id_logs);
        let mut id_log = IdLog::create(&self.worker.folder.join("leased"), &name)?;
        let WorkerLease { lifetime_ms, max_failures, .. } = self.worker.lease();
        let until = Instant::now() + Duration::from_millis(self.rng.in_range(lifetime_ms));
        let (mut failures, mut ids) = (0, vec![Id::from_u64(0); MAX_IDS as usize]);
        while !self.is_over() && Instant::now() < until && failures < max_failures {
            let wanted = self.rng.in_range(1..MAX_IDS) as usize;
            let began = Instant::now();
            match self.issue(generator, &mut ids[..wanted]) {
                Ok(count) => {
                    failures = 0;
                    id_log.write_ids(&ids[..count])?;
                    self.shared.count(slot, Tally::Ids, count as u64);
                    for id in &ids[..count] {
                        if id.to_u64() <= last {
                            self.shared.count(slot, Tally::Disorder, 1);
                        }
                        last = id.to_u64();
                    }
                    let due = Duration::from_nanos(count as u64 * 1_000_000_000 / rate);
                    thread::sleep(due.saturating_sub(began.elapsed()));
                }
                Err(error) => {
                    failures += 1;
                    self.failed(&error)?;
                    // Calls of a closed generator fail immediately, so the worker waits between
                    // them.
                    self.sleep(1..20);
                }
            }
            if self.worker.forks() && self.depth < MAX_DEPTH && self.rng.percent(3) {
                self.fork(generator, last)?;
            }
        }
        Ok(())
    }

    /// Issues IDs with one of the methods of the generator.
    fn issue(&mut self, generator: &Generator, ids: &mut [Id]) -> Result<usize, Error> {
        match self.rng.in_range(0..10) {
            0 => generator.try_fill(ids),
            1 => generator.next_ids(ids.len()).map(|issued| {
                ids[..issued.len()].copy_from_slice(&issued);
                issued.len()
            }),
            2 => {
                let few = ids.len().min(50);
                for (count, id) in ids[..few].iter_mut().enumerate() {
                    match generator.next_id() {
                        Ok(next) => *id = next,
                        Err(error) if count == 0 => return Err(error),
                        Err(_) => return Ok(count),
                    }
                }
                Ok(few)
            }
            _ => generator.fill(ids),
        }
    }

    /// Forks a child that uses its parent's generator for up to 2.5 seconds.
    fn fork(&mut self, generator: &Generator, last: u64) -> io::Result<()> {
        self.shared.count(self.worker.slot, Tally::Forks, 1);
        let lifetime = Duration::from_millis(self.rng.in_range(100..2500));
        // SAFETY: the C library allows allocations after a fork. Of the state of other threads, the
        // child uses only the generator, which is designed to survive a fork.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                self.depth += 1;
                self.ends = Some(Instant::now() + lifetime);
                self.rng = Rng::for_part(self.rng.next(), u64::from(process::id()));
                let releases = self.rng.percent(50);
                let done = self.issue_ids(generator, last);
                if releases && done.is_ok() {
                    // SAFETY: this process has its own copy of the parent's value, and exits
                    // without using the value again.
                    drop(unsafe { std::ptr::read(generator) });
                }
                // SAFETY: `_exit` skips the exit handlers of the parent.
                unsafe { libc::_exit(if done.is_ok() { 0 } else { 4 }) }
            }
            _ => Ok(()),
        }
    }
}

/// Appends a line in a single write, so that the lines of several processes do not mix.
fn append_line(mut log: &File, what: &str) {
    let line = format!("{} {} {what}\n", SystemClock.unix_ms(), process::id());
    // The events are only for debugging, so a lost line does not matter.
    let _ = log.write_all(line.as_bytes());
}
