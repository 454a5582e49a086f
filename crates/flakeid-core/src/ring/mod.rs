//! IDs made beforehand.

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

/// A ring of IDs made beforehand by a background thread: taking one costs a compare-and-swap and a
/// look at the kernel's coarse clock, from any number of threads. Baidu's `CachedUidGenerator`,
/// with bounds.
///
/// - IDs leave in increasing order; none is issued twice, and none is skipped unless it is stale.
/// - `max_age` bounds how long ago an ID's tick began when it is handed out; what is older is
///   dropped and counted. How far ahead of the clock it may be is the generator's own rule: not at
///   all on a fixed node, at most `max_ahead` in a window, and only with
///   [`Overflow::Borrow`](crate::Overflow::Borrow) does the ring run ahead beyond full ticks. If
///   the clock goes back by more, calls are [`ClockRollback`](ErrorKind::ClockRollback) until it
///   has caught up.
/// - After [`Generator::retire`] and in a forked child nothing that was made before is handed out.
///
/// The ring is as fast as it is only in bursts, or below the layout's rate: it cannot hold more IDs
/// than the generator may issue. IDs taken from [`generator`](Self::generator) directly are
/// distinct from the ring's, but not in order with them.
///
/// ```
/// use flakeid_core::{CachedGenerator, Generator, Layout};
///
/// let cached = CachedGenerator::new(Generator::new(Layout::TWITTER, 7)?)?;
/// assert!(cached.next_id()? < cached.next_id()?);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
///
/// The thread ends when the `CachedGenerator` is closed or dropped, which waits for it.
pub struct CachedGenerator {
    shared: Arc<Shared>,
    /// There until it is closed. A forked child never locks it.
    refiller: Mutex<Option<JoinHandle<()>>>,
    waker: thread::Thread,
}

/// What happened to a ring of pre-built IDs.
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
    /// IDs in the ring now.
    pub size: u64,
    /// IDs handed out.
    pub taken: u64,
    /// IDs dropped because their tick was older than `max_age`. They are never handed out.
    pub dropped_stale: u64,
    /// Refills that the generator refused, other than because its tick was full.
    pub rejected_put: u64,
    /// Calls that were refused an ID, other than because the generator was retired.
    pub rejected_take: u64,
    /// Portions put into the ring after the first filling.
    pub refills: u64,
}

impl CachedGenerator {
    /// Who waits looks at the ring, and asks for a refill, at least this often.
    const LONGEST_SLEEP: Duration = Duration::from_millis(10);

    /// A ring over `generator`, with the default options.
    ///
    /// # Errors
    /// As [`with`](Self::with).
    pub fn new(generator: impl Into<Arc<Generator>>) -> Result<Self, Error> {
        Self::with(generator, RingOptions::new())
    }

    /// Checks everything, fills the ring and starts the refilling thread. Waits as
    /// [`Generator::fill`] does for the first IDs: a node's first tick begins after its creation.
    ///
    /// # Errors
    /// [`FieldOutOfRange`](ErrorKind::FieldOutOfRange) for `boost_power` and `padding_factor`;
    /// [`InvalidOption`](ErrorKind::InvalidOption) for a `max_age` or `refill_interval` that is too
    /// short, for a generator with [`Rollback::ClockSequence`] (its IDs do not rise), and if the
    /// system has no thread left; as [`Generator::fill`] for the first IDs.
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

    /// The next ID of the ring. Never waits and takes no lock.
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

    /// The next ID of the ring, if it has one to hand out. `None` says nothing about the cause and
    /// is no refusal: nothing is counted, no handler is called. For callers that have something to
    /// do before they [`take`](Self::take) or wait.
    #[inline]
    #[must_use]
    pub fn poll(&self) -> Option<Id> {
        let taken = self.shared.stock.take().ok()?;
        self.ask_below(taken.left);
        Some(taken.id)
    }

    /// The next ID of the ring; waits for a refill, at most the generator's `max_wait`.
    ///
    /// # Errors
    /// As [`take`](Self::take), and instead of [`RingEmpty`](ErrorKind::RingEmpty) what keeps the
    /// generator from refilling the ring, such as [`LeaseExpired`](ErrorKind::LeaseExpired) or
    /// [`HorizonReached`](ErrorKind::HorizonReached).
    #[inline]
    pub fn next_id(&self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.take_waiting(self.generator().max_wait),
        }
    }

    /// As [`next_id`](Self::next_id), waiting at most `max_wait`.
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

    /// There was nothing to hand out a moment ago.
    #[cold]
    #[inline(never)]
    fn take_or_refuse(&self) -> Result<Id, Error> {
        self.shared.stock.take().map(|taken| taken.id).map_err(|error| self.refuse(error))
    }

    /// As [`take_or_refuse`](Self::take_or_refuse).
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
            // Under the lock: what is put from here on is announced to this thread.
            match self.shared.stock.take() {
                Ok(taken) => return Ok(taken.id),
                Err(again) => error = again,
            }
            let cause = obstacle.clone().filter(|_| error.kind() == ErrorKind::RingEmpty);
            let left = max_wait.saturating_sub(start.elapsed());
            let final_cause = cause.as_ref().is_some_and(|cause| !cause.kind().is_retryable());
            if left.is_zero() || final_cause {
                // Not under the lock, because a handler may take from this ring.
                drop(obstacle);
                return Err(self.refuse(cause.unwrap_or(error)));
            }
            drop(self.shared.wait(obstacle, left.min(Self::LONGEST_SLEEP)));
        }
    }

    /// In a forked child nothing of the parent's is touched.
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

    /// How many IDs the ring can hold.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.shared.stock.buffer.capacity()
    }

    /// What happened so far.
    #[must_use]
    pub fn stats(&self) -> RingStats {
        let stock = &self.shared.stock;
        // First: what was dropped has left the ring, so it is part of what has gone.
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

    /// Ends the ring, for programs that do not know which calls of other threads are under way:
    /// calls that begin later are [`Closed`](ErrorKind::Closed), and so are those that wait. IDs that
    /// are left in it are never issued; the generator goes on. Waits for the ring's thread, except
    /// in a handler that this thread calls. Nothing the second time, and in a forked child.
    pub fn close(&self) {
        if !self.generator().limit.is_ours() {
            return;
        }
        self.shared.stock.stop();
        self.waker.unpark();
        // A thread cannot wait for itself, nor for the one that waits for it.
        if self.waker.id() != thread::current().id() {
            let mut refiller = self.refiller.lock().unwrap_or_else(PoisonError::into_inner);
            // The thread catches panics itself, so there is none to pass on.
            let _ended = refiller.take().map(JoinHandle::join);
        }
        // Nothing is put any more, so an empty ring stays empty.
        self.shared.stock.drop_all();
    }

    /// The generator that makes the IDs: to extend its window, to retire it, for its counts.
    #[must_use]
    pub fn generator(&self) -> &Arc<Generator> {
        &self.shared.stock.generator
    }
}

impl Drop for CachedGenerator {
    fn drop(&mut self) {
        if self.generator().limit.is_ours() {
            // A handler may have held the last reference.
            return self.close();
        }
        // A forked child: the thread is the parent's, and so is everything it would free.
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
