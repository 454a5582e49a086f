//! The cell: the state of the ID space of a single node, or of all nodes of a generator with several nodes. A cell
//! consists of one atomic word, and of notes that only the slow path changes. Programs can read some of the notes as
//! [`Stats`].

use alloc::boxed::Box;

use crate::Layout;
use crate::sync::{AtomicU64, Ordering};

/// The word of a closed cell. Positions have at most 63 bits, so this value is not a position.
pub(super) const CLOSED: u64 = u64::MAX;

/// The atomic word of a cell. The word has its own cache line. Threads on other cores request this line for every ID,
/// which would slow down accesses to other data in the line.
#[repr(align(128))]
struct Word(AtomicU64);

pub(crate) struct Cell {
    word: Word,
    /// The first position of the cell. On a fixed node, the first position may be in a future tick, because an earlier
    /// process may have used the current tick. The first tick of a window may also be ahead of the clock.
    start: u64,
    windowed: bool,
    clock_sequences: Option<ClockSequences>,
    /// The highest tick that the clock has read at a moment when the next position was ahead of the clock.
    seen: AtomicU64,
    /// The exclusive end of the positions that are allowed to be ahead of the clock.
    ahead_until: AtomicU64,
    /// The tick that the clock had to reach again after the last counted rollback, plus one; 0 before the first
    /// rollback.
    fallen_short_of: AtomicU64,
    waits: AtomicU64,
    rollbacks: AtomicU64,
    largest_ahead: AtomicU64,
}

/// The clock-sequence values of a layout with a clock-sequence field. The word contains the current value in the bits
/// above the position. This struct contains the next free position of each value that has been used.
struct ClockSequences {
    shift: u8,
    marks: Box<[AtomicU64]>,
}

impl ClockSequences {
    /// The largest number of clock-sequence bits that a cell uses. The number is limited, because each clock-sequence
    /// value takes eight bytes of memory. The rollback behaviour `clock-sequence` rejects layouts with more
    /// clock-sequence bits.
    const MOST_BITS: u8 = 8;
}

impl Cell {
    /// Creates the cell of a fixed node. The cell issues no position before `start`.
    pub(super) fn fixed(layout: &Layout, start: u64) -> Self {
        let (_, _, clock_sequence, _) = layout.spans();
        let bits = clock_sequence.width.min(ClockSequences::MOST_BITS);
        let clock_sequences = (bits > 0).then(|| ClockSequences {
            // The clock sequence occupies the top bits of the word, so that layouts with different widths of the time
            // field can share the cell. The fields of an ID fit into 64 bits, so the position fits below the clock
            // sequence.
            shift: 64 - bits,
            marks: (0..1u64 << bits).map(|_| AtomicU64::new(0)).collect(),
        });
        Self::new(start, false, clock_sequences)
    }

    /// Creates the cell of a generator with a window that begins at the position `start`.
    pub(super) fn windowed(start: u64) -> Self {
        Self::new(start, true, None)
    }

    fn new(start: u64, windowed: bool, clock_sequences: Option<ClockSequences>) -> Self {
        Self {
            word: Word(AtomicU64::new(start)),
            start,
            windowed,
            clock_sequences,
            seen: AtomicU64::new(0),
            ahead_until: AtomicU64::new(if windowed { start } else { 0 }),
            fallen_short_of: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            rollbacks: AtomicU64::new(0),
            largest_ahead: AtomicU64::new(0),
        }
    }

    #[inline]
    pub(super) fn load(&self) -> u64 {
        // The acquire ordering makes visible all notes that were written before the word: the next free positions of
        // the clock-sequence values, and the end of the positions that may be ahead of the clock.
        self.word.0.load(Ordering::Acquire)
    }

    /// The address of the word.
    #[cfg(feature = "std")]
    pub(super) fn word(&self) -> *const AtomicU64 {
        &raw const self.word.0
    }

