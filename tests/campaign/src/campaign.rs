//! The command `run`: one campaign for each kind of store, optionally several at a time, and its
//! output.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use flakeid_core::{Clock, SystemClock};

use crate::deployment::{self, Deployment};
use crate::execution::Execution;
use crate::fault::StoreFault;
use crate::report::Report;
use crate::rounds::Rounds;
use crate::schedule::{FaultRange, Schedule};
use crate::shared_memory::{GROUPS, SharedMemory};
use crate::store_kind::StoreKind;
use crate::stores;
use crate::summary::Summary;
use crate::workers::{WorkerCommand, Workers};

/// The options of a campaign.
#[derive(Args, Clone)]
pub(crate) struct Campaign {
    /// The kind of store.
    #[arg(long, default_value = "all")]
    store: StoreKind,
    /// The number of seconds for which faults are injected, for each store.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(5..86400))]
    seconds: u64,
    /// The number of stores on which campaigns run at the same time.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10))]
    at_once: u64,
    /// The seed of all random choices (default: the current time, or 1 with a summary).
    #[arg(long)]
    seed: Option<u64>,
    /// The number of worker processes.
    #[arg(long, default_value_t = 14, value_parser = clap::value_parser!(u64).range(12..=32))]
    workers: u64,
    /// The number of IDs per second that each worker with a node issues.
    #[arg(long, default_value_t = 120_000, value_parser = clap::value_parser!(u64).range(1..))]
    rate: u64,
    /// A Python interpreter with the package flakeid. Two of the workers then run in Python.
    #[arg(long)]
    python: Option<PathBuf>,
    /// The program flakeid-campaign of an earlier version, which half of the workers run.
    #[arg(long)]
    beside: Option<PathBuf>,
    /// Also print a line of JSON for each store.
    #[arg(long)]
    json: bool,
    /// The folder for ID logs and events. The files of a campaign that passed are deleted.
    #[arg(long)]
    folder: PathBuf,
    /// Never delete the ID logs and events.
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    rounds: Rounds,
}

/// A campaign to run.
struct Job {
    kind: StoreKind,
    seed: u64,
    /// The folder for ID logs and events.
    folder: PathBuf,
}

type Jobs<'a> = Box<dyn Iterator<Item = Job> + Send + 'a>;

impl Campaign {
    /// Runs the campaigns, and returns whether all of them passed.
    pub(crate) fn run(&self) -> io::Result<bool> {
        let Some(file) = &self.rounds.summary else {
            let seed = self.seed.unwrap_or_else(|| SystemClock.unix_ms().cast_unsigned());
            let job = |kind: StoreKind| Job { kind, seed, folder: self.folder.join(kind.name()) };
            return self.run_all(Box::new(self.store.each().map(job)));
        };
        let summary = Summary::open(file)?;
        if self.rounds.table {
            print!("{}", summary.table());
            return Ok(true);
        }
        if let Some(failure) = summary.failure() {
            return Err(io::Error::other(format!(
                "{} contains a failed campaign: {failure}. Find the cause, then use another file",
                file.display()
            )));
        }
        let pending = self.rounds.pending(self.store, self.seed.unwrap_or(1), &summary);
        let passed = self.run_all(Box::new(pending.map(|(kind, seed)| {
            // The folder contains the seed, because two campaigns on one kind of store may run at
            // the same time.
            let folder = self.folder.join(format!("{}-{seed}", kind.name()));
            Job { kind, seed, folder }
        })))?;
        print!("\n{}", Summary::open(file)?.table());
        Ok(passed)
    }

