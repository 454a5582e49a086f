//! Local handles, which are the fastest way to generate IDs in one thread.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use super::shape::Run;
use super::{Generator, Tenure};
use crate::{Error, Id};

/// A handle of a [`Generator`] for one thread. The handle reserves chunks of positions with one compare-and-swap each,
/// and then issues the IDs of a chunk without further synchronization. The disadvantage is that the IDs are not ordered
/// relative to the IDs of other threads.
///
/// The IDs of one handle strictly increase, and no two handles issue the same ID. A chunk is valid for one tick of the
/// kernel's coarse clock (a few milliseconds), and only while the generator may issue IDs: in its window, in the
/// process that reserved the chunk, and on the same leased node. The handle discards the rest of an invalid chunk. The
/// times in IDs are therefore never ahead of the clock, but they may lag by up to one tick of the coarse clock.
///
/// Reserved IDs count towards a tick's sequence, so ticks fill up sooner if there are many handles and only 12 sequence
/// bits. On a manual or custom clock, a chunk is valid until the clock's reading changes.
///
/// The handle keeps the generator alive.
///
/// ```
/// use flakeid_core::{Generator, Layout};
///
/// let generator = Generator::new(Layout::TWITTER, 7)?;
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| {
///             let mut local = generator.local();
///             let (first, second) = (local.next_id()?, local.next_id()?);
///             assert!(first < second);
///             Ok::<(), flakeid_core::Error>(())
///         });
///     }
/// });
/// # Ok::<(), flakeid_core::Error>(())
/// ```
pub struct LocalGenerator {
    generator: Generator,
    is_leased: bool,
    chunk: Chunk,
}

/// A chunk of positions that a local handle has reserved.
pub(super) struct Chunk {
    /// The tenure that reserved the chunk.
    tenure: Arc<Tenure>,
    /// The next position of the chunk. The field `end` contains the exclusive end of the chunk.
    next: u64,
    end: u64,
    clock_sequence: u64,
    /// The ID of the next position.
    id: u64,
    /// The difference between consecutive IDs of a chunk; 0 if the difference varies.
    step: u64,
    /// The clock's mark at the time when the chunk was reserved. The chunk becomes invalid when the clock's mark
    /// changes.
    mark: u64,
    /// The number of positions to reserve.
    size: u64,
}

impl Generator {
    /// Creates a handle of this generator for one thread. The handle is several times faster than the generator, but
    /// its IDs are not ordered relative to the IDs of other threads, and their times may lag behind the clock by a
    /// few milliseconds.
    #[must_use]
    pub fn local(&self) -> LocalGenerator {
        let chunk = Chunk::new(Arc::clone(self.latest()));
        LocalGenerator { generator: self.clone(), is_leased: self.is_leased(), chunk }
    }
}

impl LocalGenerator {
    /// Returns the next ID. Reserves a new chunk if the current chunk is used up or no longer valid.
    ///
    /// # Errors
    /// The errors of [`Generator::next_id`].
    #[inline(always)]
    pub fn next_id(&mut self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.begin_chunk(self.generator.max_wait()),
        }
    }

    /// Returns the next ID like [`next_id`](Self::next_id), but waits at most the given `max_wait` instead of the
    /// generator's `max_wait`.
    ///
    /// # Errors
    /// The errors of [`next_id`](Self::next_id).
    #[inline]
    pub fn next_id_within(&mut self, max_wait: Duration) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.begin_chunk(max_wait),
        }
    }

    /// Returns the next ID without waiting.
    ///
    /// # Errors
    /// The errors of [`Generator::try_next_id`].
    #[inline]
    pub fn try_next_id(&mut self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.begin_chunk(Duration::ZERO),
        }
    }

    /// Returns the next ID of the current chunk, or `None` if the chunk is used up or no longer valid. In that case,
    /// the other methods reserve a new chunk, or return the reason why they cannot reserve a chunk. This method is for
    /// callers that have other work to do before they wait.
    #[inline(always)]
    pub fn poll(&mut self) -> Option<Id> {
        // A leased generator may be closed although its tenure continues for other users of the lease.
        let is_open = !self.is_leased || self.generator.uses(&self.chunk.tenure);
        (is_open && self.chunk.holds()).then(|| self.chunk.hand_out())
    }

    /// Reserves a chunk, and returns the first ID of the chunk. Waits at most `max_wait`. This function is separate,
    /// because inlining it would slow down the fast path by a third.
    #[cold]
    #[inline(never)]
    fn begin_chunk(&mut self, max_wait: Duration) -> Result<Id, Error> {
        let chunk = &mut self.chunk;
        self.generator.run_on_newest(max_wait, &mut |tenure, left| chunk.begin(tenure, left))
    }

    /// The generator of this handle.
    #[must_use]
    pub const fn generator(&self) -> &Generator {
        &self.generator
    }
}

