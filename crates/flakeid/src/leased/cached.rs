use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::Duration;

use flakeid_core::{CachedGenerator, Error, ErrorKind, Generator, Id, RingOptions, RingStats};

use super::LeasedGenerator;
use crate::keeper::Chain;

/// The equivalent of [`CachedGenerator`] for a leased node: a ring of IDs that are generated in advance. A new ring is
/// started for each tenure of a node and in each forked child. IDs that remain in an older ring are never returned.
pub(crate) struct LeasedCachedGenerator {
    leased: Arc<LeasedGenerator>,
    options: RingOptions,
    /// The rings of all tenures, newest first. The threads of older rings have ended, but these rings remain in memory
    /// because other threads can still read them. The list stays short, because a process has only a few tenures.
    rings: Chain<CachedGenerator>,
    closed: AtomicBool,
}

impl LeasedCachedGenerator {
    /// Creates a ring whose IDs come from `leased`, and fills the ring.
    ///
    /// # Errors
    /// The same errors as [`CachedGenerator::with`] and [`LeasedGenerator::next_id`].
    pub(crate) fn with(leased: Arc<LeasedGenerator>, options: RingOptions) -> Result<Self, Error> {
        let (rings, closed) = (Chain::new(), AtomicBool::new(false));
        let cached = Self { leased, options, rings, closed };
        cached.recover(LeasedGenerator::ended(), cached.leased.max_wait(), &mut |_, _| Ok(()))?;
        Ok(cached)
    }

    /// Returns the next ID from the ring, as [`CachedGenerator::take`] does. Never waits, except to start a new ring
    /// after the node has changed.
    ///
    /// # Errors
    /// The same errors as [`CachedGenerator::take`] and [`LeasedGenerator::try_next_id`].
    #[inline]
    pub(crate) fn take(&self) -> Result<Id, Error> {
        match self.at_hand().and_then(CachedGenerator::take) {
            Ok(id) => Ok(id),
            Err(error) => self.recover(error, Duration::ZERO, &mut |ring, _| ring.take()),
        }
    }

    /// Returns the next ID, or `None` if the ring contains no usable ID. Behaves like [`CachedGenerator::poll`].
    #[inline]
    #[must_use]
    pub(crate) fn poll(&self) -> Option<Id> {
        self.at_hand().ok().and_then(CachedGenerator::poll)
    }

    /// Returns the next ID without waiting, as [`CachedGenerator::try_next_id`] does.
    ///
    /// # Errors
    /// The same errors as [`next_id`](Self::next_id), returned without waiting.
    #[inline]
    pub(crate) fn try_next_id(&self) -> Result<Id, Error> {
        match self.at_hand().and_then(CachedGenerator::try_next_id) {
            Ok(id) => Ok(id),
            Err(error) => self.recover(error, Duration::ZERO, &mut |ring, _| ring.try_next_id()),
        }
    }

    /// Returns the next ID from the ring. If the ring is empty, waits at most the lease's `max_wait` for a refill.
    ///
    /// # Errors
    /// The same errors as [`CachedGenerator::next_id`] and [`LeasedGenerator::next_id`].
    #[inline]
    pub(crate) fn next_id(&self) -> Result<Id, Error> {
        self.next_id_within(self.leased.max_wait())
    }

    /// Returns the next ID like [`next_id`](Self::next_id), but waits for at most `max_wait`.
    ///
    /// # Errors
    /// The same errors as [`next_id`](Self::next_id).
    #[inline]
    pub(crate) fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        match self.at_hand().and_then(|ring| ring.next_id_within(max_wait)) {
            Ok(id) => Ok(id),
            Err(error) => {
                self.recover(error, max_wait, &mut |ring, left| ring.next_id_within(left))
            }
        }
    }

    /// The capacity of the ring in IDs.
    #[must_use]
    pub(crate) fn capacity(&self) -> u64 {
        self.rings.newest().map_or(0, CachedGenerator::capacity)
    }

    /// Returns the size of the newest ring, and each counter summed over all rings so far.
    #[must_use]
    pub(crate) fn stats(&self) -> RingStats {
        let mut rings = self.rings.iter().map(CachedGenerator::stats);
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

    /// Closes the ring, as [`CachedGenerator::close`] does, but leaves the leased generator open. In a forked child,
    /// this call closes the child's ring.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // If another thread creates a ring concurrently, the memory fences of both threads ensure that this thread sees
        // the ring or the other thread sees `closed`.
        fence(Ordering::SeqCst);
        self.rings.iter().for_each(CachedGenerator::close);
    }

    /// Returns the newest ring. Fails with `Closed` if no ring exists yet, or if this `LeasedCachedGenerator` or its
    /// leased generator is closed. Both are checked, because the ring's own generator stays open while other users
    /// share the lease.
    #[inline]
    fn at_hand(&self) -> Result<&CachedGenerator, Error> {
        let is_closed = || self.leased.is_closed() || self.is_closed();
        let ring = self.rings.newest().filter(|_| !is_closed());
        ring.ok_or_else(LeasedGenerator::ended)
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Handles an error that a ring returned. If the ring's generator has ended, repeats the call on the ring of a
    /// newer generator.
    #[cold]
    #[inline(never)]
    fn recover<T>(
        &self,
        error: Error,
        max_wait: Duration,
        retry: &mut dyn FnMut(&CachedGenerator, Duration) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.is_closed() {
            return Err(Self::closed());
        }
        let recovered = self.leased.recover(error, max_wait, &mut |generator, left| {
            let tried = self.over(generator).and_then(|ring| retry(ring, left));
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

    /// Returns the ring of `generator`. Creates the ring if it does not exist yet.
    fn over(&self, generator: &Arc<Generator>) -> Result<&CachedGenerator, Error> {
        let ring = self.rings.newest_or_push(
            |ring| Arc::ptr_eq(ring.generator(), generator),
            || CachedGenerator::with(Arc::clone(generator), self.options.clone()),
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

impl fmt::Debug for LeasedCachedGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeasedCachedGenerator")
            .field("generator", &self.leased)
            .field("options", &self.options)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
