//! Ring buffers of IDs that are generated in advance.

mod buffer;
mod freshness;
#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, loom))]
mod loom_twin;
mod options;
mod refill;
mod single;
mod stock;

pub use options::RingOptions;

use alloc::sync::Arc;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering, fence};
use core::time::Duration;

use crate::chain::Chain;
use crate::generator::Tenure;
use crate::{Error, ErrorKind, Generator, Id};
use single::Ring;

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
/// - On a leased node, a new ring begins with every grant and in every forked child. IDs from an older ring are not
///   returned afterwards.
///
/// The ring is faster than its generator only in bursts, or below the layout's rate, because it cannot hold more IDs
/// than the generator may issue. IDs taken from [`generator`](Self::generator) directly are distinct from the ring's
/// IDs, but not ordered relative to them.
///
/// ```
/// use flakeid_core::{CachedGenerator, Generator, Layout};
///
/// let cached = CachedGenerator::new(&Generator::new(Layout::TWITTER, 7)?)?;
/// assert!(cached.next_id()? < cached.next_id()?);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
///
/// The ring keeps the generator alive. Closing or dropping the `CachedGenerator` ends the thread and waits for it.
pub struct CachedGenerator {
    /// The rings of all tenures, newest first. The threads of older rings have ended, but these rings remain in memory
    /// because other threads can still read them. The list grows by one ring with each change of the node.
    rings: Chain<Ring>,
    options: RingOptions,
    closed: AtomicBool,
    /// The generator, declared after the rings so that their threads end first.
    generator: Generator,
}

