//! Rings of IDs generated in advance.

mod buffer;
mod freshness;
#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, loom))]
mod loom_twin;
mod options;
mod refill;
mod stock;

pub use options::RingOptions;

use alloc::format;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::background::spawn_background;
use crate::sync::Ordering;
use crate::{Error, ErrorKind, Generator, Id, Rollback};
use buffer::Producer;
use refill::{Refiller, Shared};

/// A handle that takes IDs from a ring buffer, which a background thread fills in advance. Taking an ID costs a
/// compare-and-swap and a reading of the kernel's coarse clock, from any number of threads. It corresponds to Baidu's
/// `CachedUidGenerator`, but bounds the age of IDs and their distance from the clock.
///
/// - IDs leave the ring in increasing order. No ID is issued twice, and only stale IDs are skipped.
/// - `max_age` bounds the time since an ID's tick began when the ring issues it; older IDs are dropped and counted. The
///   generator's rules bound how far an ID may be ahead of the clock: it is never ahead on a fixed node, and at most
///   `max_ahead` in a window. The ring runs ahead beyond full ticks only with
///   [`Overflow::Borrow`](crate::Overflow::Borrow). If the clock goes backwards by more, calls fail with
///   [`ClockRollback`](ErrorKind::ClockRollback) until it has caught up.
/// - After [`Generator::retire`] and in a forked child, the ring issues none of its IDs.
///
/// The ring is faster than its generator only in bursts, or below the layout's rate, because it cannot hold more IDs than
/// the generator may issue. IDs taken from [`generator`](Self::generator) directly are distinct from the ring's IDs, but
/// not in order with them.
///
/// ```
/// use flakeid_core::{CachedGenerator, Generator, Layout};
///
/// let cached = CachedGenerator::new(Generator::new(Layout::TWITTER, 7)?)?;
/// assert!(cached.next_id()? < cached.next_id()?);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
///
/// Closing or dropping the `CachedGenerator` ends the thread and waits for it.
pub struct CachedGenerator {
    shared: Arc<Shared>,
    /// The refilling thread; `None` after the ring was closed. A forked child never locks the mutex.
    refiller: Mutex<Option<JoinHandle<()>>>,
    waker: thread::Thread,
}

/// Counts of a ring's events.
///
/// ```
/// use flakeid_core::{CachedGenerator, Generator, Layout};
///
/// let cached = CachedGenerator::new(Generator::new(Layout::TWITTER, 7)?)?;
/// cached.next_id()?;
/// assert_eq!(cached.stats().taken, 1);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RingStats {
    /// The number of IDs in the ring now.
    pub size: u64,
    /// The number of IDs that the ring issued.
    pub taken: u64,
    /// The number of IDs that were dropped because their tick was older than `max_age`. They are never issued.
    pub dropped_stale: u64,
    /// The number of refills that the generator refused for a reason other than a full tick.
    pub rejected_put: u64,
    /// The number of calls that got no ID for a reason other than a retired generator.
    pub rejected_take: u64,
    /// The number of refills after the ring was first filled.
    pub refills: u64,
}

impl CachedGenerator {
    /// The longest interval at which a waiting call checks the ring and requests a refill.
    const LONGEST_SLEEP: Duration = Duration::from_millis(10);

    /// Creates a ring for `generator` with the default options.
    ///
    /// # Errors
    /// As [`with`](Self::with).
    pub fn new(generator: impl Into<Arc<Generator>>) -> Result<Self, Error> {
        Self::with(generator, RingOptions::new())
    }

    /// Checks the options, fills the ring and starts the refilling thread. Waits for the first IDs like [`Generator::fill`],
    /// because a node's first tick begins after its creation.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](ErrorKind::FieldOutOfRange) if `boost_power` or `padding_factor` is out of range;
    /// [`InvalidOption`](ErrorKind::InvalidOption) if `max_age` or `refill_interval` is too short, if the generator has
    /// [`Rollback::ClockSequence`] (because its IDs do not increase), or if the system cannot start a thread; the errors of
    /// [`Generator::fill`] for the first IDs.
    pub fn with(generator: impl Into<Arc<Generator>>, options: RingOptions) -> Result<Self, Error> {
        let (shared, producer) = options.fill_ring(generator.into())?;
        Self::start(shared, producer)
    }

    fn start(shared: Shared, producer: Producer) -> Result<Self, Error> {
        let shared = Arc::new(shared);
        let refiller = Refiller::new(Arc::clone(&shared), producer);
        let refiller =
            spawn_background("flakeid-ring", move || refiller.run()).map_err(|error| {
                Error::invalid_option("ring", &format!("no thread to refill it: {error}"))
            })?;
        let waker = refiller.thread().clone();
        Ok(Self { shared, refiller: Mutex::new(Some(refiller)), waker })
    }

