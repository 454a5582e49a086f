use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::Duration;

use flakeid_core::{CachedGenerator, Error, ErrorKind, Generator, Id, RingOptions, RingStats};

use super::LeasedGenerator;
use crate::keeper::Chain;

/// A ring of IDs on a leased node, like [`CachedGenerator`]. Every tenure begins a new ring, and so does a forked
/// child; IDs of an older ring are not returned afterwards.
pub(crate) struct LeasedCachedGenerator {
    leased: Arc<LeasedGenerator>,
    options: RingOptions,
    /// The rings, that of the current tenure first. Older rings remain in memory without their threads, because other
    /// threads can still read them. Tenures are few.
    rings: Chain<CachedGenerator>,
    closed: AtomicBool,
}

impl LeasedCachedGenerator {
    /// Builds a filled ring over `leased`.
    ///
    /// # Errors
    /// Those of [`CachedGenerator::with`] and [`LeasedGenerator::next_id`].
    pub(crate) fn with(leased: Arc<LeasedGenerator>, options: RingOptions) -> Result<Self, Error> {
        let (rings, closed) = (Chain::new(), AtomicBool::new(false));
        let cached = Self { leased, options, rings, closed };
        cached.recover(LeasedGenerator::ended(), cached.leased.max_wait(), &mut |_, _| Ok(()))?;
        Ok(cached)
    }

    /// Returns the next ID of the ring, like [`CachedGenerator::take`]. Never waits, except to begin a new ring when
    /// the node has changed.
    ///
    /// # Errors
    /// Those of [`CachedGenerator::take`] and [`LeasedGenerator::try_next_id`].
    #[inline]
    pub(crate) fn take(&self) -> Result<Id, Error> {
        match self.at_hand().and_then(CachedGenerator::take) {
            Ok(id) => Ok(id),
            Err(error) => self.recover(error, Duration::ZERO, &mut |ring, _| ring.take()),
        }
    }

    /// Returns the next ID of the ring if it has a usable one, like [`CachedGenerator::poll`].
    #[inline]
    #[must_use]
    pub(crate) fn poll(&self) -> Option<Id> {
        self.at_hand().ok().and_then(CachedGenerator::poll)
    }

    /// Returns the next ID of the ring, and waits for a refill for at most the lease's `max_wait`.
    ///
    /// # Errors
    /// Those of [`CachedGenerator::next_id`] and [`LeasedGenerator::next_id`].
    #[inline]
    pub(crate) fn next_id(&self) -> Result<Id, Error> {
        self.next_id_within(self.leased.max_wait())
    }

    /// Does the same as [`next_id`](Self::next_id) and waits at most `max_wait`.
    ///
    /// # Errors
    /// Those of [`next_id`](Self::next_id).
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

    /// The counters of all rings since the first.
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

    /// Ends the ring, like [`CachedGenerator::close`]; the generator remains open. In a forked child it ends the
    /// child's ring.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // Either this thread sees a ring that begins meanwhile, or the thread that begins it sees the flag.
        fence(Ordering::SeqCst);
        self.rings.iter().for_each(CachedGenerator::close);
    }

    /// Returns the current ring. It can outlive this handle's user, because others share the lease.
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

    /// Handles a failure of a ring. Only the end of its generator stops a ring permanently, and a newer generator may
    /// exist.
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
            // An error kind that no other node fixes, so that callers do not wait.
            let ended = |_| Error::new(ErrorKind::RingEmpty, "the ring was closed", None);
            if self.is_closed() { tried.map_err(ended) } else { tried }
        });
        if self.is_closed() { recovered.map_err(|_| Self::closed()) } else { recovered }
    }

    fn closed() -> Error {
        Error::new(ErrorKind::Closed, "the ring was closed", None)
    }

    /// Returns the ring over the tenure's generator, which begins now if it does not exist.
    fn over(&self, generator: &Arc<Generator>) -> Result<&CachedGenerator, Error> {
        let ring = self.rings.newest_or_push(
            |ring| Arc::ptr_eq(ring.generator(), generator),
            || CachedGenerator::with(Arc::clone(generator), self.options.clone()),
        )?;
        fence(Ordering::SeqCst);
        if self.is_closed() {
            // The closing thread may have checked before this ring existed.
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
