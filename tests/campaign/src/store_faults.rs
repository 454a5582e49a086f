//! The injection of faults into a campaign's store, and restarts when some holders can continue
//! their leases.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::continuations::Observed;
use crate::deployment::Deployment;
use crate::fault::StoreFault;
use crate::schedule::Schedule;

/// The minimum time between two faults of the store, counted from the end of the first one.
const PAUSE: Duration = Duration::from_millis(500);
/// The number of holders able to continue that a restart waits for.
const ABLE: u64 = 2;
/// The number of additional restarts at the end if no holder has continued until then.
const FURTHER_RESTARTS: u32 = 5;

/// The limits of the waits around a restart.
struct WaitLimits {
    /// The wait before the restart, until some holders are able to continue.
    able: Duration,
    /// The wait after the restart, until a holder has continued.
    continued: Duration,
}

impl Default for WaitLimits {
    fn default() -> Self {
        Self { able: Duration::from_secs(5), continued: Duration::from_secs(2) }
    }
}

/// The injected faults, shared by the threads that inject them.
#[derive(Default)]
pub(crate) struct FaultLog {
    counts: Mutex<BTreeMap<&'static str, u64>>,
    /// Whether all clocks must be correct now.
    clocks_correct: AtomicBool,
    /// Whether the store is being restarted. Until a second after the restart, the campaign injects
    /// no faults into workers with long leases and their clocks, so that these workers can continue
    /// their leases.
    restarts: AtomicBool,
    restarted: Mutex<Option<Instant>>,
    /// The number of runs that the store began.
    runs: AtomicU64,
    pub(crate) observed: Observed,
    wait_limits: WaitLimits,
    over: AtomicBool,
}

impl FaultLog {
    pub(crate) fn count(&self, name: &'static str) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default() += 1;
    }

    /// Returns how often each fault was injected.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of runs that the store began.
    pub(crate) fn runs(&self) -> u64 {
        self.runs.load(Ordering::SeqCst)
    }

    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    pub(crate) fn are_clocks_correct(&self) -> bool {
        self.clocks_correct.load(Ordering::SeqCst)
    }

    /// Whether the store is down, or was down until a second ago.
    pub(crate) fn is_restarting(&self) -> bool {
        let restarted = *self.restarted.lock().unwrap_or_else(PoisonError::into_inner);
        self.restarts.load(Ordering::SeqCst)
            || restarted.is_some_and(|at| at.elapsed() < Duration::from_secs(1))
    }

    /// Whether the store was restarted, and no holder has continued yet.
    pub(crate) fn has_no_continuation(&self) -> bool {
        self.runs() > 0 && self.observed.continuations() == 0
    }

    /// Injects the store's faults one after another until the campaign ends. Faults that are
    /// pending then are skipped; but if no holder has continued yet, the store is restarted a few
    /// more times.
    pub(crate) fn inject_store_faults(
        &self,
        deployment: &dyn Deployment,
        schedule: &Schedule,
        began: Instant,
        end: Instant,
    ) -> io::Result<()> {
        let mut free = began;
        for &(at, fault, ms, group) in &schedule.store {
            let due = free.max(began + Duration::from_millis(at));
            if due >= end || !self.wait_until(due, || false) {
                break;
            }
            self.inject(deployment, fault, Duration::from_millis(ms), group)?;
            free = Instant::now() + PAUSE;
        }
        // With a single clock, which may have been far ahead meanwhile, the store could not detect
        // an older copy now.
        if deployment.has_one_clock() {
            return Ok(());
        }
        let faults = deployment.store_faults().iter().copied();
        let Some(restart) = faults.into_iter().find(|fault| deployment.begins_run(*fault)) else {
            return Ok(());
        };
        self.wait_until(end, || false);
        for _ in 0..FURTHER_RESTARTS {
            if self.is_over() || !self.has_no_continuation() {
                break;
            }
            self.inject(deployment, restart, Duration::ZERO, 0)?;
        }
        Ok(())
    }

    /// Injects the faults of one broker in the same way. The first broker gets no faults while the
    /// store restarts, so that this broker can continue its leases.
    pub(crate) fn inject_broker_faults(
        &self,
        deployment: &dyn Deployment,
        broker: usize,
        schedule: &Schedule,
        began: Instant,
        end: Instant,
    ) -> io::Result<()> {
        let faults = schedule.brokers.get(broker).into_iter().flatten();
        let mut free = began;
        for &(at, fault, ms) in faults {
            let due = free.max(began + Duration::from_millis(at));
            if due >= end || !self.wait_until(due, || false) {
                break;
            }
            if broker == 0 && self.is_restarting() {
                continue;
            }
            if deployment.inject_into_broker(broker, fault, Duration::from_millis(ms))? {
                self.count(fault.name());
            }
            free = Instant::now() + PAUSE;
        }
        Ok(())
    }