impl Chunk {
    /// The largest number of positions in a chunk: a sixteenth of the 4096 positions per tick in the default layout.
    /// Larger chunks are not faster.
    const LARGEST: u64 = 256;

    pub(super) fn new(tenure: Arc<Tenure>) -> Self {
        let size = ((tenure.sequence_mask + 1) / 16).clamp(1, Self::LARGEST);
        let step = tenure.shape.step().unwrap_or(0);
        Self { tenure, next: 0, end: 0, clock_sequence: 0, id: 0, step, mark: 0, size }
    }

    /// Whether the chunk contains an ID that is still valid.
    #[inline(always)]
    fn holds(&self) -> bool {
        let mark = self.tenure.clock.mark();
        // The check of the limit also covers forked children and ended tenures, because their limit is 0.
        mark == self.mark && self.next < self.end && self.next < self.tenure.limit.get()
    }

    #[inline(always)]
    fn hand_out(&mut self) -> Id {
        let position = self.next;
        self.next += 1;
        if self.step == 0 {
            return self.id_at(position);
        }
        let id = self.id;
        self.id = id.wrapping_add(self.step);
        Id::from_u64(id)
    }

    #[cold]
    #[inline(never)]
    fn id_at(&self, position: u64) -> Id {
        let clock_sequence = self.clock_sequence;
        self.tenure.shape.id(&Run { first: position, count: 1, clock_sequence })
    }

    fn begin(&mut self, tenure: &Arc<Tenure>, max_wait: Duration) -> Result<Id, Error> {
        if !Arc::ptr_eq(&self.tenure, tenure) {
            *self = Self::new(Arc::clone(tenure));
        }
        // The mark is read before the chunk is reserved, so that the mark is never newer than the chunk's tick.
        let mark = tenure.clock.mark();
        let run = match tenure.take(self.size) {
            Some(run) => run,
            // Only one position is taken, because the mark may be outdated after a wait. The remaining positions of a
            // larger chunk would then be lost.
            None => tenure.take_waiting(1, max_wait)?,
        };
        (self.next, self.end) = (run.first, run.end());
        self.clock_sequence = run.clock_sequence;
        self.id = tenure.shape.id(&run).to_u64();
        self.mark = mark;
        Ok(self.hand_out())
    }

    /// Returns the next ID, but checks the limit and the clock's mark only if `looks` is true. The loom models use this
    /// method to show that loom detects the missing checks.
    #[cfg(all(test, loom))]
    pub(super) fn next_id(&mut self, looks: bool) -> Result<Id, Error> {
        let is_usable = if looks { self.holds() } else { self.next < self.end };
        if is_usable {
            return Ok(self.hand_out());
        }
        let tenure = Arc::clone(&self.tenure);
        self.begin(&tenure, Duration::ZERO)
    }
}

impl fmt::Debug for LocalGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalGenerator")
            .field("generator", &self.generator)
            .field("left", &(self.chunk.end - self.chunk.next))
            .finish_non_exhaustive()
    }
}
