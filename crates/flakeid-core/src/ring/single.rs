//! A ring of the IDs of one tenure, with the thread that refills the ring.

use alloc::format;
use alloc::sync::Arc;
use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::buffer::Producer;
use super::refill::{Refiller, Shared};
use super::{RingOptions, RingStats};
use crate::background::spawn_background;
use crate::generator::Tenure;
use crate::interrupt::{begin_wait, is_interrupted};
use crate::sync::Ordering;
use crate::{Error, ErrorKind, Id, Rollback};

/// A ring of the IDs of one tenure. The ring issues no ID after the tenure has ended, and in a forked child.
pub(super) struct Ring {
    shared: Arc<Shared>,
    /// The refill thread, or `None` after the ring has been closed. A forked child never locks this mutex.
    refiller: Mutex<Option<JoinHandle<()>>>,
    waker: thread::Thread,
}

impl Ring {
    /// The longest time that a waiting call sleeps before it checks the ring again and requests another refill.
    const LONGEST_SLEEP: Duration = Duration::from_millis(10);

    /// Creates a ring for a tenure, fills the ring, and starts the refill thread.
    pub(super) fn new(tenure: Arc<Tenure>, options: RingOptions) -> Result<Self, Error> {
        let (shared, producer) = options.fill_ring(tenure)?;
        Self::start(shared, producer)
    }

    fn start(shared: Shared, producer: Producer) -> Result<Self, Error> {
        let shared = Arc::new(shared);
        let refiller = Refiller::new(Arc::clone(&shared), producer);
        let refiller =
            spawn_background("flakeid-ring", move || refiller.run()).map_err(|error| {
                Error::invalid_option(
                    "ring",
                    &format!("the ring's refill thread cannot be started: {error}"),
                )
            })?;
        let waker = refiller.thread().clone();
        Ok(Self { shared, refiller: Mutex::new(Some(refiller)), waker })
    }

