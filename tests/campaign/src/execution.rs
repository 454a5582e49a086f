//! The execution of a campaign: injects the scheduled faults, and waits for the recovery.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use flakeid_core::{Clock, SystemClock};

use crate::audit::Audit;
use crate::continuations;
use crate::deployment::Deployment;
use crate::fault::ProcessFault;
use crate::lease_options::{NAMESPACE, has_long_lease, has_reliable_clock};
use crate::report::{self, Report};
use crate::schedule::Schedule;
use crate::shared_memory::{GROUPS, NODES, SharedMemory, Tally};
use crate::store_faults::FaultLog;
use crate::store_kind::StoreKind;
use crate::workers::Workers;

/// The time limit of the recovery. It exceeds the largest clock step, because fences may be that
/// far ahead.
const RECOVERY_LIMIT: Duration = Duration::from_secs(60);
/// The time limit of the first ID. It exceeds the time limit of the recovery, because all workers
/// acquire their first nodes at the same time, and etcd commits only one of these acquires at a time.
const START_LIMIT: Duration = Duration::from_secs(180);
/// The largest number of phases. The workers must issue IDs in each phase.
const MAX_PHASES: u32 = 6;
/// The minimum length of a phase, and its minimum as a multiple of the time in which a restarted
/// store grants nothing. A store is down before that time, and may be restarted again soon after.
const SHORTEST_PHASE: Duration = Duration::from_secs(15);
const QUIET_TIMES: u64 = 4;

/// A campaign on one store.
pub(crate) struct Execution<'a> {
    deployment: &'a dyn Deployment,
    shared: Arc<SharedMemory>,
    workers: Workers,
    log: FaultLog,
    /// The number of IDs issued in each phase.
    phases: Vec<u64>,
    /// The time at which the wrong clock of each group is corrected.
    clocks: [Option<Instant>; GROUPS],
}

impl<'a> Execution<'a> {
    pub(crate) fn new(
        deployment: &'a dyn Deployment,
        shared: Arc<SharedMemory>,
        workers: Workers,
    ) -> Self {
        let (log, phases) = (FaultLog::default(), Vec::new());
        Self { deployment, shared, workers, log, phases, clocks: [None; GROUPS] }
    }

