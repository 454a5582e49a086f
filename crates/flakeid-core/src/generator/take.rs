//! The fast path: what stands between a call and an ID if nothing does.

#![expect(clippy::inline_always, reason = "a call more is a tenth of an ID's cost")]

use super::shape::Run;
use super::{Ahead, Generator};
#[cfg(feature = "std")]
use crate::clock::CoarseClock;
use crate::sync::back_off;

impl Generator {
    /// Takes up to `wanted` positions if nothing stands in the way: the tick of the clock or an
    /// earlier place in it, a sequence number left, below the limit; or a tick ahead of the clock that
    /// `attempt` has entered, where the policies have no more to say about the rest of it. Whatever is not so plain is
    /// left to [`attempt`](Self::attempt), which does the same with all the rules.
    #[inline(always)]
    pub(super) fn take(&self, wanted: u64) -> Option<Run> {
        if self.has_clock_sequences || wanted > 1 && self.others_wait() {
            return None;
        }
        #[cfg(feature = "std")]
        if CoarseClock::LAG_MS > 0
            && self.ahead == Ahead::Borrow
            && let Some(run) = self.take_borrowed(wanted)
        {
            return Some(run);
        }
        // The clock first: its code waits for earlier loads, so loading the word before it costs
        // a fifth more.
        let tick = self.tick_at(self.clock.unix_ms())?;
        let limit = self.limit.get();
        let word = self.cell.load();
        let end = limit.min(self.shape.position(tick + 1));
        match self.plan(word, tick, end, wanted) {
            Some(run) => self.swap(word, run, tick, end, wanted),
            None if self.ahead >= Ahead::Tick => self.take_ahead(word, tick, limit, wanted),
            None => None,
        }
    }

    #[inline(always)]
    fn tick_at(&self, unix_ms: i64) -> Option<u64> {
        let since = unix_ms.wrapping_sub(self.epoch).cast_unsigned();
        // One comparison for both ends: what is before the epoch wraps to more than any span.
        if since >= self.span {
            return None;
        }
        Some(if self.unit == 1 { since } else { since / self.unit })
    }

    /// What is left of a tick ahead of the clock that `attempt` has entered.
    #[inline(never)]
    fn take_ahead(&self, word: u64, tick: u64, limit: u64, wanted: u64) -> Option<Run> {
        // Further ahead than ever is for `attempt` to note.
        if self.shape.tick(word).wrapping_sub(tick) > self.cell.largest_ahead() {
            return None;
        }
        let end = limit.min(self.cell.ahead_until());
        let run = self.plan(word, tick, end, wanted)?;
        self.swap(word, run, tick, end, wanted)
    }

    #[inline(always)]
    fn swap(&self, word: u64, run: Run, tick: u64, end: u64, wanted: u64) -> Option<Run> {
        if self.cell.swap(word, run.end()) { Some(run) } else { self.take_again(tick, end, wanted) }
    }

    /// As `take`, while the word is so far ahead that the kernel's last tick is enough to know that the clock has not
    /// caught up.
    #[cfg(feature = "std")]
    #[inline(never)]
    fn take_borrowed(&self, wanted: u64) -> Option<Run> {
        if !self.clock.is_system() {
            return None;
        }
        // The clock is in this tick at the latest, a millisecond more for rounding; a word that is before it wraps to
        // more than was ever ahead.
        let tick = self.tick_at(CoarseClock::now().0 + CoarseClock::LAG_MS + 1)?;
        self.take_ahead(self.cell.load(), tick, self.limit.get(), wanted)
    }

    /// Whether calls wait for IDs, which one that wants several or that tries again and again must not overtake.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(super) fn others_wait(&self) -> bool {
        self.queue.get().is_some_and(super::queue::Queue::is_waiting)
    }

    #[cfg(not(feature = "std"))]
    #[expect(clippy::unused_self, reason = "there is no queue where nobody can sleep")]
    pub(super) fn others_wait(&self) -> bool {
        false
    }

    /// Another thread was faster. Out of the way of the first try, which usually succeeds.
    #[cold]
    #[inline(never)]
    fn take_again(&self, tick: u64, limit: u64, wanted: u64) -> Option<Run> {
        loop {
            back_off();
            // Anew: the word that was found is old after the pause, and a thread that tried with
            // it would lose again, and again.
            let word = self.cell.load();
            let run = self.plan(word, tick, limit, wanted)?;
            if self.cell.swap(word, run.end()) {
                return Some(run);
            }
        }
    }

    /// What to take when the word is this and the clock in that tick, if nothing stands in the way.
    #[inline(always)]
    fn plan(&self, word: u64, tick: u64, limit: u64, wanted: u64) -> Option<Run> {
        let first = if word <= self.shape.position(tick) { self.start_of(tick) } else { word };
        let sequence = self.shape.sequence(first);
        if first >= limit || sequence > self.sequence_mask {
            return None;
        }
        // Limits lie between ticks, so the end of the sequence is the nearer one.
        let count = wanted.min(self.sequence_mask - sequence + 1);
        Some(Run { first, count, clock_sequence: 0 })
    }

    /// The first position used in a tick of which nothing was used.
    #[inline]
    pub(super) fn start_of(&self, tick: u64) -> u64 {
        self.shape.position(tick) | self.start.of_tick(tick)
    }
}

#[cfg(all(test, not(loom), feature = "std"))]
#[path = "take_tests.rs"]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
