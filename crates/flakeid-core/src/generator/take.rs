//! The fast path of a generator: takes positions in the common cases, in which not every rule has to be checked.

#![expect(clippy::inline_always, reason = "another call would add a tenth to the cost of an ID")]

use super::shape::Run;
use super::tenure::{Ahead, Tenure};
#[cfg(feature = "std")]
use crate::clock::CoarseClock;
use crate::sync::back_off;

impl Tenure {
    /// Takes up to `wanted` positions in two common cases:
    /// - The next position is in the clock's tick, has a usable sequence number, and is below the limit.
    /// - The next position is in a tick ahead of the clock, `attempt` has already entered this tick, and the policies
    ///   do not restrict the position further.
    ///
    /// In all other cases, returns `None`, and the caller uses [`attempt`](Self::attempt), which applies all rules.
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
        // The clock is read before the word is loaded, because reading the clock waits for earlier loads to complete.
        // The opposite order takes a fifth more time.
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

    /// Returns the next ID if the fast path can issue the ID at the given time of [`SystemClock`](crate::SystemClock),
    /// in Unix milliseconds. Otherwise returns `None`, and the caller sets the time and calls
    /// [`next_id`](Self::next_id) or [`try_next_id`](Self::try_next_id), which apply all rules. This method exists only
    /// on `wasm32-unknown-unknown`, where it costs less than storing the time and calling `next_id`.
    #[cfg(all(target_family = "wasm", target_os = "unknown", not(loom)))]
    #[inline(always)]
    #[must_use]
    pub fn next_id_at(&self, unix_ms: i64) -> Option<crate::Id> {
        if self.has_clock_sequences || !self.clock.is_system() || self.others_wait() {
            return None;
        }
        let tick = self.tick_at(unix_ms)?;
        let word = self.cell.load();
        let end = self.limit.get().min(self.shape.position(tick + 1));
        let run = self.plan(word, tick, end, 1)?;
        self.cell.swap(word, run.end()).then(|| self.shape.id(&run))
    }

    #[inline(always)]
    fn tick_at(&self, unix_ms: i64) -> Option<u64> {
        let since = unix_ms.wrapping_sub(self.epoch).cast_unsigned();
        // One comparison checks both ends of the layout's time range. For a time before the epoch, the subtraction
        // wraps around to a number that is larger than every possible span.
        if since >= self.span {
            return None;
        }
        Some(if self.unit == 1 { since } else { since / self.unit })
    }

    /// Takes up to `wanted` of the remaining positions in a tick that is ahead of the clock and that `attempt` has
    /// already entered.
    #[inline(never)]
    fn take_ahead(&self, word: u64, tick: u64, limit: u64, wanted: u64) -> Option<Run> {
        // `attempt` handles a position that is further ahead than any earlier position, because the new largest
        // distance has to be recorded.
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

    /// Takes positions like `take`, but reads only the coarse clock. The coarse clock suffices while the word is so far
    /// ahead that the exact clock cannot have caught up with the word.
    #[cfg(feature = "std")]
    #[inline(never)]
    fn take_borrowed(&self, wanted: u64) -> Option<Run> {
        if !self.clock.is_system() {
            return None;
        }
        // The exact clock has not passed this tick; the additional millisecond allows for rounding. If the word is
        // before this tick, the subtraction in `take_ahead` wraps around to a number above the largest distance so far,
        // and no position is taken.
        let tick = self.tick_at(CoarseClock::now().0 + CoarseClock::LAG_MS + 1)?;
        self.take_ahead(self.cell.load(), tick, self.limit.get(), wanted)
    }

    /// Whether other calls are waiting for IDs. A call that wants several IDs, or that is repeated in a loop, must not
    /// overtake the waiting calls.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(super) fn others_wait(&self) -> bool {
        self.queue.get().is_some_and(super::queue::Queue::is_waiting)
    }

    #[cfg(not(feature = "std"))]
    #[expect(clippy::unused_self, reason = "there is no queue on targets that cannot sleep")]
    pub(super) fn others_wait(&self) -> bool {
        false
    }

    /// Tries again after an attempt that failed because another thread advanced the word. The retry is a separate
    /// function, because the first attempt usually succeeds.
    #[cold]
    #[inline(never)]
    fn take_again(&self, tick: u64, limit: u64, wanted: u64) -> Option<Run> {
        loop {
            back_off();
            // The word is loaded again, because the earlier value is outdated after the pause, and a swap with that
            // value would fail repeatedly.
            let word = self.cell.load();
            let run = self.plan(word, tick, limit, wanted)?;
            if self.cell.swap(word, run.end()) {
                return Some(run);
            }
        }
    }

    /// Returns the range of positions to take, given the word and the clock's tick, or `None` if the fast path cannot
    /// take a position.
    #[inline(always)]
    fn plan(&self, word: u64, tick: u64, limit: u64, wanted: u64) -> Option<Run> {
        let first = if word <= self.shape.position(tick) { self.start_of(tick) } else { word };
        let sequence = self.shape.sequence(first);
        if first >= limit || sequence > self.sequence_mask {
            return None;
        }
        // Every limit is at the end of a tick, so all remaining sequence numbers of this tick are below the limit.
        let count = wanted.min(self.sequence_mask - sequence + 1);
        Some(Run { first, count, clock_sequence: 0 })
    }

    /// Returns the position at which a generator begins an unused tick.
    #[inline]
    pub(super) fn start_of(&self, tick: u64) -> u64 {
        self.shape.position(tick) | self.start.of_tick(tick)
    }
}

#[cfg(all(test, not(loom), feature = "std"))]
#[path = "take_tests.rs"]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
