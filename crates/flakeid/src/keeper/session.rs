//! The state of a lease in one process, which its keeper and its users share.

#![allow(unsafe_code)]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flakeid_core::internal::ProcessMark;
use flakeid_core::{Error, ErrorKind};

use super::source::StoreSource;
use flakeid_protocol::keeper::{LeaseStatus, Progress, unanswered};

/// A lease in one process: the state that its keeper and its users share. A forked child begins its own session and
/// never uses its parent's, because a lock in that can remain locked forever.
pub(crate) struct LeaseSession {
    mark: ProcessMark,
    state: Mutex<SessionState>,
    changed: Condvar,
    older: *mut LeaseSession,
}

/// The messages between the keeper and the users of a lease.
#[derive(Default)]
pub(super) struct SessionState {
    /// The progress that the keeper has published.
    pub(super) progress: Progress,
    /// The number of requests of users for a renewal ahead of schedule.
    pub(super) asked: u64,
    /// The value of `asked` when the latest attempt began.
    pub(super) heard: u64,
    pub(super) phase: Phase,
    /// The error of the keeper's thread if it could not start or has died while the lease was open. The next user of
    /// the lease starts another one.
    pub(super) stopped: Option<Error>,
    /// The time until which callers of `close` wait.
    close_until: Option<Instant>,
}

/// The phase of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    #[default]
    Kept,
    Closing,
    Ended,
}

impl LeaseSession {
    pub(super) fn state(&self) -> MutexGuard<'_, SessionState> {
        // The state consists of plain values, so it is consistent even if another thread panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut SessionState)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    /// Waits until `done`, at most `timeout`, and returns the state at that time.
    pub(super) fn wait(
        &self,
        timeout: Duration,
        done: impl Fn(&SessionState) -> bool,
    ) -> MutexGuard<'_, SessionState> {
        let state = self.state();
        let waited = self.changed.wait_timeout_while(state, timeout, |state| !done(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Whether a parent process held the lease before.
    pub(super) fn is_a_childs(&self) -> bool {
        !self.older.is_null()
    }

    /// Records that the keeper has ended and wakes all waiters.
    pub(super) fn stop(&self, error: Error) {
        self.update(|state| {
            state.progress.status.failures += 1;
            state.progress.status.last_error = Some(error.clone());
            state.stopped = Some(error);
        });
    }

    /// Whether the session has no keeper. Only one caller gets `true` and must start a keeper.
    fn needs_keeper(&self) -> bool {
        self.state().stopped.take().is_some()
    }

    pub(crate) fn status(&self) -> LeaseStatus {
        self.state().progress.status.clone()
    }

    /// The number of grants and renewals so far, an argument of [`gain`](Self::gain).
    pub(crate) fn gains(&self) -> u64 {
        self.state().progress.gains
    }

    /// Waits until there were more than `since` grants and renewals, and requests one if there were not.
    pub(crate) fn gain(
        &self,
        since: u64,
        timeout: Duration,
        source: &StoreSource,
    ) -> Result<(), Error> {
        let deadline = Instant::now().checked_add(timeout);
        let left = || deadline.map_or(timeout, |end| end.saturating_duration_since(Instant::now()));
        let (asked, mut seen) = {
            let mut state = self.state();
            if state.progress.gains != since {
                return Ok(());
            }
            state.asked += 1;
            (state.asked, state.progress.attempts)
        };
        self.changed.notify_all();
        loop {
            let state = self.wait(left(), |state| {
                let tried = state.heard >= asked && state.progress.attempts != seen;
                let over = state.phase != Phase::Kept || state.stopped.is_some();
                state.progress.gains != since || over || state.progress.is_ousted || tried
            });
            if state.progress.gains != since {
                return Ok(());
            }
            if state.phase != Phase::Kept {
                return Err(Error::new(ErrorKind::Closed, "the lease was closed", None));
            }
            if let Some(error) = &state.stopped {
                return Err(error.clone());
            }
            let tried = state.heard >= asked && state.progress.attempts != seen;
            let (progress, left) = (&state.progress, left());
            seen = progress.attempts;
            if left.is_zero() || progress.is_ousted || tried && progress.is_hopeless(left) {
                let error = progress.status.last_error.clone();
                return Err(error.unwrap_or_else(|| unanswered(source)));
            }
        }
    }

    /// Makes the keeper release the node and waits at most `timeout`. A node that was not released expires. Does not
    /// wait if no node was granted, because the keeper may be blocked in connecting. A repeated call waits no longer
    /// than the first.
    pub(crate) fn close(&self, timeout: Duration) {
        let mut left = Duration::ZERO;
        self.update(|state| {
            // No keeper is running that could release a node.
            let end = if state.stopped.is_some() { Phase::Ended } else { Phase::Closing };
            state.phase = state.phase.max(end);
            let now = Instant::now();
            let until = state.close_until.get_or_insert_with(|| now + timeout);
            if state.progress.is_granted {
                left = until.saturating_duration_since(now);
            }
        });
        drop(self.wait(left, |state| state.phase == Phase::Ended));
    }
}

/// The sessions of a lease, that of the current process first.
pub(crate) struct Sessions {
    newest: AtomicPtr<LeaseSession>,
}

// SAFETY: `older` is written before a session is published and never again. All other fields of a session can be
// shared.
unsafe impl Send for Sessions {}
// SAFETY: as above.
unsafe impl Sync for Sessions {}

impl Sessions {
    pub(crate) const fn new() -> Self {
        Self { newest: AtomicPtr::new(ptr::null_mut()) }
    }

    /// This process's session, if it has one.
    pub(crate) fn ours(&self) -> Option<&LeaseSession> {
        // SAFETY: sessions are never freed before the list.
        unsafe { self.newest.load(Ordering::Acquire).as_ref() }
            .filter(|session| session.mark.is_ours())
    }

    /// Returns this process's session, which begins now if there is none, and whether the caller must start its
    /// keeper. A lease on a fixed node cannot begin a second session.
    pub(super) fn begin(&self, is_fixed: bool) -> Result<(&LeaseSession, bool), Error> {
        loop {
            if let Some(session) = self.ours() {
                return Ok((session, session.needs_keeper()));
            }
            let older = self.newest.load(Ordering::Acquire);
            if !older.is_null() && is_fixed {
                // Parent and child would take over the node from each other forever.
                return Err(Error::new(
                    ErrorKind::Forked,
                    "this lease is on a fixed node, which the parent process holds; in the \
                     child, open a lease on another node or on any node",
                    None,
                ));
            }
            let new = Box::into_raw(Box::new(LeaseSession {
                mark: ProcessMark::new(),
                state: Mutex::default(),
                changed: Condvar::new(),
                older,
            }));
            let swapped =
                self.newest.compare_exchange(older, new, Ordering::AcqRel, Ordering::Acquire);
            if swapped.is_err() {
                // SAFETY: the session was created above and never published.
                drop(unsafe { Box::from_raw(new) });
                continue;
            }
            // SAFETY: the session was just published and is never freed before the list.
            return Ok((unsafe { &*new }, true));
        }
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        let mut next = *self.newest.get_mut();
        while !next.is_null() {
            // SAFETY: each session came from `Box::into_raw` and is in the list once. Those of the parent are not
            // freed.
            if !unsafe { &*next }.mark.is_ours() {
                return;
            }
            // SAFETY: as above, and no other thread can reach the list any more.
            let session = unsafe { Box::from_raw(next) };
            next = session.older;
        }
    }
}
