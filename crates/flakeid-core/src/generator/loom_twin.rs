//! Copies of the generator's algorithm, each with one deliberate bug that the loom models must find.

use alloc::vec::Vec;

use loom::sync::atomic::{AtomicU64, Ordering};

use super::cell::CLOSED;

/// The generator methods that the models call. Each ID is represented by its position.
pub(super) trait Subject: Send + Sync + 'static {
    fn issue(&self, wanted: usize) -> Vec<u64>;
    fn extend(&self, fence: u64);
    /// Retires the generator and returns the exclusive upper bound of the issued positions.
    fn retire(&self) -> u64;
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Flaw {
    /// Takes a position with a separate load and store instead of a compare-and-swap.
    PlainStore,
    /// Adds the size of a range to the word, but computes the range from a value of the word that was loaded earlier.
    StaleRun,
    /// Sets the limit to the given value, even if that value is lower than the current limit.
    LoweredLimit,
    /// Checks the limit only once, and not again after a failed compare-and-swap.
    LimitCheckedOnce,
    /// Reads the word and then closes the cell in a separate step.
    LateClose,
}

/// A copy of the generator's algorithm with one deliberate bug. The copy assumes that the clock always reads tick 11.
pub(super) struct Twin {
    word: AtomicU64,
    limit: AtomicU64,
    flaw: Flaw,
}

impl Twin {
    pub(super) fn new(flaw: Flaw) -> Self {
        Self { word: AtomicU64::new(22), limit: AtomicU64::new(24), flaw }
    }
}

impl Subject for Twin {
    fn issue(&self, wanted: usize) -> Vec<u64> {
        let limit = self.limit.load(Ordering::Acquire);
        let mut word = self.word.load(Ordering::Acquire);
        let checked_once = word < limit;
        loop {
            let passes = match self.flaw {
                Flaw::LimitCheckedOnce => checked_once,
                _ => word < limit,
            };
            if !passes || word == CLOSED {
                return Vec::new();
            }
            let count = (wanted as u64).min(limit.saturating_sub(word).max(1));
            match self.flaw {
                Flaw::PlainStore => {
                    self.word.store(word + count, Ordering::Release);
                    return (word..word + count).collect();
                }
                Flaw::StaleRun => {
                    self.word.fetch_add(count, Ordering::AcqRel);
                    return (word..word + count).collect();
                }
                _ => {}
            }
            match self.word.compare_exchange(
                word,
                word + count,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return (word..word + count).collect(),
                Err(found) => word = found,
            }
        }
    }

    fn extend(&self, fence: u64) {
        if self.flaw == Flaw::LoweredLimit {
            self.limit.store(fence << 1, Ordering::Release);
        } else {
            self.limit.fetch_max(fence << 1, Ordering::AcqRel);
        }
    }

    fn retire(&self) -> u64 {
        if self.flaw == Flaw::LateClose {
            let word = self.word.load(Ordering::Acquire);
            self.word.store(CLOSED, Ordering::Release);
            word
        } else {
            self.word.swap(CLOSED, Ordering::AcqRel)
        }
    }
}