    /// Starts the workers, and waits for the first IDs.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.workers.start_all()?;
        let began = Instant::now();
        while self.shared.total(Tally::Ids) == 0 {
            if began.elapsed() > START_LIMIT {
                return Err(io::Error::other(format!(
                    "{}: no worker issued an ID within {} s; the errors are in {}",
                    self.deployment.direct_url(),
                    START_LIMIT.as_secs(),
                    self.workers.events().display()
                )));
            }
            self.workers.supervise()?;
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Injects the faults of the schedule that are due within `duration`. Continues somewhat longer
    /// if no holder has continued after a restart of the store by then.
    pub(crate) fn inject_faults(
        &mut self,
        schedule: &Schedule,
        duration: Duration,
    ) -> io::Result<()> {
        let began = Instant::now();
        let (deployment, log) = (self.deployment, std::mem::take(&mut self.log));
        let done = thread::scope(|scope| {
            let store = scope
                .spawn(|| log.inject_store_faults(deployment, schedule, began, began + duration));
            let brokers: Vec<_> = (0..deployment.brokers())
                .map(|broker| {
                    let log = &log;
                    scope.spawn(move || {
                        log.inject_broker_faults(
                            deployment,
                            broker,
                            schedule,
                            began,
                            began + duration,
                        )
                    })
                })
                .collect();
            let observing = scope.spawn(|| {
                let url = deployment.direct_url();
                continuations::observe(&url, NAMESPACE, &log.observed, || log.is_over())
            });
            let mut done = self.inject_process_faults(&log, schedule, began, duration);
            while done.is_ok() && log.has_no_continuation() && !store.is_finished() {
                self.correct_clocks(false);
                done = self.workers.supervise();
                thread::sleep(Duration::from_millis(2));
            }
            log.end();
            // A paused process may hold the lock that one of the threads waits for, so the workers
            // are still supervised.
            while !(store.is_finished()
                && observing.is_finished()
                && brokers.iter().all(ScopedJoinHandle::is_finished))
            {
                done = done.and(self.workers.supervise());
                thread::sleep(Duration::from_millis(2));
            }
            let panicked =
                |what: &str| io::Error::other(format!("the thread that {what} panicked"));
            let store_done = store.join();
            let brokers_done: Vec<_> = brokers.into_iter().map(ScopedJoinHandle::join).collect();
            let observed = observing.join();
            done?;
            store_done.map_err(|_| panicked("injects the store's faults"))??;
            for broker_done in brokers_done {
                broker_done.map_err(|_| panicked("injects the brokers' faults"))??;
            }
            observed.map_err(|_| panicked("reads the store's rows"))?
        });
        self.log = log;
        done
    }

    fn inject_process_faults(
        &mut self,
        log: &FaultLog,
        schedule: &Schedule,
        began: Instant,
        duration: Duration,
    ) -> io::Result<()> {
        let mut faults = schedule.processes.iter().peekable();
        let quiet = Duration::from_millis(self.deployment.lease_bounds().quiet_ms() * QUIET_TIMES);
        let phases = duration.as_millis() / quiet.max(SHORTEST_PHASE).as_millis();
        let phases = (phases as u32).clamp(1, MAX_PHASES);
        let mut before = self.shared.total(Tally::Ids);
        loop {
            let elapsed = began.elapsed();
            while self.phases.len() < phases as usize
                && elapsed >= duration * (self.phases.len() as u32 + 1) / phases
            {
                let ids = self.shared.total(Tally::Ids);
                self.phases.push(ids - before);
                before = ids;
            }
            if elapsed >= duration {
                return Ok(());
            }
            self.correct_clocks(log.are_clocks_correct());
            self.workers.supervise()?;
            while let Some((_, fault)) =
                faults.next_if(|(at, _)| elapsed >= Duration::from_millis(*at))
            {
                if self.inject(*fault, log)? {
                    log.count(fault.name());
                }
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Injects a fault. Returns `false` if the worker is down, and so cannot fail.
    fn inject(&mut self, fault: ProcessFault, log: &FaultLog) -> io::Result<bool> {
        let later = |ms| Instant::now() + Duration::from_millis(ms);
        match fault {
            ProcessFault::Clock { group, setting, for_ms } => {
                let group = if self.deployment.has_one_clock() { 0 } else { group };
                let is_exempt = has_reliable_clock(group) && log.is_restarting();
                if self.clocks[group].is_some() || log.are_clocks_correct() || is_exempt {
                    return Ok(false);
                }
                self.shared.set_clock_error(group, setting.error_ms(SystemClock.unix_ms()));
                self.clocks[group] = Some(later(for_ms));
            }
            ProcessFault::Kill { slot, .. }
            | ProcessFault::Restart { slot, .. }
            | ProcessFault::Pause { slot, .. }
                if has_long_lease(slot) && log.is_restarting() =>
            {
                return Ok(false);
            }
            ProcessFault::Kill { slot, children, restart_after_ms } => {
                return self.workers.kill(slot, children, Duration::from_millis(restart_after_ms));
            }
            ProcessFault::Restart { slot, .. } | ProcessFault::Pause { slot, .. }
                if !self.workers.is_running(slot) =>
            {
                return Ok(false);
            }
            ProcessFault::Restart { slot, restart_after_ms } => {
                self.workers.restart(slot, Duration::from_millis(restart_after_ms));
            }
            ProcessFault::Pause { slot, for_ms } => {
                self.workers.pause(slot, Duration::from_millis(for_ms));
            }
        }
        Ok(true)
    }

    /// Corrects the clocks whose time has come, or all clocks.
    fn correct_clocks(&mut self, all: bool) {
        for (group, until) in self.clocks.iter_mut().enumerate() {
            if until.is_some_and(|until| all || Instant::now() >= until) {
                self.shared.set_clock_error(group, 0);
                *until = None;
            }
        }
    }

    /// Ends all faults, and waits until every worker has issued IDs again. Returns the time that
    /// this took, or `None` if it exceeded the limit.
    pub(crate) fn recover(&mut self) -> io::Result<Option<Duration>> {
        self.correct_clocks(true);
        self.workers.resume_all()?;
        let slots = self.workers.len();
        let before: Vec<u64> = (0..slots).map(|slot| self.shared.tally(slot, Tally::Ids)).collect();
        let began = Instant::now();
        while began.elapsed() < RECOVERY_LIMIT {
            self.workers.supervise()?;
            if (0..slots).all(|slot| self.shared.tally(slot, Tally::Ids) > before[slot]) {
                return Ok(Some(began.elapsed()));
            }
            thread::sleep(Duration::from_millis(5));
        }
        // A high load suggests that the machine was too slow for the short windows of a campaign.
        let load = fs::read_to_string("/proc/loadavg")?;
        let silent =
            (0..slots).filter(|slot| self.shared.tally(*slot, Tally::Ids) == before[*slot]);
        for slot in silent {
            let latest = self.workers.latest_event(slot)?;
            let latest = latest.as_deref().unwrap_or("none");
            self.workers.crashed.push(format!(
                "worker {slot} issued no IDs after the last fault; its latest event: {latest}"
            ));
        }
        self.workers.crashed.push(format!("load averages at the end: {}", load.trim_end()));
        Ok(None)
    }

    /// Ends all processes. Processes that take longer than `timeout` are killed and reported.
    pub(crate) fn shut_down(&mut self, timeout: Duration) -> io::Result<()> {
        self.shared.end();
        self.workers.shut_down(timeout)
    }

    pub(crate) fn report(
        self,
        kind: StoreKind,
        folder: &Path,
        took: Duration,
        recovered: Option<Duration>,
        seed: u64,
        command: String,
    ) -> io::Result<Report> {
        let leased = Audit::of_folder(&folder.join("leased"), self.deployment.nodes())?;
        let plain = Audit::of_folder(&folder.join("plain"), NODES)?;
        let heartbeat = Audit::of_folder(&folder.join("heartbeat"), NODES)?;
        let mut violations = self.workers.crashed.clone();
        violations.extend(self.deployment.crashed());
        let mut check = |wrong: bool, what: String| {
            if wrong {
                violations.push(what);
            }
        };
        check(
            leased.duplicates > 0,
            format!("I1 (no ID is issued twice): {} repeated IDs", leased.duplicates),
        );
        let disorder = leased.disorder + self.shared.total(Tally::Disorder);
        check(disorder > 0, format!("I8 (IDs strictly increase): {disorder} IDs out of order"));
        check(
            leased.strays > 0,
            format!("{} IDs of nodes outside the leased range", leased.strays),
        );
        let phase = self.phases.iter().position(|ids| *ids == 0);
        check(
            phase.is_some(),
            format!("no IDs were issued in phase {}", phase.unwrap_or_default()),
        );
        violations.extend(leased.traces.iter().cloned());
        let continuations = self.log.observed.continuations();
        let inconclusive = report::inconclusive(&plain, &heartbeat, self.log.runs(), continuations);
        Ok(Report {
            store: kind.name().into(),
            seed,
            command,
            took,
            workers: self.workers.len(),
            faults: self.log.counts(),
            runs: self.log.runs(),
            continuations,
            phases: self.phases,
            recovered,
            tallies: Report::tallies(&self.shared),
            leased,
            plain,
            heartbeat,
            violations,
            inconclusive,
            unsupported: self.deployment.unsupported().map(Into::into),
        })
    }
}