    /// Returns the next ID without waiting. Counts a failure as a rejected take.
    #[inline]
    pub(super) fn take(&self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.take_or_refuse(),
        }
    }

    /// Returns the next ID, or `None` if the ring cannot issue an ID.
    #[inline]
    pub(super) fn poll(&self) -> Option<Id> {
        let taken = self.shared.stock.take().ok()?;
        self.ask_below(taken.left);
        Some(taken.id)
    }

    /// Returns the next ID. Waits for a refill for at most `max_wait`.
    #[inline]
    pub(super) fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.take_waiting(max_wait),
        }
    }

    /// Returns the next ID without waiting. A failure is neither counted nor passed to the handler.
    #[inline]
    pub(super) fn try_next_id(&self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.take_after_request(),
        }
    }

    /// Requests a refill, and returns the next ID, or the reason why the ring stays empty.
    #[cold]
    #[inline(never)]
    fn take_after_request(&self) -> Result<Id, Error> {
        self.shared.ask(&self.waker);
        let obstacle = self.shared.obstacle();
        self.shared.stock.take().map(|taken| taken.id).map_err(|error| {
            // A wait of the caller ends all other obstacles.
            let lasts = |kind: ErrorKind| !kind.is_retryable() || kind == ErrorKind::LeaseExpired;
            match &*obstacle {
                Some(cause) if error.kind() == ErrorKind::RingEmpty && lasts(cause.kind()) => {
                    cause.clone()
                }
                _ => error,
            }
        })
    }

    #[cold]
    #[inline(never)]
    fn take_or_refuse(&self) -> Result<Id, Error> {
        self.shared.stock.take().map(|taken| taken.id).map_err(|error| self.refuse(error))
    }

    /// Takes an ID like [`take_or_refuse`](Self::take_or_refuse), but waits for a refill.
    #[cold]
    #[inline(never)]
    fn take_waiting(&self, max_wait: Duration) -> Result<Id, Error> {
        match self.shared.stock.take() {
            Ok(taken) => Ok(taken.id),
            Err(error) => self.wait(error, max_wait),
        }
    }

    #[inline]
    fn ask_below(&self, left: u64) {
        if left < self.shared.limits.low {
            self.shared.ask(&self.waker);
        }
    }

    fn wait(&self, mut error: Error, max_wait: Duration) -> Result<Id, Error> {
        let start = Instant::now();
        begin_wait();
        loop {
            let waits = match error.kind() {
                ErrorKind::RingEmpty => true,
                ErrorKind::ClockRollback => self.tenure().policy.rollback != Rollback::Error,
                _ => false,
            };
            if !waits {
                return Err(self.refuse(error));
            }
            let interrupted = is_interrupted();
            self.shared.ask(&self.waker);
            let obstacle = self.shared.obstacle();
            // The ring is checked under the lock, so that this thread is notified of IDs that are put into the ring
            // after the check.
            match self.shared.stock.take() {
                Ok(taken) => return Ok(taken.id),
                Err(again) => error = again,
            }
            let cause = obstacle.clone().filter(|_| error.kind() == ErrorKind::RingEmpty);
            let left = max_wait.saturating_sub(start.elapsed());
            let final_cause = cause.as_ref().is_some_and(|cause| !cause.kind().is_retryable());
            if left.is_zero() || interrupted || final_cause {
                // The lock is released first, because a handler that takes IDs from this ring may need the lock.
                drop(obstacle);
                return Err(self.refuse(cause.unwrap_or(error)));
            }
            drop(self.shared.wait(obstacle, left.min(Self::LONGEST_SLEEP)));
        }
    }

    /// Returns the error. Unless the error is [`Closed`](ErrorKind::Closed) or [`Forked`](ErrorKind::Forked), first
    /// counts a rejected take, requests a refill and calls the handler.
    #[cold]
    #[inline(never)]
    fn refuse(&self, error: Error) -> Error {
        if matches!(error.kind(), ErrorKind::Closed | ErrorKind::Forked) {
            return error;
        }
        self.shared.rejected_take.fetch_add(1, Ordering::Relaxed);
        self.shared.ask(&self.waker);
        if let Some(handler) = &self.shared.handlers.take {
            handler(&error);
        }
        error
    }

    /// The number of IDs that the ring can hold.
    pub(super) fn capacity(&self) -> u64 {
        self.shared.stock.buffer.capacity()
    }

    /// Returns the ring's statistics so far.
    pub(super) fn stats(&self) -> RingStats {
        let stock = &self.shared.stock;
        // The number of dropped IDs is read before the number of IDs that have left the ring. The second number
        // includes the dropped IDs, so the difference is never negative.
        let (dropped_stale, dropped_at_end) = (stock.dropped_stale(), stock.dropped_at_end());
        RingStats {
            size: stock.buffer.len(),
            taken: stock.buffer.gone().saturating_sub(dropped_stale + dropped_at_end),
            dropped_stale,
            rejected_put: self.shared.rejected_put.load(Ordering::Relaxed),
            rejected_take: self.shared.rejected_take.load(Ordering::Relaxed),
            refills: self.shared.refills.load(Ordering::Relaxed),
        }
    }

    /// Closes the ring, and waits for the refill thread to end, unless a handler on the refill thread calls this method.
    /// Has no effect in a forked child.
    pub(super) fn close(&self) {
        if !self.tenure().limit.is_ours() {
            return;
        }
        self.shared.stock.stop();
        self.waker.unpark();
        // The ring's thread cannot join itself, and must not wait for the lock, because another thread may hold the
        // lock while joining the ring's thread.
        if self.waker.id() != thread::current().id() {
            let mut refiller = self.refiller.lock().unwrap_or_else(PoisonError::into_inner);
            // The ring's thread catches its own panics, so `join` never returns a panic.
            let _ended = refiller.take().map(JoinHandle::join);
        }
        // The producer adds no more IDs, so the ring stays empty.
        self.shared.stock.drop_all();
    }

    /// The tenure that generates the ring's IDs.
    #[inline]
    pub(super) fn tenure(&self) -> &Arc<Tenure> {
        &self.shared.stock.tenure
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.tenure().limit.is_ours() {
            // `close` is safe even if a handler on the ring's own thread drops the last reference to the ring.
            return self.close();
        }
        // In a forked child, the handle refers to a thread and to memory of the parent process. Dropping the handle
        // would free this memory, so the handle is not dropped.
        let refiller = self.refiller.get_mut().unwrap_or_else(PoisonError::into_inner);
        core::mem::forget(refiller.take());
    }
}
