#![allow(unsafe_code)]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flakeid_core::{Error, ErrorKind, ProcessMark};

use super::acts::Acts;
use super::{LeaseStatus, RETRY, Source};
use crate::generator::Shared;
use crate::protocol::Identity;

/// A lease in one process: what its keeper and those who use it tell each other. A forked child
/// begins a life of its own and never touches its parent's: a lock in it may be held for ever.
pub(crate) struct Life {
    mark: ProcessMark,
    notes: Mutex<Notes>,
    changed: Condvar,
    older: *mut Life,
}

/// What is said between the keeper and the others.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) status: LeaseStatus,
    /// Counts what users of the lease asked for beyond the usual.
    pub(super) asked: u64,
    /// Up to which of those requests an attempt has begun since.
    pub(super) heard: u64,
    /// Counts attempts that are over, whatever came of them.
    pub(super) attempts: u64,
    /// Counts grants and renewals that are in force.
    pub(super) gains: u64,
    pub(super) stage: Stage,
    /// A node was granted, so there is something to give back.
    pub(super) granted: bool,
    /// The latest attempt would fare no better if it were made again.
    pub(super) hopeless: bool,
    /// There will be no more attempts: another process has the one node that was wanted.
    pub(super) ousted: bool,
    /// Why there is no keeper, although the lease was not closed: its thread could not be started, or
    /// has died. Whoever needs the lease next starts another.
    pub(super) stopped: Option<Error>,
}

/// Where in its life a lease is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    #[default]
    Kept,
    Closing,
    Ended,
}

impl Life {
    pub(super) fn notes(&self) -> MutexGuard<'_, Notes> {
        // Notes are plain values: whole after every assignment.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tell(&self, change: impl FnOnce(&mut Notes)) {
        change(&mut self.notes());
        self.changed.notify_all();
    }

    /// Waits for `done` at most `patience`, and returns the notes then.
    pub(super) fn wait(
        &self,
        patience: Duration,
        done: impl Fn(&Notes) -> bool,
    ) -> MutexGuard<'_, Notes> {
        let notes = self.notes();
        let waited = self.changed.wait_timeout_while(notes, patience, |notes| !done(notes));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Whether a parent process had the lease before.
    pub(super) fn is_a_childs(&self) -> bool {
        !self.older.is_null()
    }

    /// Notes that there is no keeper any more, and tells everybody who waits for it.
    pub(super) fn stop(&self, error: Error) {
        self.tell(|notes| {
            notes.status.failures += 1;
            notes.status.last_error = Some(error.clone());
            notes.stopped = Some(error);
        });
    }

    /// Whether there is no keeper. Only one of those who ask is told so, and has to start one.
    fn needs_keeper(&self) -> bool {
        self.notes().stopped.take().is_some()
    }

    fn start_keeper(&self, shared: &Arc<Shared>) -> Result<(), Error> {
        Acts::start(Arc::clone(shared)).inspect_err(|error| self.stop(error.clone()))
    }

    pub(crate) fn status(&self) -> LeaseStatus {
        self.notes().status.clone()
    }

    /// How many grants and renewals there were so far: what [`gain`](Self::gain) wants to know.
    pub(crate) fn gains(&self) -> u64 {
        self.notes().gains
    }

    /// Waits until there were more than `since` grants and renewals; if there were not, asks for
    /// one now.
    pub(crate) fn gain(
        &self,
        since: u64,
        patience: Duration,
        source: &Source,
    ) -> Result<(), Error> {
        let deadline = Instant::now().checked_add(patience);
        let left =
            || deadline.map_or(patience, |end| end.saturating_duration_since(Instant::now()));
        let (asked, mut seen) = {
            let mut notes = self.notes();
            if notes.gains != since {
                return Ok(());
            }
            notes.asked += 1;
            (notes.asked, notes.attempts)
        };
        self.changed.notify_all();
        loop {
            let notes = self.wait(left(), |notes| {
                let tried = notes.heard >= asked && notes.attempts != seen;
                let over = notes.stage != Stage::Kept || notes.stopped.is_some();
                notes.gains != since || over || notes.ousted || tried
            });
            if notes.gains != since {
                return Ok(());
            }
            if notes.stage != Stage::Kept {
                return Err(Error::new(ErrorKind::Closed, "the lease was closed", None));
            }
            if let Some(error) = &notes.stopped {
                return Err(error.clone());
            }
            let tried = notes.heard >= asked && notes.attempts != seen;
            seen = notes.attempts;
            let error = notes.status.last_error.clone();
            let left = left();
            let waits = error.as_ref().and_then(Error::retry_after);
            let in_vain = tried && (notes.hopeless || waits.is_some_and(|waits| waits > left));
            if left.is_zero() || notes.ousted || in_vain {
                return Err(error.unwrap_or_else(|| {
                    let text = format!("{source} has not answered yet");
                    Error::new(ErrorKind::StoreUnavailable, &text, Some(RETRY))
                }));
            }
        }
    }

    /// Asks the keeper to give the node back and waits for that, but not for long: what was not
    /// given back expires. Not at all if there is none; it may be stuck in connecting.
    pub(crate) fn close(&self, patience: Duration) {
        let mut granted = false;
        self.tell(|notes| {
            // Nobody is there to give anything back.
            let end = if notes.stopped.is_some() { Stage::Ended } else { Stage::Closing };
            notes.stage = notes.stage.max(end);
            granted = notes.granted;
        });
        let patience = if granted { patience } else { Duration::ZERO };
        drop(self.wait(patience, |notes| notes.stage == Stage::Ended));
    }
}