    /// Takes the next ID of the ring. Never waits and takes no lock.
    ///
    /// # Errors
    /// [`RingEmpty`](ErrorKind::RingEmpty) if the ring has not been refilled yet;
    /// [`ClockRollback`](ErrorKind::ClockRollback) if its IDs are too far ahead of the clock;
    /// [`Closed`](ErrorKind::Closed); [`Forked`](ErrorKind::Forked).
    #[inline]
    pub fn take(&self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.take_or_refuse(),
        }
    }

    /// Takes the next ID of the ring, if one can be issued. `None` does not count as a rejected take: nothing is counted and
    /// no handler is called. This call is for callers that have other work to do before they [`take`](Self::take) or wait.
    #[inline]
    #[must_use]
    pub fn poll(&self) -> Option<Id> {
        let taken = self.shared.stock.take().ok()?;
        self.ask_below(taken.left);
        Some(taken.id)
    }

    /// Takes the next ID of the ring. Waits for a refill, for at most the generator's `max_wait`.
    ///
    /// # Errors
    /// As [`take`](Self::take), but instead of [`RingEmpty`](ErrorKind::RingEmpty) the error that prevents the generator from
    /// refilling the ring, such as [`LeaseExpired`](ErrorKind::LeaseExpired) or
    /// [`HorizonReached`](ErrorKind::HorizonReached).
    #[inline]
    pub fn next_id(&self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.take_waiting(self.generator().max_wait),
        }
    }

    /// Does the same as [`next_id`](Self::next_id), but waits at most `max_wait`.
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id).
    #[inline]
    pub fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.take_waiting(max_wait),
        }
    }

    /// Handles a ring that had no ID to issue.
    #[cold]
    #[inline(never)]
    fn take_or_refuse(&self) -> Result<Id, Error> {
        self.shared.stock.take().map(|taken| taken.id).map_err(|error| self.refuse(error))
    }

    /// Does the same as [`take_or_refuse`](Self::take_or_refuse), and waits.
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
        loop {
            let waits = match error.kind() {
                ErrorKind::RingEmpty => true,
                ErrorKind::ClockRollback => self.generator().policy.rollback != Rollback::Error,
                _ => false,
            };
            if !waits {
                return Err(self.refuse(error));
            }
            self.shared.ask(&self.waker);
            let obstacle = self.shared.obstacle();
            // Under the lock, so that this thread is notified of IDs that are put from now on.
            match self.shared.stock.take() {
                Ok(taken) => return Ok(taken.id),
                Err(again) => error = again,
            }
            let cause = obstacle.clone().filter(|_| error.kind() == ErrorKind::RingEmpty);
            let left = max_wait.saturating_sub(start.elapsed());
            let final_cause = cause.as_ref().is_some_and(|cause| !cause.kind().is_retryable());
            if left.is_zero() || final_cause {
                // The lock is released first, because a handler may take from this ring.
                drop(obstacle);
                return Err(self.refuse(cause.unwrap_or(error)));
            }
            drop(self.shared.wait(obstacle, left.min(Self::LONGEST_SLEEP)));
        }
    }

    /// Whether this process is the one that created the ring; a forked child must not use it.
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
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.shared.stock.buffer.capacity()
    }

    /// Returns the counts of the ring's events so far.
    #[must_use]
    pub fn stats(&self) -> RingStats {
        let stock = &self.shared.stock;
        // The dropped IDs are read first, because they are part of the IDs that have left the ring.
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

    /// Closes the ring, for programs that do not know which calls of other threads are pending: later calls and waiting calls
    /// fail with [`Closed`](ErrorKind::Closed). The remaining IDs are never issued; the generator stays open. Waits for the
    /// ring's thread, except in a handler that this thread calls. Has no effect the second time, and in a forked child.
    pub fn close(&self) {
        if !self.generator().limit.is_ours() {
            return;
        }
        self.shared.stock.stop();
        self.waker.unpark();
        // A thread cannot wait for itself, or for a thread that waits for it.
        if self.waker.id() != thread::current().id() {
            let mut refiller = self.refiller.lock().unwrap_or_else(PoisonError::into_inner);
            // The thread catches panics itself, so there is no panic to propagate.
            let _ended = refiller.take().map(JoinHandle::join);
        }
        // The producer has ended, so an empty ring stays empty.
        self.shared.stock.drop_all();
    }

    /// The generator of the IDs: to extend its window, to retire it, or to read its counts.
    #[must_use]
    pub fn generator(&self) -> &Arc<Generator> {
        &self.shared.stock.generator
    }
}

impl Drop for CachedGenerator {
    fn drop(&mut self) {
        if self.generator().limit.is_ours() {
            // The drop may run in a handler that held the last reference.
            return self.close();
        }
        // In a forked child the thread belongs to the parent, and so does everything that it would free.
        let refiller = self.refiller.get_mut().unwrap_or_else(PoisonError::into_inner);
        core::mem::forget(refiller.take());
    }
}

impl fmt::Debug for CachedGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedGenerator")
            .field("generator", &**self.generator())
            .field("capacity", &self.capacity())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
