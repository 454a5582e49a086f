//! The state that a broker's thread and its requests share.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use flakeid_core::Clock;
use flakeid_core::internal::ProcessMark;

use super::options::BrokerOptions;
use flakeid_protocol::Namespace;
use flakeid_protocol::broker::Blocks;
use flakeid_protocol::store::Fault;

/// A broker in one process.
pub(super) struct Shared {
    pub(super) options: BrokerOptions,
    /// The namespace as the store had it when the broker started.
    pub(super) namespace: Namespace,
    pub(super) clock: Arc<dyn Clock>,
    mark: ProcessMark,
    state: Mutex<State>,
    changed: Condvar,
}

/// The mutable state of a broker.
pub(super) struct State {
    pub(super) blocks: Blocks,
    /// The number of requests that found no free node since the thread last tried to lease more blocks.
    pub(super) waiting: usize,
    /// The number of these attempts.
    pub(super) attempts: u64,
    /// The fault of the store's latest request, if it failed.
    pub(super) failure: Option<Fault>,
    /// How far this host's clock is ahead of the store's, in milliseconds.
    pub(super) skew_ms: i64,
    pub(super) phase: Phase,
    /// The wakers of the requests that wait for the next attempt.
    pub(super) wakers: Vec<Waker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Open,
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
            wakers: Vec::new(),
        };
        let (mark, state, changed) = (ProcessMark::new(), Mutex::new(state), Condvar::new());
        Self { options, namespace, clock, mark, state, changed }
    }

    /// Locks and returns the state in the process that leased the blocks.
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
        // Checked before the lock is taken, because another thread of the parent may have held it: then the child
        // could never take it. Checked again under the lock, because the fork can occur in between.
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

    /// Wakes the thread, because a request waits for a node.
    pub(super) fn wake_thread(&self) {
        self.changed.notify_all();
    }

    /// Waits until `done` or the deadline.
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
