//! The state that the keeper and the users of a lease share in one process.

#![allow(unsafe_code)]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use flakeid_core::internal::{ProcessMark, begin_wait, is_interrupted, shorten};
use flakeid_core::{Error, ErrorKind};

use super::source::StoreSource;
use flakeid_protocol::keeper::{LeaseStatus, Progress, unanswered};
use flakeid_protocol::store::{CONNECT_TIMEOUT, RETRY};

/// The state that the keeper and the users of a lease share in one process. A forked child begins its own session,
/// because a lock in its parent's session may remain locked forever.
pub(crate) struct LeaseSession {
    mark: ProcessMark,
    state: Mutex<SessionState>,
    changed: Condvar,
    older: *mut LeaseSession,
}

/// The part of a session through which the keeper and the users of a lease communicate.
#[derive(Default)]
pub(super) struct SessionState {
    /// The progress that the keeper has published.
    pub(super) progress: Progress,
    /// The times of the first and the latest failed attempt since the last success, or `None` after a success.
    failing: Option<(Instant, Instant)>,
    /// The number of early renewals that users have requested.
    pub(super) renewals_requested: u64,
    /// The number of early renewals that users had requested when the keeper started its latest attempt.
    pub(super) renewals_seen: u64,
    pub(super) phase: Phase,
    /// The error that prevented the start of the keeper's thread, or that ended the thread while the lease was open.
    /// The next user of the lease starts another thread.
    pub(super) stopped: Option<Error>,
    /// The deadline that all callers of `close` share.
    close_until: Option<Instant>,
    /// The thread of the keeper that runs or ran last.
    pub(super) keeper: Option<ThreadId>,
    /// The start of the observer's running call, during which the keeper cannot renew the lease.
    observed_since: Option<Instant>,
}

impl SessionState {
    /// The time since the first failed attempt after the last success, or zero after a success.
    fn failing_for(&self) -> Duration {
        self.failing.map_or(Duration::ZERO, |(first, _)| first.elapsed())
    }

    /// Returns the time for which the calling thread may wait for the keeper, at most `timeout`. The keeper's own
    /// thread, on which the observer makes calls, must not wait for itself.
    fn longest_wait(&self, timeout: Duration) -> Duration {
        if self.is_keeper() { Duration::ZERO } else { timeout }
    }

    fn is_keeper(&self) -> bool {
        self.keeper == Some(thread::current().id())
    }