/// Counts of a ring's events.
///
/// ```
/// use flakeid_core::{CachedGenerator, Generator, Layout};
///
/// let cached = CachedGenerator::new(&Generator::new(Layout::TWITTER, 7)?)?;
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
    /// Creates a ring for `generator` with the default options.
    ///
    /// # Errors
    /// The same errors as [`with`](Self::with).
    pub fn new(generator: &Generator) -> Result<Self, Error> {
        Self::with(generator, RingOptions::new())
    }

    /// Creates a ring for `generator` with the given options, fills the ring, and starts the refill thread. This
    /// function may wait for the first IDs as [`Generator::fill`] does, because the first tick that the generator may
    /// use can still be in the future.
    ///
    /// # Errors
    /// - [`FieldOutOfRange`](ErrorKind::FieldOutOfRange) if `boost_power` or `padding_factor` is out of range.
    /// - [`InvalidOption`](ErrorKind::InvalidOption) if `max_age` or `refill_interval` is too short, if the system
    ///   cannot start a thread, or if the generator has
    ///   [`Rollback::ClockSequence`](crate::Rollback::ClockSequence), because the IDs of such a generator do not
    ///   increase.
    /// - The errors of [`Generator::fill`] for the first IDs.
    pub fn with(generator: &Generator, options: RingOptions) -> Result<Self, Error> {
        let (rings, closed) = (Chain::default(), AtomicBool::new(false));
        let cached = Self { rings, options, closed, generator: generator.clone() };
        generator.run_on_newest(generator.max_wait(), &mut |tenure, _| {
            cached.ring_of(tenure).map(drop)
        })?;
        Ok(cached)
    }

    /// Takes the next ID from the ring. This method never waits and does not use a lock, except to start a new ring on a
    /// leased node that has changed.
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
            None => self.take_slowly(Duration::ZERO, |ring, _| ring.take()),
        }
    }

    /// Takes the next ID from the ring, or returns `None` if the ring cannot issue an ID. `None` does not count as a
    /// rejected take, and no handler is called. Use this method if the caller has other work to do before it calls
    /// [`take`](Self::take) or waits.
    #[inline]
    #[must_use]
    pub fn poll(&self) -> Option<Id> {
        self.at_hand()?.poll()
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
            None => self.take_slowly(self.generator.max_wait(), Ring::next_id_within),
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
            None => self.take_slowly(max_wait, Ring::next_id_within),
        }
    }

    /// Returns the next ID without waiting, like [`take`](Self::take), for callers that repeat the call after
    /// [`retry_pause`](Generator::retry_pause). A failure is therefore neither counted nor passed to the handler.
    ///
    /// # Errors
    /// The errors of [`next_id`](Self::next_id), returned without waiting.
    #[inline]
    pub fn try_next_id(&self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.take_slowly(Duration::ZERO, |ring, _| ring.try_next_id()),
        }
    }

    /// The number of IDs that the ring can hold.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.rings.newest().map_or(0, Ring::capacity)
    }

    /// Returns the size of the newest ring, and each counter summed over the rings of all tenures so far.
    #[must_use]
    pub fn stats(&self) -> RingStats {
        let mut rings = self.rings.iter().map(Ring::stats);
        let mut sum = rings.next().unwrap_or_default();
        for older in rings {
            sum.taken += older.taken;
            sum.dropped_stale += older.dropped_stale;
            sum.rejected_put += older.rejected_put;
            sum.rejected_take += older.rejected_take;
            sum.refills += older.refills;
        }
        sum
    }

    /// Closes the ring, and waits for the refill thread to end. If a handler on the refill thread calls this method,
    /// the method does not wait. Calls that are waiting for an ID from the ring, and all later calls that take IDs,
    /// fail with [`Closed`](ErrorKind::Closed). The remaining IDs are never issued, and the generator stays open.
    /// Closing the ring again has no effect. In a forked child, the call ends only the child's own ring, which exists if
    /// the node is leased; the parent's ring stays open.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // If another thread creates a ring concurrently, the memory fences of both threads ensure that this thread sees
        // the ring or the other thread sees `closed`.
        fence(Ordering::SeqCst);
        self.rings.iter().for_each(Ring::close);
    }

    /// The generator that generates the ring's IDs. Use this method to extend the generator's window, to retire the
    /// generator, or to read its statistics.
    #[must_use]
    pub const fn generator(&self) -> &Generator {
        &self.generator
    }

    /// Returns the newest ring, or `None` if the generator has been closed or has a newer tenure. The tenure itself stays
    /// open while other users share the lease.
    #[inline]
    fn at_hand(&self) -> Option<&Ring> {
        self.rings.newest().filter(|ring| self.generator.uses(ring.tenure()))
    }

    /// Takes an ID by `call`, after [`poll`](Self::poll) has failed.
    #[cold]
    #[inline(never)]
    fn take_slowly(
        &self,
        max_wait: Duration,
        call: fn(&Ring, Duration) -> Result<Id, Error>,
    ) -> Result<Id, Error> {
        match self.at_hand().ok_or_else(Generator::ended).and_then(|ring| call(ring, max_wait)) {
            Ok(id) => Ok(id),
            Err(error) => self.recover(error, max_wait, call),
        }
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Handles an error that a ring returned. If the ring's tenure has ended, repeats the call on the ring of a
    /// newer tenure.
    fn recover(
        &self,
        error: Error,
        max_wait: Duration,
        retry: fn(&Ring, Duration) -> Result<Id, Error>,
    ) -> Result<Id, Error> {
        if !self.generator.is_leased() {
            return Err(error);
        }
        if self.is_closed() {
            return Err(Self::closed());
        }
        let recovered = self.generator.recover(error, max_wait, &mut |tenure, left| {
            let tried = self.ring_of(tenure).and_then(|ring| retry(ring, left));
            // A closed ring fails with `RingEmpty`, which `recover` does not retry, so that callers do not wait for
            // another node.
            let ended = |_| Error::new(ErrorKind::RingEmpty, "the ring was closed", None);
            if self.is_closed() { tried.map_err(ended) } else { tried }
        });
        if self.is_closed() { recovered.map_err(|_| Self::closed()) } else { recovered }
    }

    fn closed() -> Error {
        Error::new(ErrorKind::Closed, "the ring was closed", None)
    }

    /// Returns the ring of `tenure`. Creates the ring if it does not exist yet.
    fn ring_of(&self, tenure: &Arc<Tenure>) -> Result<&Ring, Error> {
        let ring = self.rings.newest_or_push(
            |ring| Arc::ptr_eq(ring.tenure(), tenure),
            || Ring::new(Arc::clone(tenure), self.options.clone()),
        )?;
        fence(Ordering::SeqCst);
        if self.is_closed() {
            // This thread closes the ring, because the thread that set `closed` may have searched for rings before
            // this ring existed.
            ring.close();
            return Err(Self::closed());
        }
        Ok(ring)
    }
}

impl fmt::Debug for CachedGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedGenerator")
            .field("generator", &self.generator)
            .field("capacity", &self.capacity())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
