//! The state that takers and the refill thread share: a tenure and its IDs in the ring.

use alloc::sync::Arc;
use core::time::Duration;

use super::buffer::{Buffer, Producer};
use super::freshness::{Freshness, Reading, Verdict};
use crate::generator::{Tenure, fill_by};
use crate::sync::{AtomicU64, Ordering, back_off};
use crate::{Error, ErrorKind, Id};

pub(super) struct Stock {
    pub(super) tenure: Arc<Tenure>,
    pub(super) buffer: Buffer,
    freshness: Freshness,
    dropped_stale: AtomicU64,
    dropped_at_end: AtomicU64,
    /// The flag that stops refills: 1 as soon as a call begins to close the ring, otherwise 0.
    stopped: AtomicU64,
}

/// A taken ID, and the number of IDs that remain in the ring.
pub(super) struct Taken {
    pub(super) id: Id,
    pub(super) left: u64,
}

impl Stock {
    /// The largest number of IDs that are generated in one batch. Batches are small, so that takers get IDs before the
    /// ring is full.
    const PORTION: usize = 1024;

    pub(super) fn new(tenure: Arc<Tenure>, capacity: u64, max_age: Duration) -> (Self, Producer) {
        let (buffer, producer) = Buffer::new(capacity);
        let freshness = Freshness::new(&tenure, max_age);
        let zero = || AtomicU64::new(0);
        let (dropped_stale, dropped_at_end, stopped) = (zero(), zero(), zero());
        let stock = Self { tenure, buffer, freshness, dropped_stale, dropped_at_end, stopped };
        (stock, producer)
    }

    /// Drops stale IDs from the front of the ring, and takes the next ID.
    #[inline]
    pub(super) fn take(&self) -> Result<Taken, Error> {
        loop {
            // The tenure's limit is 0 in a forked child, and after the tenure has ended. The limit is
            // checked first, because no ID may be taken from the ring in either case.
            if self.tenure.limit.get() == 0 {
                return Err(self.ended());
            }
            let Some(front) = self.buffer.front() else {
                return Err(self.empty());
            };
            // The clock is read after the ID has been read from the ring. This reading is therefore not earlier than
            // the reading from which the ID was generated, unless the clock went backwards.
            let now = self.freshness.read(&self.tenure.clock);
            match self.freshness.judge(front.id, now, &self.tenure.clock) {
                Verdict::Fresh => {
                    if self.buffer.take(&front) {
                        return Ok(Taken { id: Id::from_u64(front.id), left: front.behind() });
                    }
                    back_off();
                }
                Verdict::Stale => self.drop_stale_at(now),
                Verdict::Early(by) => {
                    // Another thread may have taken this ID in the meantime, so the error is returned only if the ID is
                    // still at the front.
                    if self.buffer.front().is_some_and(|again| again.is_at(&front)) {
                        return Err(Error::clock_rollback(by, by));
                    }
                }
            }
        }
    }

    /// Takes an ID like `take`, but does not check the limit. The loom models use this method to show that the models
    /// detect a missing check.
    #[cfg(all(test, loom))]
    pub(super) fn take_unchecked(&self) -> Option<u64> {
        let front = self.buffer.front()?;
        self.buffer.take(&front).then_some(front.id)
    }

    #[cold]
    fn ended(&self) -> Error {
        if self.tenure.limit.is_ours() { Error::closed() } else { Error::forked() }
    }

    #[cold]
    fn empty(&self) -> Error {
        if self.is_stopped() {
            return Error::new(ErrorKind::Closed, "the ring was closed", None);
        }
        Error::ring_empty(Duration::from_millis(self.tenure.layout().unit_ms()))
    }

    #[cold]
    fn drop_stale_at(&self, now: Reading) {
        if let Some(front) = self.buffer.front() {
            let dropped = self.buffer.skip(&front, |id| self.freshness.is_stale(id, now));
            self.dropped_stale.fetch_add(dropped.unwrap_or(0), Ordering::Relaxed);
        }
    }

    /// Drops the IDs that have become too old, to make room for new IDs.
    pub(super) fn drop_stale(&self) {
        self.drop_stale_at(self.freshness.read(&self.tenure.clock));
    }

    /// Puts one batch of new IDs into the ring. Returns the number of IDs added, or 0 if the ring is full.
    pub(super) fn put(&self, producer: &mut Producer) -> Result<usize, Error> {
        self.put_by(producer, |ids| {
            fill_by(ids, |rest| self.tenure.fill_in_tick(rest, Duration::ZERO))
        })
    }

    /// Generates one ID and puts the ID into the ring. Waits for the ID for at most the tenure's `max_wait`.
    pub(super) fn put_one_waiting(&self, producer: &mut Producer) -> Result<usize, Error> {
        self.put_by(producer, |ids| self.tenure.fill_in_tick(&mut ids[..1], self.tenure.max_wait))
    }

    fn put_by(
        &self,
        producer: &mut Producer,
        fill: impl FnOnce(&mut [Id]) -> Result<usize, Error>,
    ) -> Result<usize, Error> {
        let mut ids = [Id::default(); Self::PORTION];
        let room = producer.room(&self.buffer).min(Self::PORTION as u64) as usize;
        if room == 0 {
            return Ok(0);
        }
        let count = fill(&mut ids[..room])?;
        producer.put(&self.buffer, ids[..count].iter().map(|id| id.to_u64()));
        Ok(count)
    }

    pub(super) fn dropped_stale(&self) -> u64 {
        self.dropped_stale.load(Ordering::Relaxed)
    }

    pub(super) fn stop(&self) {
        self.stopped.store(1, Ordering::Release);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire) == 1
    }

    /// Removes all IDs from a stopped ring, so that `take` has to check whether the ring is stopped only if the ring is
    /// empty.
    pub(super) fn drop_all(&self) {
        while let Some(front) = self.buffer.front() {
            let dropped = self.buffer.skip(&front, |_| true);
            self.dropped_at_end.fetch_add(dropped.unwrap_or(0), Ordering::Relaxed);
        }
    }

    pub(super) fn dropped_at_end(&self) -> u64 {
        self.dropped_at_end.load(Ordering::Relaxed)
    }
}
