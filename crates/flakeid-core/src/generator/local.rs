use core::fmt;

use super::{Generator, Run};
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
pub struct LocalGenerator<'a> {
    generator: &'a Generator,
    /// The next position of the block, and the one after its last.
    next: u64,
    end: u64,
    clock_sequence: u64,
    /// The clock's mark when the block was reserved.
    mark: u64,
    block: u64,
}

impl<'a> LocalGenerator<'a> {
    /// Of the usual 4096 positions of a tick, sixteen blocks; more makes nothing faster.
    const LARGEST_BLOCK: u64 = 256;

    pub(super) fn of(generator: &'a Generator) -> Self {
        let block = ((generator.sequence_mask + 1) / 16).clamp(1, Self::LARGEST_BLOCK);
        Self { generator, next: 0, end: 0, clock_sequence: 0, mark: 0, block }
    }

    /// The next ID; reserves a block when the last one is used up or has ended.
    ///
    /// # Errors
    /// As [`Generator::next_id`].
    #[inline]
    pub fn next_id(&mut self) -> Result<Id, Error> {
        let mark = self.generator.clock.mark();
        // The limit is 0 in a forked child and once the generator is retired.
        let holds =
            mark == self.mark && self.next < self.end && self.next < self.generator.limit.get();
        if !holds {
            self.reserve()?;
        }
        let run = Run { first: self.next, count: 1, clock_sequence: self.clock_sequence };
        self.next += 1;
        Ok(self.generator.shape.id(&run))
    }

    /// A twin with a flaw, for the models: uses a block up without looking at the limit.
    #[cfg(all(test, loom))]
    pub(super) fn next_id_unchecked(&mut self) -> Result<Id, Error> {
        if self.next >= self.end {
            self.reserve()?;
        }
        let run = Run { first: self.next, count: 1, clock_sequence: self.clock_sequence };
        self.next += 1;
        Ok(self.generator.shape.id(&run))
    }

    #[cold]
    #[inline(never)]
    fn reserve(&mut self) -> Result<(), Error> {
        // Before the block: what is read here is never newer than the block's tick allows.
        let mark = self.generator.clock.mark();
        let run = match self.generator.take(self.block) {
            Some(run) => run,
            // One only: after a wait the mark may be an old one.
            None => self.generator.take_waiting(1, self.generator.max_wait)?,
        };
        (self.next, self.end) = (run.first, run.end());
        self.clock_sequence = run.clock_sequence;
        self.mark = mark;
        Ok(())
    }

    /// The generator it shares in.
    #[must_use]
    pub const fn generator(&self) -> &'a Generator {
        self.generator
    }
}

impl fmt::Debug for LocalGenerator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalGenerator")
            .field("generator", self.generator)
            .field("left", &(self.end - self.next))
            .finish_non_exhaustive()
    }
}
