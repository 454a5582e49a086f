//! Tenures, each of which issues IDs under one grant.

#![expect(clippy::inline_always, reason = "another call would add a tenth to the cost of an ID")]

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::time::Duration;

use super::cell::{CLOSED, Cell};
use super::shape::{Shape, limit_of};
use super::start::SequenceStart;
use super::{Policy, Stats};
use crate::clock::ClockSource;
use crate::fork::Limit;
#[cfg(feature = "std")]
use crate::sync::NativeOnly;
use crate::{Error, Id, Layout};

/// Determines how often the slow path (`attempt`) decides whether to issue IDs that are ahead of the clock.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Ahead {
    /// For each ID that is ahead of the clock, `attempt` decides whether the generator may issue the ID.
    Each,
    /// For each tick that is ahead of the clock, `attempt` decides once whether the generator may enter the tick. After
    /// the generator has entered a tick, the policies do not restrict the remaining IDs of the tick.
    Tick,
    /// For each tick that is ahead of the clock, `attempt` decides once whether the generator may enter the tick. When
    /// a tick is full, the generator continues with the next tick (`Overflow::Borrow`).
    Borrow,
}

/// The part of a generator that issues IDs under one grant, or of one or several fixed nodes: an atomic word below a
/// limit. A generator on a fixed node has only one tenure. A leased generator gets another one with each grant.
pub struct Tenure {
    pub(super) cell: Arc<Cell>,
    pub(crate) limit: Limit,
    pub(crate) clock: ClockSource,
    pub(super) shape: Shape,
    pub(super) epoch: i64,
    pub(super) unit: u64,
    /// The number of milliseconds from the epoch to the horizon.
    pub(super) span: u64,
    pub(super) sequence_mask: u64,
    pub(super) start: SequenceStart,
    pub(super) has_clock_sequences: bool,
    pub(super) shared: bool,
    pub(super) ahead: Ahead,
    pub(crate) policy: Policy,
    pub(super) max_ahead: u64,
    pub(crate) max_wait: Duration,
    pub(super) layout: Layout,
    pub(super) nodes: Box<[u64]>,
    /// The queue of waiting calls. Only generators that use the system clock have a queue, because any other clock may
    /// stand still until a thread advances the clock.
    #[cfg(feature = "std")]
    pub(super) queue: NativeOnly<super::queue::Queue>,
}

impl Tenure {
    /// Returns the next ID if the fast path can issue the ID.
    #[inline(always)]
    pub(super) fn at_hand(&self) -> Option<Id> {
        self.take(1).map(|run| self.shape.id(&run))
    }

    /// Returns the next ID with all rules. Waits at most `max_wait`.
    pub(super) fn next_id_slowly(&self, max_wait: Duration) -> Result<Id, Error> {
        self.take_waiting(1, max_wait).map(|run| self.shape.id(&run))
    }

    /// Writes the next IDs to the beginning of `ids`, which is not empty, and returns the number of IDs written. All
    /// IDs are of one tick. Waits at most `max_wait`.
    #[inline]
    pub(crate) fn fill_in_tick(&self, ids: &mut [Id], max_wait: Duration) -> Result<usize, Error> {
        let wanted = ids.len() as u64;
        let run = match self.take(wanted) {
            Some(run) => run,
            None => self.take_waiting(wanted, max_wait)?,
        };
        let count = run.count as usize;
        self.shape.write(&run, &mut ids[..count]);
        Ok(count)
    }

    /// Raises the exclusive end of the window to the tick `fence`; a fence below the current fence has no effect.
    /// Call this method only after the store has confirmed the fence.
    ///
    /// # Errors
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if the generator has no window;
    /// [`Closed`](crate::ErrorKind::Closed) if the generator has been retired; [`Forked`](crate::ErrorKind::Forked) in
    /// a forked child.
    pub fn extend(&self, fence: u64) -> Result<(), Error> {
        if !self.cell.is_windowed() {
            return Err(Error::invalid_option(
                "extend",
                "this generator has no window that could \
                 be extended; only leased generators and those built with a window have one",
            ));
        }
        if !self.limit.is_ours() {
            return Err(Error::forked());
        }
        if self.limit.raise(limit_of(&self.layout, &self.shape, fence)) {
            Ok(())
        } else {
            Err(Error::closed())
        }
    }

    /// Retires this generator: no later call issues an ID. Returns the last tick in which the generator issued an ID,
    /// or `None` if it issued no ID. Every ID that the generator returned is in that tick or an earlier tick.
    ///
    /// If the generator has a window, the returned tick also covers the IDs of pending calls in other threads. On a
    /// fixed node, a pending call may still succeed after the generator has been retired. The next generator of the
    /// node continues at the same position.
    ///
    /// # Errors
    /// [`Closed`](crate::ErrorKind::Closed) if the generator has already been retired;
    /// [`Forked`](crate::ErrorKind::Forked).
    pub fn retire(&self) -> Result<Option<u64>, Error> {
        if !self.limit.is_ours() {
            return Err(Error::forked());
        }
        if !self.limit.close() {
            return Err(Error::closed());
        }
        let word = if self.shared { self.cell.load() } else { self.cell.close() };
        let (_, next) = self.cell.split(word);
        Ok((next > self.cell.start()).then(|| self.shape.tick(next - 1)))
    }

    /// The tick of the next free position: no ID of a later tick has been issued yet, and no ID of an earlier tick will
    /// be issued. The tick is `None` after a generator with a window has been retired. In a forked child, the method
    /// returns the parent's tick at the time of the fork. If the layout has a clock sequence, the result applies only
    /// to the current clock-sequence value.
    #[must_use]
    pub fn next_tick(&self) -> Option<u64> {
        let word = self.cell.load();
        (word != CLOSED).then(|| self.shape.tick(self.cell.split(word).1))
    }

    /// Returns the counts of the generator's waits, rollbacks and similar events.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.cell.stats()
    }

    /// The largest number of ticks by which IDs may be ahead of the clock; 0 without a window.
    #[cfg(feature = "std")]
    pub(crate) fn most_ticks_ahead(&self) -> u64 {
        if self.cell.is_windowed() { self.max_ahead } else { 0 }
    }

    /// The layout of the IDs.
    #[cfg(feature = "std")]
    pub(crate) const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The nodes of the IDs, in increasing order.
    pub(super) const fn nodes(&self) -> &[u64] {
        &self.nodes
    }
}
