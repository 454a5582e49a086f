//! The simulated store: the product's store in memory, with a clock of its own, restarts and backups.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use flakeid_core::Clock;
use flakeid_protocol::keeper::{Demand, Reply};
use flakeid_protocol::steps::{AcceptedTime, HostTime};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{
    Acquire, Bounds, MemoryContents, MemoryStore, Namespace, Refusal, Renew, operations,
};

use crate::broker::StoreRequest;
use crate::config::{BEGIN_UNIX_MS, NAMESPACE};

/// The clock of the store, which the simulation sets.
struct SharedClock(Arc<AtomicI64>);

impl Clock for SharedClock {
    fn unix_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The number of old backups that the simulation keeps.
const BACKUPS: usize = 3;

pub struct SimulatedStore {
    store: MemoryStore,
    time: Arc<AtomicI64>,
    /// The difference between the store's clock and the true time, in milliseconds.
    pub clock: i64,
    pub is_down: bool,
    /// The time of the host that the store accepted, if the store has no server of its own.
    host: Option<AcceptedTime>,
    bounds: Bounds,
    /// The time from which brokers can lease blocks again after the latest restart.
    pub settles_at: u64,
    backups: Vec<MemoryContents>,
}

impl SimulatedStore {
    /// Creates the store of a fleet; `is_on_host` if it has no server, and uses the clock of the fleet's host.
    pub fn new(namespace: &Namespace, is_on_host: bool) -> Self {
        let time = Arc::new(AtomicI64::new(BEGIN_UNIX_MS));
        let mut store = MemoryStore::on(SharedClock(Arc::clone(&time)));
        operations::init(&mut store, namespace).unwrap();
        let first = HostTime { unix_ms: BEGIN_UNIX_MS, boot_ms: 0, boot: 0 };
        Self {
            time,
            clock: 0,
            is_down: false,
            host: is_on_host.then(|| AcceptedTime::new(first)),
            bounds: namespace.bounds,
            settles_at: 0,
            backups: vec![store.backup()],
            store,
        }
    }

    /// Returns the reading of the store's clock.
    fn read(&self, now: u64) -> i64 {
        let time = BEGIN_UNIX_MS + now.cast_signed() + self.clock;
        self.time.store(time, Ordering::Relaxed);
        time
    }

    pub fn back_up(&mut self) {
        self.backups.push(self.store.backup());
        if self.backups.len() > BACKUPS {
            self.backups.remove(0);
        }
    }

    /// Starts another run of the store with its present contents, or with those of an old backup.
    pub fn restart(&mut self, backup: Option<usize>) {
        let contents = match backup {
            Some(backup) => self.backups[backup % self.backups.len()].clone(),
            None => self.store.backup(),
        };
        self.store.restore(contents);
        // The quiet period begins with the first request.
        self.settles_at = u64::MAX;
    }

    /// Executes a request that arrives at the store at `now`. Also returns the tick up to which the history is
    /// complete.
    pub fn respond(&mut self, request: &StoreRequest, now: u64) -> (Reply, u64) {
        let store_now = self.read(now);
        if let Some(accepted) = self.host {
            let host = HostTime { unix_ms: store_now, boot_ms: now.cast_signed(), boot: 0 };
            let (accepted, refusal) = accepted.judge(host, &self.bounds);
            self.host = Some(accepted);
            if let Some(refusal) = refusal {
                return (failed(&request.demand, &refusal.into()), 0);
            }
        }
        if self.settles_at == u64::MAX {
            self.settles_at = now + self.bounds.quiet_ms;
        }
        let waited = (now - request.read).cast_signed();
        let mut history_until = 0;
        let reply = match &request.demand {
            Demand::Acquire { request, .. } => {
                let request = Acquire { waited_ms: waited.cast_unsigned(), ..request.clone() };
                let result = operations::acquire(&mut self.store, NAMESPACE, &request);
                Reply::Acquire { token: request.token, result }
            }
            Demand::Renew(renew) => {
                // The operation measures the waiting time with the real clock, which is not the simulated clock. The
                // request's reading is therefore adjusted by the simulated waiting time, as the rules would do.
                let now = renew.now.max(store_now.min(renew.now + waited));
                let renew = Renew { now, ..*renew };
                let never = Instant::now() + Duration::from_secs(3_600);
                let (store, handover) = (&mut self.store, &request.handover);
                let renewed = operations::renew_block(store, NAMESPACE, &renew, never, handover);
                let result = renewed.map(|(renewed, until)| {
                    history_until = until;
                    renewed
                });
                Reply::Renew { next: renew.next, result }
            }
            Demand::Release(release) => {
                let (store, handover) = (&mut self.store, &request.handover);
                let result = operations::release_block(store, NAMESPACE, release, handover);
                Reply::Release { node: release.node, result }
            }
        };
        // A renewal that proves a loss of data begins another quiet period.
        if let Reply::Acquire { result: Err(fault), .. } = &reply
            && let Fault::Refused(Refusal::Restored { retry_after_ms }) = fault
        {
            self.settles_at = self.settles_at.max(now + retry_after_ms);
        }
        (reply, history_until)
    }
}

/// Returns the reply to a request that the store did not answer.
pub fn unanswered(demand: &Demand) -> Reply {
    failed(demand, &Fault::Unavailable("the store does not respond".into()))
}

fn failed(demand: &Demand, fault: &Fault) -> Reply {
    match demand {
        Demand::Acquire { request, .. } => {
            Reply::Acquire { token: request.token, result: Err(fault.clone()) }
        }
        Demand::Renew(renew) => Reply::Renew { next: renew.next, result: Err(fault.clone()) },
        Demand::Release(release) => {
            Reply::Release { node: release.node, result: Err(fault.clone()) }
        }
    }
}
