//! The state of the ID space of one node, or of several that count as one: one atomic word, and
//! notes that only the slow path reads, some of which users see as [`Stats`].

use alloc::boxed::Box;

use crate::Layout;
use crate::sync::{AtomicU64, Ordering};

/// The word after the last ID was issued. Positions have at most 63 bits, so it is none.
pub(super) const CLOSED: u64 = u64::MAX;

/// Apart from anything else that is written: threads on other cores fetch this line for every ID.
#[repr(align(128))]
struct Word(AtomicU64);

pub(crate) struct Cell {
    word: Word,
    /// Where the cell began. A fixed node's first tick may not have begun yet (an earlier run may
    /// have used the one before), a window's may lie ahead of the clock.
    start: u64,
    windowed: bool,
    clock_sequences: Option<ClockSequences>,
    /// The highest tick read from the clock by an attempt whose candidate was ahead of it.
    seen: AtomicU64,
    /// The position up to which running ahead of the clock was sanctioned, exclusive.
    ahead_until: AtomicU64,
    /// The tick that the clock fell short of at the last counted rollback, plus one.
    fallen_short_of: AtomicU64,
    waits: AtomicU64,
    rollbacks: AtomicU64,
    largest_ahead: AtomicU64,
}

/// The clock-sequence values of a layout that has them: which one is current stands above the
/// position in the word, and each one's next free position, as far as it was used, here.
struct ClockSequences {
    shift: u8,
    marks: Box<[AtomicU64]>,
}

impl ClockSequences {
    /// More values than this are never needed, and each costs eight bytes.
    const MOST_BITS: u8 = 8;
}

impl Cell {
    /// A fixed node's cell, which issues nothing before the position `start`.
    pub(super) fn fixed(layout: &Layout, start: u64) -> Self {
        let (_, _, clock_sequence, _) = layout.spans();
        let bits = clock_sequence.width.min(ClockSequences::MOST_BITS);
        let clock_sequences = (bits > 0).then(|| ClockSequences {
            // At the top of the word, wherever the time of a layout ends that shares this cell. The fields
            // of an ID have room in 64 bits, so the position has room below.
            shift: 64 - bits,
            marks: (0..1u64 << bits).map(|_| AtomicU64::new(0)).collect(),
        });
        Self::new(start, false, clock_sequences)
    }

    /// The cell of a window.
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
        // Acquire: the notes made before the word was written (marks, what was sanctioned) are
        // read after it.
        self.word.0.load(Ordering::Acquire)
    }

    /// The one step that issues. False if another was faster.
    #[inline]
    pub(super) fn swap(&self, from: u64, to: u64) -> bool {
        self.word.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Nothing is issued after this; everything issued before is below the word returned.
    pub(super) fn close(&self) -> u64 {
        self.word.0.swap(CLOSED, Ordering::AcqRel)
    }

    pub(super) fn start(&self) -> u64 {
        self.start
    }

    pub(super) fn is_windowed(&self) -> bool {
        self.windowed
    }

    /// Whether the word holds a clock sequence above the position.
    pub(super) fn has_clock_sequences(&self) -> bool {
        self.clock_sequences.is_some()
    }

    /// The last position for which the word has room.
    pub(super) fn last_position(&self) -> u64 {
        self.clock_sequences.as_ref().map_or(CLOSED - 1, |values| (1 << values.shift) - 1)
    }

    /// (clock sequence, next free position).
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

    /// Leaves the current clock sequence: a value none of whose positions at or above `floor` was
    /// used. The mark of the current one is raised before the switch can be published, so whoever
    /// sees the switch also sees the mark.
    pub(super) fn other_clock_sequence(&self, current: u64, next: u64, floor: u64) -> Option<u64> {
        let marks = &self.clock_sequences.as_ref()?.marks;
        marks[current as usize].fetch_max(next, Ordering::AcqRel);
        let count = marks.len();
        (1..count)
            .map(|step| (current as usize + step) % count)
            .find(|value| marks[*value].load(Ordering::Acquire) <= floor)
            .map(|value| value as u64)
    }

    /// Notes a clock reading and returns the highest one noted before. Must be called with a tick
    /// that was read after the word was, or a slow thread would take a fast one for a rollback.
    pub(super) fn note_reading(&self, tick: u64) -> u64 {
        self.seen.fetch_max(tick, Ordering::AcqRel)
    }

    pub(super) fn ahead_until(&self) -> u64 {
        self.ahead_until.load(Ordering::Acquire)
    }

    /// Notes that positions up to `until` are issued ahead of the clock on purpose.
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

    /// Every attempt during a rollback sees it; it is one event as long as the clock falls short
    /// of the same tick.
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

/// What happened to a generator besides issuing IDs. Events only: nothing is counted for an ID
/// that meets no obstacle.
///
/// Generators that share a node in one process share these counts too.
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
    /// Calls, or stalls within a `fill`, that had to wait.
    pub waits: u64,
    /// Times the clock was seen to go back. A generator that may issue ahead of the clock (a window, and
    /// the policy `continue`) looks for it once in a tick then.
    pub rollbacks: u64,
    /// The furthest that an ID's tick was ahead of the clock, in ticks.
    pub largest_ahead: u64,
}