/// The lives of a lease, the present process's first.
pub(crate) struct Lives {
    newest: AtomicPtr<Life>,
}

// SAFETY: `older` is written before a life is published and never again; everything else in a
// life is made to be shared.
unsafe impl Send for Lives {}
// SAFETY: as above.
unsafe impl Sync for Lives {}

impl Lives {
    pub(crate) const fn new() -> Self {
        Self { newest: AtomicPtr::new(ptr::null_mut()) }
    }

    /// This process's life, if it has one.
    pub(crate) fn ours(&self) -> Option<&Life> {
        // SAFETY: lives are never freed before the list.
        unsafe { self.newest.load(Ordering::Acquire).as_ref() }.filter(|life| life.mark.is_ours())
    }

    /// This process's life, begun now if need be: its keeper starts to acquire at once.
    pub(crate) fn begin(&self, shared: &Arc<Shared>) -> Result<&Life, Error> {
        loop {
            if let Some(life) = self.ours() {
                if life.needs_keeper() {
                    life.start_keeper(shared)?;
                }
                return Ok(life);
            }
            let older = self.newest.load(Ordering::Acquire);
            if !older.is_null() && matches!(shared.terms.identity, Identity::Node(_)) {
                // Taking the node over would take it from the parent, for ever and back again.
                return Err(Error::new(
                    ErrorKind::Forked,
                    "the lease on a fixed node is the parent process's: open one for another node, \
                     or for any, in the child",
                    None,
                ));
            }
            let new = Box::into_raw(Box::new(Life {
                mark: ProcessMark::new(),
                notes: Mutex::default(),
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
            let life = unsafe { &*new };
            return life.start_keeper(shared).map(|()| life);
        }
    }
}

impl Drop for Lives {
    fn drop(&mut self) {
        let mut next = *self.newest.get_mut();
        while !next.is_null() {
            // SAFETY: each came from `Box::into_raw` and is in the list once; the parent's are
            // left alone.
            if !unsafe { &*next }.mark.is_ours() {
                return;
            }
            // SAFETY: as above, and nobody can reach the list any more.
            let life = unsafe { Box::from_raw(next) };
            next = life.older;
        }
    }
}