    /// Returns the error for an observer that blocks the keeper.
    fn blocked(&self) -> Option<Error> {
        let blocked = self.observed_since?.elapsed();
        (blocked >= RETRY || self.is_keeper()).then(|| {
            let text = format!(
                "the function for lease events has not returned for {} ms, and the lease cannot be renewed during its \
                 call; return from the function at once, and do long work on another thread",
                blocked.as_millis()
            );
            Error::new(ErrorKind::LeaseExpired, &text, Some(RETRY))
        })
    }
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
    /// Returns the error with which calls fail after the lease has been closed.
    pub(crate) fn closed() -> Error {
        Error::new(ErrorKind::Closed, "the lease was closed", None)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, SessionState> {
        // A poisoned lock can be used, because the state's plain values remain consistent when another thread panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut SessionState)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    /// Publishes the keeper's progress.
    pub(super) fn publish(&self, progress: &Progress) {
        self.update(|state| {
            if progress.status.last_error.is_none() {
                state.failing = None;
            } else if progress.attempts != state.progress.attempts {
                let now = Instant::now();
                state.failing = Some((state.failing.map_or(now, |(first, _)| first), now));
            }
            state.progress.clone_from(progress);
        });
    }

    /// Calls the program's observer, and records that the keeper waits for the observer.
    pub(super) fn observe(&self, observer: impl FnOnce()) {
        self.state().observed_since = Some(Instant::now());
        observer();
        // In a child that the observer forked, another thread of the parent may have held the lock.
        if self.mark.is_ours() {
            self.state().observed_since = None;
        }
    }

    /// Waits until `done` returns true for the state or `timeout` has passed. Returns the locked state.
    pub(super) fn wait(
        &self,
        timeout: Duration,
        done: impl Fn(&SessionState) -> bool,
    ) -> MutexGuard<'_, SessionState> {
        let state = self.state();
        let waited = self.changed.wait_timeout_while(state, timeout, |state| !done(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Whether this session began in a forked child after its parent process had begun a session.
    pub(super) fn belongs_to_child(&self) -> bool {
        !self.older.is_null()
    }

    /// Records the error that ended the keeper, and wakes all waiting threads.
    pub(super) fn stop(&self, error: Error) {
        self.update(|state| {
            state.progress.status.failures += 1;
            state.progress.status.last_error = Some(error.clone());
            state.stopped = Some(error);
        });
    }

    /// Whether the keeper has stopped and the caller must start a new keeper. Only one caller receives `true`.
    fn needs_keeper(&self) -> bool {
        self.state().stopped.take().is_some()
    }

    pub(crate) fn status(&self) -> LeaseStatus {
        self.state().progress.status.clone()
    }

    /// The number of grants and renewals so far, which a caller passes to [`gain`](Self::gain).
    pub(crate) fn gains(&self) -> u64 {
        self.state().progress.gains
    }

    /// Waits until the number of grants and renewals exceeds `since`. Requests an early renewal if necessary. While all
    /// attempts fail, calls do not wait longer than `timeout` after the first failure, so that an outage of the store
    /// does not delay every call. If the store grants nothing for a while, for example after a restart, the limit is
    /// `patience` instead, unless `timeout` is longer. A call of the observer does not wait.
    pub(crate) fn gain(
        &self,
        since: u64,
        timeout: Duration,
        patience: Duration,
        source: &StoreSource,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        begin_wait();
        let (renewals_requested, mut seen, timeout, patience, failing_for) = {
            let mut state = self.state();
            if state.progress.gains != since {
                return Ok(());
            }
            let failing_for = state.failing_for();
            let (timeout, patience) = (state.longest_wait(timeout), state.longest_wait(patience));
            let left = timeout.saturating_sub(failing_for);
            // Calls that do not wait can follow each other quickly, and must not make the keeper try without a pause.
            let has_just_failed = state.failing.is_some_and(|(_, last)| last.elapsed() < RETRY);
            state.renewals_requested += u64::from(!left.is_zero() || !has_just_failed);
            (state.renewals_requested, state.progress.attempts, timeout, patience, failing_for)
        };
        let mut left = timeout.saturating_sub(failing_for);
        let mut longest = left;
        self.changed.notify_all();
        loop {
            let interrupted = is_interrupted();
            let longest_sleep = if interrupted { Duration::ZERO } else { shorten(left) };
            let state = self.wait(longest_sleep, |state| {
                let tried =
                    state.renewals_seen >= renewals_requested && state.progress.attempts != seen;
                let over = state.phase != Phase::Kept || state.stopped.is_some();
                state.progress.gains != since || over || state.progress.is_displaced || tried
            });
            if state.progress.gains != since {
                return Ok(());
            }
            if state.phase != Phase::Kept {
                return Err(Self::closed());
            }
            if let Some(error) = &state.stopped {
                return Err(error.clone());
            }
            let tried =
                state.renewals_seen >= renewals_requested && state.progress.attempts != seen;
            let progress = &state.progress;
            // A single failure of another kind does not end the patience.
            if progress.is_passing() {
                longest = longest.max(patience);
            }
            left = longest.saturating_sub(begun.elapsed());
            seen = progress.attempts;
            if left.is_zero()
                || interrupted
                || progress.is_displaced
                || tried && progress.cannot_succeed_within(left)
            {
                let error = state.blocked().or_else(|| progress.status.last_error.clone());
                return Err(error.unwrap_or_else(|| unanswered(source)));
            }
        }
    }

    /// Returns the pause after which a caller that must not block its thread should repeat its call, or `None` if
    /// [`gain`](Self::gain) with this `timeout` would not wait any longer. `waited` is the time since the caller's first
    /// attempt.
    pub(crate) fn pause(&self, waited: Duration, timeout: Duration) -> Option<Duration> {
        const SHORTEST: Duration = Duration::from_millis(2);
        const LONGEST: Duration = Duration::from_millis(50);
        let state = self.state();
        let timeout = if state.progress.gains == 0 && !timeout.is_zero() {
            timeout.saturating_add(CONNECT_TIMEOUT)
        } else {
            timeout
        };
        let left = timeout.saturating_sub(waited.max(state.failing_for()));
        let is_over = state.phase != Phase::Kept || state.stopped.is_some();
        if is_over
            || left.is_zero()
            || state.progress.is_displaced
            || state.progress.cannot_succeed_within(left)
        {
            return None;
        }
        Some((waited / 4).clamp(SHORTEST, LONGEST).min(left))
    }

    /// Makes the keeper release the node, and waits at most `timeout` for the release. If the release fails, the node
    /// stays reserved until its lease expires. If no node is reserved, the call does not wait, because the keeper may
    /// still be connecting to the store. A call of the observer does not wait either, because the keeper releases the
    /// node after the observer has returned. Repeated calls share the deadline of the first call.
    pub(crate) fn close(&self, timeout: Duration) {
        let mut left = Duration::ZERO;
        self.update(|state| {
            // Without a running keeper, the session ends immediately, because the node cannot be released.
            let end = if state.stopped.is_some() { Phase::Ended } else { Phase::Closing };
            state.phase = state.phase.max(end);
            let now = Instant::now();
            let until = *state.close_until.get_or_insert_with(|| now + timeout);
            if !state.progress.reserved.is_empty() {
                left = state.longest_wait(until.saturating_duration_since(now));
            }
        });
        drop(self.wait(left, |state| state.phase == Phase::Ended));
    }

    /// The number of nodes that are still reserved after [`close`](Self::close).
    pub(crate) fn unreleased_nodes(&self) -> usize {
        let state = self.state();
        let Progress { reserved, unreleased, .. } = &state.progress;
        if state.phase == Phase::Kept { 0 } else { reserved.len() + unreleased.len() }
    }
}

/// A linked list of a lease's sessions in this process and its parent processes, with the newest session first.
pub(crate) struct Sessions {
    newest: AtomicPtr<LeaseSession>,
}

// SAFETY: `older` does not change after a session is published, and all other fields of a session can be sent to
// another thread.
unsafe impl Send for Sessions {}
// SAFETY: `older` does not change after a session is published, and all other fields of a session can be shared
// between threads.
unsafe impl Sync for Sessions {}

impl Sessions {
    pub(crate) const fn new() -> Self {
        Self { newest: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The session of the current process, or `None` if the process has not begun a session.
    pub(crate) fn ours(&self) -> Option<&LeaseSession> {
        // SAFETY: the pointer is null or points to a published session, and the list frees its sessions only when the
        // list is dropped.
        unsafe { self.newest.load(Ordering::Acquire).as_ref() }
            .filter(|session| session.mark.is_ours())
    }

    /// Returns the session of this process, and whether the caller must start the session's keeper. Begins a session
    /// if necessary. Fails in a forked child if the lease is on a fixed node and the parent process has a session.
    pub(super) fn begin(&self, is_fixed: bool) -> Result<(&LeaseSession, bool), Error> {
        loop {
            if let Some(session) = self.ours() {
                return Ok((session, session.needs_keeper()));
            }
            let older = self.newest.load(Ordering::Acquire);
            if !older.is_null() && is_fixed {
                // A forked child must not lease its parent's fixed node, because the two processes would repeatedly
                // take over the node from each other.
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
                // SAFETY: `new` was created by `Box::into_raw` above and never published, so no other thread can
                // access it.
                drop(unsafe { Box::from_raw(new) });
                continue;
            }
            // SAFETY: `new` points to the session that was just published, which the list frees only when the list is
            // dropped.
            return Ok((unsafe { &*new }, true));
        }
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        let mut next = *self.newest.get_mut();
        while !next.is_null() {
            // SAFETY: `next` was created by `Box::into_raw` and has not been freed yet, because each session occurs
            // only once in the list. Sessions of a parent process are never freed.
            if !unsafe { &*next }.mark.is_ours() {
                return;
            }
            // SAFETY: `next` was created by `Box::into_raw`, and no other thread can access the list while it is
            // dropped.
            let session = unsafe { Box::from_raw(next) };
            next = session.older;
        }
    }
}