    /// Issues positions by changing the word from `from` to `to`. Returns `false` if another thread has changed the
    /// word first.
    #[inline]
    pub(super) fn swap(&self, from: u64, to: u64) -> bool {
        self.word.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Closes the cell, and returns the previous word. No position is issued afterwards, and all issued positions are
    /// below the returned word.
    pub(super) fn close(&self) -> u64 {
        self.word.0.swap(CLOSED, Ordering::AcqRel)
    }

    pub(super) fn start(&self) -> u64 {
        self.start
    }

    pub(super) fn is_windowed(&self) -> bool {
        self.windowed
    }

    /// Whether the word contains a clock sequence above the bits of the position.
    pub(super) fn has_clock_sequences(&self) -> bool {
        self.clock_sequences.is_some()
    }

    /// The last position that fits into the word.
    pub(super) fn last_position(&self) -> u64 {
        self.clock_sequences.as_ref().map_or(CLOSED - 1, |values| (1 << values.shift) - 1)
    }

    /// Splits a word into the clock sequence and the next free position.
    pub(super) fn split(&self, word: u64) -> (u64, u64) {
        match &self.clock_sequences {
            None => (0, word),
            Some(values) => (word >> values.shift, word & ((1 << values.shift) - 1)),
        }
    }

    pub(super) fn join(&self, clock_sequence: u64, position: u64) -> u64 {
        match &self.clock_sequences {
            None => position,
            Some(values) => clock_sequence << values.shift | position,
        }
    }

    /// Returns a clock-sequence value whose positions at or above `floor` are all unused, or `None` if there is no such
    /// value. First raises the mark of the current value, which is the value's next free position, to `next`. A thread
    /// that loads the new value from the word therefore also loads the raised mark.
    pub(super) fn other_clock_sequence(&self, current: u64, next: u64, floor: u64) -> Option<u64> {
        let marks = &self.clock_sequences.as_ref()?.marks;
        marks[current as usize].fetch_max(next, Ordering::AcqRel);
        let count = marks.len();
        (1..count)
            .map(|step| (current as usize + step) % count)
            .find(|value| marks[*value].load(Ordering::Acquire) <= floor)
            .map(|value| value as u64)
    }

    /// Records a clock reading and returns the highest earlier reading. The caller must load the word before it reads
    /// the clock. Otherwise, a slow thread would mistake the progress of a fast thread for a rollback.
    pub(super) fn note_reading(&self, tick: u64) -> u64 {
        self.seen.fetch_max(tick, Ordering::AcqRel)
    }

    pub(super) fn ahead_until(&self) -> u64 {
        self.ahead_until.load(Ordering::Acquire)
    }

    /// Records that positions below `until` are deliberately issued ahead of the clock.
    pub(super) fn sanction(&self, until: u64) {
        self.ahead_until.fetch_max(until, Ordering::AcqRel);
    }

    pub(super) fn largest_ahead(&self) -> u64 {
        self.largest_ahead.load(Ordering::Relaxed)
    }

    pub(super) fn count_ahead(&self, ticks: u64) {
        self.largest_ahead.fetch_max(ticks, Ordering::Relaxed);
    }

    pub(super) fn count_wait(&self) {
        self.waits.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a rollback after which the clock has to reach the tick `short_of` again. Every attempt during the
    /// rollback detects the rollback, but the rollback is counted only once.
    pub(super) fn count_rollback(&self, short_of: u64) {
        let mark = short_of + 1;
        if self.fallen_short_of.swap(mark, Ordering::Relaxed) != mark {
            self.rollbacks.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn stats(&self) -> Stats {
        Stats {
            waits: self.waits.load(Ordering::Relaxed),
            rollbacks: self.rollbacks.load(Ordering::Relaxed),
            largest_ahead: self.largest_ahead.load(Ordering::Relaxed),
        }
    }
}

/// Counts of a generator's waits, rollbacks and similar events. IDs that are issued without such an event are not
/// counted.
///
/// Generators that share a node in one process also share these counts.
///
/// ```
/// use flakeid_core::{Generator, Layout};
///
/// let generator = Generator::new(Layout::TWITTER, 7)?;
/// generator.next_id()?; // may wait for the first tick
/// assert_eq!(generator.stats().rollbacks, 0);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The number of waits. Each wait during a `fill` call is counted separately.
    pub waits: u64,
    /// The number of detected clock rollbacks. A generator with a window and the rollback behaviour `continue` may run
    /// ahead of the clock. In that case, the generator checks for a rollback only once per tick, and may miss a short
    /// rollback.
    pub rollbacks: u64,
    /// The largest number of ticks by which an ID was ahead of the clock.
    pub largest_ahead: u64,
}
