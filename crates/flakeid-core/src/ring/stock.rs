//! A generator and the IDs made of it beforehand: what takers and the refilling thread share.

use alloc::sync::Arc;
use core::time::Duration;

use super::buffer::{Buffer, Producer};
use super::freshness::{Freshness, Reading, Verdict};
use crate::sync::{AtomicU64, Ordering, back_off};
use crate::{Error, ErrorKind, Generator, Id};

pub(super) struct Stock {
    pub(super) generator: Arc<Generator>,
    pub(super) buffer: Buffer,
    freshness: Freshness,
    dropped_stale: AtomicU64,
    dropped_at_end: AtomicU64,
    /// 1 once nothing is put any more, because the ring is being closed.
    stopped: AtomicU64,
}

/// An ID, and how many are left.
pub(super) struct Taken {
    pub(super) id: Id,
    pub(super) left: u64,
}

impl Stock {
    /// IDs are made in portions of this many, so that takers get some before all are made.
    const PORTION: usize = 1024;

    pub(super) fn new(
        generator: Arc<Generator>,
        capacity: u64,
        max_age: Duration,
    ) -> (Self, Producer) {
        let (buffer, producer) = Buffer::new(capacity);
        let freshness = Freshness::new(&generator, max_age);
        let zero = || AtomicU64::new(0);
        let (dropped_stale, dropped_at_end, stopped) = (zero(), zero(), zero());
        let stock = Self { generator, buffer, freshness, dropped_stale, dropped_at_end, stopped };
        (stock, producer)
    }

    /// The next ID. Stale ones before it are dropped.
    #[inline]
    pub(super) fn take(&self) -> Result<Taken, Error> {
        loop {
            // The limit is 0 in a forked child and once the generator is retired. Before the clock
            // and the ring: nothing of theirs matters any more.
            if self.generator.limit.get() == 0 {
                return Err(self.ended());
            }
            let Some(front) = self.buffer.front() else {
                return Err(self.empty());
            };
            // After the front: a clock that has not gone back reads at least what led to it.
            let now = self.freshness.read(&self.generator.clock);
            match self.freshness.judge(front.id, now, &self.generator.clock) {
                Verdict::Fresh => {
                    if self.buffer.take(&front) {
                        return Ok(Taken { id: Id::from_u64(front.id), left: front.behind() });
                    }
                    back_off();
                }
                Verdict::Stale => self.drop_stale_at(now),
                Verdict::Early(by) => {
                    // What was read may have been overwritten since; if so, it is no evidence.
                    if self.buffer.front().is_some_and(|again| again.is_at(&front)) {
                        return Err(Error::clock_rollback(by, by));
                    }
                }
            }
        }
    }

    /// A twin with a flaw, for the models: does not look at the limit.
    #[cfg(all(test, loom))]
    pub(super) fn take_unchecked(&self) -> Option<u64> {
        let front = self.buffer.front()?;
        self.buffer.take(&front).then_some(front.id)
    }

    #[cold]
    fn ended(&self) -> Error {
        if self.generator.limit.is_ours() { Error::closed() } else { Error::forked() }
    }

    #[cold]
    fn empty(&self) -> Error {
        if self.is_stopped() {
            return Error::new(ErrorKind::Closed, "the ring was closed", None);
        }
        Error::ring_empty(Duration::from_millis(self.generator.layout().unit_ms()))
    }

    #[cold]
    fn drop_stale_at(&self, now: Reading) {
        if let Some(front) = self.buffer.front() {
            let dropped = self.buffer.skip(&front, |id| self.freshness.is_stale(id, now));
            self.dropped_stale.fetch_add(dropped.unwrap_or(0), Ordering::Relaxed);
        }
    }

    /// Drops what has become too old to be taken, to make room.
    pub(super) fn drop_stale(&self) {
        self.drop_stale_at(self.freshness.read(&self.generator.clock));
    }

    /// Puts one portion of new IDs into the ring and returns how many; 0 if it is full.
    pub(super) fn put(&self, producer: &mut Producer) -> Result<usize, Error> {
        self.put_by(producer, |ids| self.generator.try_fill(ids))
    }

    /// Puts one ID, and waits for it as the generator does.
    pub(super) fn put_one_waiting(&self, producer: &mut Producer) -> Result<usize, Error> {
        self.put_by(producer, |ids| self.generator.fill(&mut ids[..1]))
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

    /// Empties a ring into which nothing is put any more. So takers need not look whether it was
    /// stopped as long as there is something to take.
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
