//! What a keeper and the users of its lease share, in one process.

#![allow(unsafe_code)]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flakeid_core::internal::ProcessMark;
use flakeid_core::{Error, ErrorKind};

use super::source::StoreSource;
use flakeid_protocol::keeper::{LeaseStatus, Progress, unanswered};

/// A lease in one process: the state that its keeper and its users share. A forked child begins a
/// session of its own and never touches its parent's, because a lock in that may be held for ever.
pub(crate) struct LeaseSession {
    mark: ProcessMark,
    state: Mutex<SessionState>,
    changed: Condvar,
    older: *mut LeaseSession,
}

/// What the keeper and the users of a lease tell each other.
#[derive(Default)]
pub(super) struct SessionState {
    /// What the keeper has made known.
    pub(super) progress: Progress,
    /// How often users asked for a renewal ahead of schedule.
    pub(super) asked: u64,
    /// The value of `asked` when the latest attempt began.
    pub(super) heard: u64,
    pub(super) phase: Phase,
    /// Why there is no keeper, although the lease was not closed: its thread could not be started, or
    /// has died. Whoever needs the lease next starts another.
    pub(super) stopped: Option<Error>,
    /// Until when callers of `close` wait.
    close_until: Option<Instant>,
}

/// How far a session has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    #[default]
    Kept,
    Closing,
    Ended,
}

impl LeaseSession {
    pub(super) fn state(&self) -> MutexGuard<'_, SessionState> {
        // The state is plain values, so it is consistent even if another thread panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut SessionState)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    /// Waits until `done`, for at most `timeout`, and returns the state at that time.
    pub(super) fn wait(
        &self,
        timeout: Duration,
        done: impl Fn(&SessionState) -> bool,
    ) -> MutexGuard<'_, SessionState> {
        let state = self.state();
        let waited = self.changed.wait_timeout_while(state, timeout, |state| !done(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Whether a parent process had the lease before.
    pub(super) fn is_a_childs(&self) -> bool {
        !self.older.is_null()
    }

    /// Records that there is no keeper any more and wakes everybody who waits for it.
    pub(super) fn stop(&self, error: Error) {
        self.update(|state| {
            state.progress.status.failures += 1;
            state.progress.status.last_error = Some(error.clone());
            state.stopped = Some(error);
        });
    }

    /// Whether there is no keeper. Only one caller gets `true`, and that one must start a keeper.
    fn needs_keeper(&self) -> bool {
        self.state().stopped.take().is_some()
    }

    pub(crate) fn status(&self) -> LeaseStatus {
        self.state().progress.status.clone()
    }

    /// How many grants and renewals there have been; an argument of [`gain`](Self::gain).
    pub(crate) fn gains(&self) -> u64 {
        self.state().progress.gains
    }

    /// Waits until there were more than `since` grants and renewals; if there were not, asks for
    /// one now.
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

    /// Asks the keeper to release the node and waits for at most `timeout`; a node that was not
    /// released expires. Does not wait if no node was granted: the keeper may be stuck connecting.
    /// Called again, it waits no longer than the first call does.
    pub(crate) fn close(&self, timeout: Duration) {
        let mut left = Duration::ZERO;
        self.update(|state| {
            // There is no keeper that could release anything.
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

/// The sessions of a lease, the present process's first.
pub(crate) struct Sessions {
    newest: AtomicPtr<LeaseSession>,
}

// SAFETY: `older` is written before a session is published and never again; everything else in a
// session is made to be shared.
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

    /// This process's session, which begins now if there is none. With it, whether the caller must
    /// start its keeper. A lease on a fixed node cannot begin a second session.
    pub(super) fn begin(&self, is_fixed: bool) -> Result<(&LeaseSession, bool), Error> {
        loop {
            if let Some(session) = self.ours() {
                return Ok((session, session.needs_keeper()));
            }
            let older = self.newest.load(Ordering::Acquire);
            if !older.is_null() && is_fixed {
                // Parent and child would take the node over from each other for ever.
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
                // SAFETY: made above and never published.
                drop(unsafe { Box::from_raw(new) });
                continue;
            }
            // SAFETY: published just now, and never freed before the list.
            return Ok((unsafe { &*new }, true));
        }
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        let mut next = *self.newest.get_mut();
        while !next.is_null() {
            // SAFETY: each came from `Box::into_raw` and is in the list once; the parent's are
            // left alone.
            if !unsafe { &*next }.mark.is_ours() {
                return;
            }
            // SAFETY: as above, and nobody can reach the list any more.
            let session = unsafe { Box::from_raw(next) };
            next = session.older;
        }
    }
}
