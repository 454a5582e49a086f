//! The state shared by a broker's thread and the requests to the broker.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use flakeid_core::Clock;
use flakeid_core::internal::ProcessMark;

use super::options::BrokerOptions;
use flakeid_protocol::Namespace;
use flakeid_protocol::broker::Blocks;
use flakeid_protocol::store::Fault;

pub(super) type StoreObserver = dyn Fn(Duration, bool) + Send + Sync;

/// A broker in one process.
pub(super) struct Shared {
    pub(super) options: BrokerOptions,
    /// The namespace as read from the store when the broker started.
    pub(super) namespace: Namespace,
    pub(super) clock: Arc<dyn Clock>,
    /// The observer of the requests to the store, if the program has set one.
    pub(super) store_observer: OnceLock<Box<StoreObserver>>,
    mark: ProcessMark,
    state: Mutex<State>,
    changed: Condvar,
}

/// The mutable state of a broker.
pub(super) struct State {
    pub(super) blocks: Blocks,
    /// The number of requests that have found no free node since the thread last tried to lease more blocks.
    pub(super) waiting: usize,
    /// The number of attempts to lease more blocks.
    pub(super) attempts: u64,
    /// The fault of the latest request to the store, if the request failed.
    pub(super) failure: Option<Fault>,
    /// The number of milliseconds by which this host's clock is ahead of the store's clock.
    pub(super) skew_ms: i64,
    pub(super) phase: Phase,
    /// The number of blocks that were held when the broker was closed, and that are not released yet.
    pub(super) unreleased: usize,
    /// The drain, if it has begun.
    pub(super) drain: Option<Drain>,
    /// The wakers of the requests that wait for the next attempt to lease a block.
    pub(super) wakers: Vec<Waker>,
}

/// The period during which the holders of a broker that is shutting down move to other brokers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drain {
    pub(super) began: Instant,
    pub(super) length: Duration,
}

impl Drain {
    /// Whether it is time for the holder of a node to move to another broker. The moves are spread over the first half
    /// of the drain, so that the holders do not all request nodes from the other brokers at the same time.
    pub(super) fn has_reached(&self, node: u64) -> bool {
        // Fibonacci hashing: the multiplier is 2^32 divided by the golden ratio.
        let place = (node as u32).wrapping_mul(0x9E37_79B9);
        let share = f64::from(place) / (f64::from(u32::MAX) + 1.0);
        self.began.elapsed() >= self.length.mul_f64(share / 2.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Open,
    /// The broker renews leases, but grants no further nodes.
    Draining,
    Closing,
    Ended,
}

impl Shared {
    pub(super) fn new(options: BrokerOptions, namespace: Namespace, clock: Arc<dyn Clock>) -> Self {
        let blocks = Blocks::new(&namespace, options.window_ms, options.ttl_ms);
        let state = State {
            blocks: if namespace.keeps_history { blocks.recorded() } else { blocks },
            waiting: 0,
            attempts: 0,
            failure: None,
            skew_ms: 0,
            phase: Phase::Open,
            unreleased: 0,
            drain: None,
            wakers: Vec::new(),
        };
        let (mark, state, changed) = (ProcessMark::new(), Mutex::new(state), Condvar::new());
        let store_observer = OnceLock::new();
        Self { options, namespace, clock, store_observer, mark, state, changed }
    }

    /// Locks and returns the state, but only in the process that leased the blocks.
    ///
    /// # Errors
    /// [`Fault::Rejected`] in a forked child, whose parent grants the same nodes (I15).
    pub(super) fn state(&self) -> Result<MutexGuard<'_, State>, Fault> {
        let forked = || {
            Fault::Rejected(
                "the broker belongs to the process that this one was forked from: start another \
                 one here, or lease by the broker's URL"
                    .into(),
            )
        };
        // A forked child must be detected before it waits for the lock. If another thread of the parent held the lock
        // during the fork, the child would wait forever. The check is repeated while the lock is held, because the
        // process may fork after the first check.
        if !self.mark.is_ours() {
            return Err(forked());
        }
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.mark.is_ours() { Ok(state) } else { Err(forked()) }
    }

    pub(super) fn is_ours(&self) -> bool {
        self.mark.is_ours()
    }

    /// Changes the state and wakes all waiters.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut State) -> T) -> Result<T, Fault> {
        let changed = change(&mut *self.state()?);
        self.changed.notify_all();
        Ok(changed)
    }

    /// Wakes the thread, because a request is waiting for a node.
    pub(super) fn wake_thread(&self) {
        self.changed.notify_all();
    }

    /// Waits until `done` returns true or the deadline has passed.
    pub(super) fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        deadline: Instant,
        done: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        let timeout = deadline.saturating_duration_since(Instant::now());
        let timeout = timeout.min(Duration::from_secs(3_600));
        let waited = self.changed.wait_timeout_while(state, timeout, |state| !done(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