    /// Runs the campaigns, `at_once` at a time. With a summary, no campaign starts after the first
    /// failure; an inconclusive campaign does not count as a failure.
    fn run_all(&self, jobs: Jobs<'_>) -> io::Result<bool> {
        let (jobs, passed) = (Mutex::new(jobs), Mutex::new(true));
        let failed = AtomicBool::new(false);
        let work = || -> io::Result<()> {
            loop {
                let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(job) = next else { return Ok(()) };
                let report = self.run_one(&job)?;
                // The lock also keeps the output lines of a report together.
                let mut passed = passed.lock().unwrap_or_else(PoisonError::into_inner);
                *passed &= self.conclude(&job, &report)?;
                failed.fetch_or(!report.violations.is_empty(), Ordering::SeqCst);
                if self.rounds.summary.is_some() && failed.load(Ordering::SeqCst) {
                    return Ok(());
                }
            }
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.at_once).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| {
                worker.join().map_err(|_| io::Error::other("a campaign panicked"))?
            })
        })?;
        Ok(passed.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Prints and records the report of a campaign, and returns whether it passed.
    fn conclude(&self, job: &Job, report: &Report) -> io::Result<bool> {
        report.print();
        if let Some(file) = &self.rounds.summary {
            Summary::append(file, &report.json())?;
        }
        if self.json {
            println!("{}", report.json());
        }
        if report.has_passed() && !self.keep {
            fs::remove_dir_all(&job.folder)?;
        }
        Ok(report.has_passed())
    }

    /// Returns the interpreters and the scripts of the last slots. With brokers, two of the scripts
    /// lease over plain HTTP.
    fn scripts(&self, has_brokers: bool) -> Vec<(PathBuf, PathBuf)> {
        let script = |name| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name);
        let mut scripts = Vec::new();
        if has_brokers {
            scripts.extend(vec![("python3".into(), script("http_worker.py")); 2]);
        }
        if let Some(python) = &self.python {
            scripts.extend(vec![(python.clone(), script("worker.py")); 2]);
        }
        scripts
    }

    fn run_one(&self, job: &Job) -> io::Result<Report> {
        let Job { kind, seed, ref folder } = *job;
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        for part in ["leased", "plain", "heartbeat", "events"] {
            fs::create_dir_all(folder.join(part))?;
        }
        let shared = Arc::new(SharedMemory::open(folder)?);
        let deployment = deployment::deploy(kind)?;
        stores::create_namespace(&deployment.direct_url(), &deployment.namespace())?;
        deployment.prepare()?;
        let count = self.workers as usize;
        let stores =
            (0..count).map(|slot| (deployment.url(slot % GROUPS), group_of(&*deployment, slot)));
        let command = WorkerCommand {
            folder: folder.clone(),
            seed,
            rate: self.rate,
            long_window: deployment.lease_bounds().max_window_ms,
            long_ttl: deployment.lease_bounds().long_ttl_ms,
            stores: stores.collect(),
            scripts: self.scripts(deployment.brokers() > 0),
            beside: self.beside.clone(),
            any_node: deployment.brokers() > 0,
        };
        let is_restart = |fault: &StoreFault| deployment.begins_run(*fault);
        let (restarts, other_store_faults): (Vec<_>, Vec<_>) =
            deployment.store_faults().iter().copied().partition(is_restart);
        let range = FaultRange {
            one_clock: deployment.has_one_clock(),
            max_skew_ms: deployment.lease_bounds().max_skew_ms,
            restarts: &restarts,
            other_store_faults: &other_store_faults,
            store_fault_every_ms: deployment.fault_interval().as_millis() as u64,
            brokers: deployment.brokers(),
            broker_window_ms: deployment.lease_bounds().max_window_ms,
        };
        let schedule = Schedule::draw(seed, self.seconds, count, range);
        let workers = Workers::new(command, Arc::clone(&shared));
        let mut execution = Execution::new(&*deployment, Arc::clone(&shared), workers);
        execution.begin()?;
        let began = Instant::now();
        execution.inject_faults(&schedule, Duration::from_secs(self.seconds))?;
        let recovered = execution.recover()?;
        let took = began.elapsed();
        execution.shut_down(Duration::from_secs(15))?;
        // Forked children end within three seconds, or earlier if they detect the end of the
        // campaign.
        thread::sleep(Duration::from_secs(1));
        let command = format!(
            "cargo xtask campaign --store {} --seconds {} --seed {seed}",
            kind.name(),
            self.seconds
        );
        execution.report(kind, folder, took, recovered, seed, command)
    }
}

/// Returns the group whose clock a worker reads.
fn group_of(deployment: &dyn Deployment, slot: usize) -> usize {
    if deployment.has_one_clock() { 0 } else { slot % GROUPS }
}