    fn inject(
        &self,
        deployment: &dyn Deployment,
        fault: StoreFault,
        duration: Duration,
        group: usize,
    ) -> io::Result<()> {
        // The store detects the older copy by the workers' clock, so this clock has to be correct.
        let needs_clocks = deployment.has_one_clock() && fault == StoreFault::Restored;
        if needs_clocks {
            self.clocks_correct.store(true, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(50));
        }
        let begins_run = deployment.begins_run(fault);
        let mut before = 0;
        if begins_run {
            self.restarts.store(true, Ordering::SeqCst);
            let deadline = Instant::now() + self.wait_limits.able;
            self.wait_until(deadline, || self.observed.able() >= ABLE);
            before = self.observed.continuations();
        }
        deployment.inject(fault, duration, group)?;
        self.count(fault.name());
        if begins_run {
            self.runs.fetch_add(1, Ordering::SeqCst);
            let now = Instant::now();
            *self.restarted.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
            let deadline = now + self.wait_limits.continued;
            self.wait_until(deadline, || self.observed.continuations() > before);
            self.restarts.store(false, Ordering::SeqCst);
        }
        deployment.settle()?;
        if needs_clocks {
            thread::sleep(Duration::from_secs(1));
            self.clocks_correct.store(false, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Waits until a time, or until a condition is met. Returns `false` if the campaign ends
    /// earlier.
    fn wait_until(&self, time: Instant, is_met: impl Fn() -> bool) -> bool {
        while Instant::now() < time && !is_met() {
            if self.is_over() {
                return false;
            }
            thread::sleep(Duration::from_millis(5));
        }
        !self.is_over()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::lease_options::LeaseBounds;

    /// A store whose holders continue their leases after the given number of restarts.
    struct Restarted<'a> {
        log: &'a FaultLog,
        continued_after: u64,
    }

    impl Deployment for Restarted<'_> {
        fn url(&self, _group: usize) -> String {
            String::new()
        }

        fn direct_url(&self) -> String {
            String::new()
        }

        fn prepare(&self) -> io::Result<()> {
            Ok(())
        }

        fn max_ahead_ms(&self) -> u64 {
            0
        }

        fn lease_bounds(&self) -> LeaseBounds {
            LeaseBounds::EXACT
        }

        fn has_one_clock(&self) -> bool {
            false
        }

        fn store_faults(&self) -> &[StoreFault] {
            &[StoreFault::Locked, StoreFault::Killed]
        }

        fn inject(&self, fault: StoreFault, _duration: Duration, _group: usize) -> io::Result<()> {
            let restarts = self.log.runs() + u64::from(fault == StoreFault::Killed);
            let continued = restarts >= self.continued_after;
            self.log.observed.set_continuations(u64::from(continued));
            Ok(())
        }
    }

    /// Returns the number of restarts that a schedule causes, if holders continue their leases
    /// after the given number of restarts.
    fn restarts(scheduled: &[StoreFault], continued_after: u64) -> u64 {
        let wait_limits = WaitLimits { able: Duration::ZERO, continued: Duration::ZERO };
        let log = FaultLog { wait_limits, ..FaultLog::default() };
        let store = scheduled.iter().map(|fault| (0, *fault, 0, 0)).collect();
        let (processes, brokers) = (Vec::new(), Vec::new());
        let schedule = Schedule { processes, store, brokers };
        let began = Instant::now();
        // The last fault is due before this time, after the pause.
        let end = began + PAUSE * 2;
        let deployment = Restarted { log: &log, continued_after };
        log.inject_store_faults(&deployment, &schedule, began, end).unwrap();
        log.runs()
    }

    #[test]
    fn store_is_restarted_until_a_holder_continues_its_lease_but_not_indefinitely() {
        use StoreFault::{Killed, Locked};
        assert_eq!(restarts(&[Killed], 1), 1);
        assert_eq!(restarts(&[Killed], 3), 3);
        assert_eq!(restarts(&[Killed], u64::MAX), 1 + u64::from(FURTHER_RESTARTS));
        assert_eq!(restarts(&[Locked, Killed], 2), 2);
        assert_eq!(restarts(&[Locked], u64::MAX), 0, "the schedule contains no restart");
    }
}
