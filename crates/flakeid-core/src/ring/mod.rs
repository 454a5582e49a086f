//! Ring buffers of IDs that are generated in advance.

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
use crate::interrupt::{begin_wait, is_interrupted};
use crate::sync::Ordering;
use crate::{Error, ErrorKind, Generator, Id, Rollback};
use buffer::Producer;
use refill::{Refiller, Shared};

/// A handle that takes IDs from a ring buffer, which a background thread fills in advance. Any number of threads can
/// take IDs; each ID costs a compare-and-swap and a reading of the kernel's coarse clock. The type corresponds to
/// Baidu's `CachedUidGenerator`, but bounds the age of IDs and their distance from the clock.
///
/// - IDs leave the ring in increasing order. No ID is issued twice, and only stale IDs are skipped.
/// - `max_age` bounds the time from the beginning of an ID's tick to the moment when the ring issues the ID. Older
///   IDs are dropped and counted.
/// - The generator's rules bound how far an ID may be ahead of the clock: it is never ahead on a fixed node, and at
///   most `max_ahead` in a window. The ring runs ahead beyond full ticks only with
///   [`Overflow::Borrow`](crate::Overflow::Borrow). If the clock goes backwards by more than this bound, calls fail
///   with [`ClockRollback`](ErrorKind::ClockRollback) until the clock has caught up.
/// - After [`Generator::retire`] and in a forked child, the ring issues none of its IDs.
///
/// The ring is faster than its generator only in bursts, or below the layout's rate, because it cannot hold more IDs
/// than the generator may issue. IDs taken from [`generator`](Self::generator) directly are distinct from the ring's
/// IDs, but not ordered relative to them.
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
    /// The refill thread, or `None` after the ring has been closed. A forked child never locks this mutex.
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
    /// The number of IDs in the ring.
    pub size: u64,
    /// The number of IDs that the ring has issued.
    pub taken: u64,
    /// The number of IDs that were dropped because their tick was older than `max_age`. Dropped IDs are never issued.
    pub dropped_stale: u64,
    /// The number of refills that the generator refused for a reason other than a full tick.
    pub rejected_put: u64,
    /// The number of calls that failed with an error other than [`Closed`](ErrorKind::Closed) or
    /// [`Forked`](ErrorKind::Forked).
    pub rejected_take: u64,
    /// The number of refills since the ring was first filled.
    pub refills: u64,
}

impl CachedGenerator {
    /// The longest time that a waiting call sleeps before it checks the ring again and requests another refill.
    const LONGEST_SLEEP: Duration = Duration::from_millis(10);

    /// Creates a ring for `generator` with the default options.
    ///
    /// # Errors
    /// The same errors as [`with`](Self::with).
    pub fn new(generator: impl Into<Arc<Generator>>) -> Result<Self, Error> {
        Self::with(generator, RingOptions::new())
    }

    /// Creates a ring for `generator` with the given options, fills the ring, and starts the refill thread. This
    /// function may wait for the first IDs as [`Generator::fill`] does, because the first tick that the generator may
    /// use can still be in the future.
    ///
    /// # Errors
    /// - [`FieldOutOfRange`](ErrorKind::FieldOutOfRange) if `boost_power` or `padding_factor` is out of range.
    /// - [`InvalidOption`](ErrorKind::InvalidOption) if `max_age` or `refill_interval` is too short, if the system
    ///   cannot start a thread, or if the generator has [`Rollback::ClockSequence`], because the IDs of such a
    ///   generator do not increase.
    /// - The errors of [`Generator::fill`] for the first IDs.
    pub fn with(generator: impl Into<Arc<Generator>>, options: RingOptions) -> Result<Self, Error> {
        let (shared, producer) = options.fill_ring(generator.into())?;
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

    /// Takes the next ID from the ring. This method never waits and does not use a lock.
    ///
    /// # Errors
    /// [`RingEmpty`](ErrorKind::RingEmpty) if all IDs have been taken and the ring has not been refilled yet;
    /// [`ClockRollback`](ErrorKind::ClockRollback) if the ring's IDs are too far ahead of the clock;
    /// [`Closed`](ErrorKind::Closed) if the ring is closed or its generator is retired; [`Forked`](ErrorKind::Forked)
    /// in a forked child.
    #[inline]
    pub fn take(&self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.take_or_refuse(),
        }
    }

    /// Takes the next ID from the ring, or returns `None` if the ring cannot issue an ID. `None` does not count as a
    /// rejected take, and no handler is called. Use this method if the caller has other work to do before it calls
    /// [`take`](Self::take) or waits.
    #[inline]
    #[must_use]
    pub fn poll(&self) -> Option<Id> {
        let taken = self.shared.stock.take().ok()?;
        self.ask_below(taken.left);
        Some(taken.id)
    }

    /// Takes the next ID from the ring. If necessary, waits up to the generator's `max_wait` for a refill.
    ///
    /// # Errors
    /// The same errors as [`take`](Self::take), with one exception. If the generator cannot refill the ring, the call
    /// returns the generator's error, such as [`LeaseExpired`](ErrorKind::LeaseExpired) or
    /// [`HorizonReached`](ErrorKind::HorizonReached), instead of [`RingEmpty`](ErrorKind::RingEmpty).
    #[inline]
    pub fn next_id(&self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.take_waiting(self.generator().max_wait),
        }
    }

    /// Takes the next ID like [`next_id`](Self::next_id), but waits for at most `max_wait`.
    ///
    /// # Errors
    /// The same errors as [`next_id`](Self::next_id).
    #[inline]
    pub fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.take_waiting(max_wait),
        }
    }

    /// Takes an ID after [`poll`](Self::poll) has failed. If this attempt also fails, treats the failure as
    /// a rejected take.
    /// Returns the next ID without waiting, like [`take`](Self::take), for callers that repeat the call after a pause.
    /// A failure is therefore neither counted nor passed to the handler.
    ///
    /// # Errors
    /// The errors of [`next_id`](Self::next_id), returned without waiting.
    #[inline]
    pub fn try_next_id(&self) -> Result<Id, Error> {
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
                ErrorKind::ClockRollback => self.generator().policy.rollback != Rollback::Error,
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
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.shared.stock.buffer.capacity()
    }

    /// Returns the ring's statistics so far.
    #[must_use]
    pub fn stats(&self) -> RingStats {
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

    /// Closes the ring, and waits for the refill thread to end. If a handler on the refill thread calls this method,
    /// the method does not wait. Calls that are waiting for an ID from the ring, and all later calls that take IDs,
    /// fail with [`Closed`](ErrorKind::Closed). The remaining IDs are never issued, and the generator stays open.
    /// Closing the ring again has no effect, and neither does closing it in a forked child.
    pub fn close(&self) {
        if !self.generator().limit.is_ours() {
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

    /// The generator that generates the ring's IDs. Use this method to extend the generator's window, to retire the
    /// generator, or to read its statistics.
    #[must_use]
    pub fn generator(&self) -> &Arc<Generator> {
        &self.shared.stock.generator
    }
}

impl Drop for CachedGenerator {
    fn drop(&mut self) {
        if self.generator().limit.is_ours() {
            // `close` is safe even if a handler on the ring's own thread drops the last reference to the ring.
            return self.close();
        }
        // In a forked child, the handle refers to a thread and to memory of the parent process. Dropping the handle
        // would free this memory, so the handle is not dropped.
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
