//! The fastest way to IDs, for one thread.

use core::fmt;
use core::ops::Deref;
use core::time::Duration;

use super::Generator;
use super::shape::Run;
use crate::{Error, Id};

/// One thread's share of a [`Generator`]: reserves blocks of positions by one compare-and-swap and
/// hands them out without another, for those who give up order across threads.
///
/// Its own IDs strictly increase, and no ID is issued twice, here or elsewhere. A block is good for
/// one tick of the kernel's coarse clock, a few milliseconds, for as long as the generator may
/// issue (its window, the process that made it); what is left of it then is not used. So times in
/// IDs are never ahead of the clock, but late by up to one tick of the coarse clock.
///
/// Reserved IDs count towards a tick's sequence: with many handles and 12 sequence bits, ticks fill
/// up sooner. On a clock other than the system's a block is good for one reading of it.
///
/// The generator may be borrowed, as by [`Generator::local`], or shared, as `Arc<Generator>`.
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
pub struct LocalGenerator<G> {
    generator: G,
    /// The next position of the block, and the one after its last.
    next: u64,
    end: u64,
    clock_sequence: u64,
    /// The ID of the next position.
    id: u64,
    /// How far apart the IDs of a block are; 0 if that differs.
    step: u64,
    /// The clock's mark when the block was reserved.
    mark: u64,
    block: u64,
}

impl Generator {
    /// This generator for one thread: several times faster, in exchange for order across threads
    /// and for times that may be a few milliseconds late.
    #[must_use]
    pub fn local(&self) -> LocalGenerator<&Self> {
        LocalGenerator::new(self)
    }
}

impl<G: Deref<Target = Generator>> LocalGenerator<G> {
    /// Of the usual 4096 positions of a tick, sixteen blocks; more makes nothing faster.
    const LARGEST_BLOCK: u64 = 256;

    /// A handle on `generator`.
    pub fn new(generator: G) -> Self {
        let block = ((generator.sequence_mask + 1) / 16).clamp(1, Self::LARGEST_BLOCK);
        let step = generator.shape.step().unwrap_or(0);
        Self { generator, next: 0, end: 0, clock_sequence: 0, id: 0, step, mark: 0, block }
    }

    /// The next ID; reserves a block when the last one is used up or has ended.
    ///
    /// # Errors
    /// As [`Generator::next_id`].
    #[inline(always)]
    pub fn next_id(&mut self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.begin_block(Some(self.generator.max_wait)),
        }
    }

    /// As [`next_id`](Self::next_id), waiting at most `max_wait` instead of the generator's own.
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id).
    #[inline]
    pub fn next_id_within(&mut self, max_wait: Duration) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.begin_block(Some(max_wait)),
        }
    }

    /// The next ID, without ever waiting.
    ///
    /// # Errors
    /// As [`Generator::try_next_id`].
    #[inline]
    pub fn try_next_id(&mut self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.begin_block(None),
        }
    }

    /// The next ID of the block that was reserved last. `None` if that is used up or has ended, and
    /// then it is for the other calls to reserve another or to say why not. For callers that have
    /// something to do before they wait.
    #[inline(always)]
    pub fn poll(&mut self) -> Option<Id> {
        self.holds().then(|| self.hand_out())
    }

    /// Whether the block has an ID that is still good.
    #[inline(always)]
    fn holds(&self) -> bool {
        let mark = self.generator.clock.mark();
        // The limit is 0 in a forked child and once the generator is retired.
        mark == self.mark && self.next < self.end && self.next < self.generator.limit.get()
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
        self.generator.shape.id(&Run { first: position, count: 1, clock_sequence })
    }

    /// A twin with a flaw, for the models: uses a block up without looking at the limit.
    #[cfg(all(test, loom))]
    pub(super) fn next_id_unchecked(&mut self) -> Result<Id, Error> {
        if self.next >= self.end {
            return self.begin_block(Some(self.generator.max_wait));
        }
        Ok(self.hand_out())
    }

    /// Reserves a block, waiting at most `max_wait`, if at all, and hands out its first ID. Apart
    /// from the short way, which costs a third more if this is compiled into it.
    #[cold]
    #[inline(never)]
    fn begin_block(&mut self, max_wait: Option<Duration>) -> Result<Id, Error> {
        // Before the block: what is read here is never newer than the block's tick allows.
        let mark = self.generator.clock.mark();
        let run = match self.generator.take(self.block) {
            Some(run) => run,
            // One only: after a wait the mark may be an old one.
            None => match max_wait {
                Some(max_wait) => self.generator.take_waiting(1, max_wait)?,
                None => self.generator.take_at_once(1)?,
            },
        };
        (self.next, self.end) = (run.first, run.end());
        self.clock_sequence = run.clock_sequence;
        self.id = self.generator.shape.id(&run).to_u64();
        self.mark = mark;
        Ok(self.hand_out())
    }

    /// The generator it shares in.
    #[must_use]
    pub const fn generator(&self) -> &G {
        &self.generator
    }
}

impl<G: Deref<Target = Generator>> fmt::Debug for LocalGenerator<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalGenerator")
            .field("generator", &*self.generator)
            .field("left", &(self.end - self.next))
            .finish_non_exhaustive()
    }
}
