//! Generators of unique IDs, with their options and policies.

#![expect(clippy::inline_always, reason = "another call would add a tenth to the cost of an ID")]

mod attempt;
#[cfg(all(test, loom))]
mod borrow_models;
mod builder;
mod cell;
#[cfg(feature = "std")]
mod exposed;
mod local;
#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, loom))]
mod loom_twin;
mod node_choice;
mod obstacle;
mod policy;
#[cfg(feature = "std")]
mod queue;
#[cfg(all(test, loom))]
mod queue_models;
#[cfg(any(not(loom), test))]
mod registry;
mod several;
mod shape;
mod start;
mod steps;
mod take;
mod window;

pub use builder::GeneratorBuilder;
pub use cell::Stats;
#[cfg(feature = "std")]
#[doc(hidden)]
pub use exposed::Exposed;
pub use local::LocalGenerator;
pub use policy::{Overflow, Policy, Rollback};
pub use window::Window;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::clock::ClockSource;
use crate::fork::Limit;
#[cfg(feature = "std")]
use crate::sync::NativeOnly;
use crate::{Error, Id, Layout};
use cell::{CLOSED, Cell};
use shape::{Run, Shape, limit_of};
use start::SequenceStart;

/// Determines how often the slow path (`attempt`) decides whether to issue IDs that are ahead of the clock.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Ahead {
    /// For each ID that is ahead of the clock, `attempt` decides whether the generator may issue the ID.
    Each,
    /// For each tick that is ahead of the clock, `attempt` decides once whether the generator may enter the tick. After
    /// the generator has entered a tick, the policies do not restrict the remaining IDs of the tick.
    Tick,
    /// For each tick that is ahead of the clock, `attempt` decides once whether the generator may enter the tick. When
    /// a tick is full, the generator continues with the next tick (`Overflow::Borrow`).
    Borrow,
}

/// A generator of unique, strictly increasing IDs for one node or for several nodes. Any number of threads may use
/// the generator.
///
/// The state is one atomic word that contains the next free position (tick and sequence number). Every call takes
/// positions with one compare-and-swap that moves the word forward. Therefore, no two calls return the same ID, and a
/// later call returns a larger ID, even in another thread.
///
/// # Waiting
/// The table shows the behaviour of calls when the clock went backwards (rollback) and when the tick is full (overflow):
///
/// | method | waits? | on rollback | on overflow |
/// |---|---|---|---|
/// | `next_id` | sleeps at most `max_wait` | follows [`Rollback`]; fails with [`ClockRollback`] if it may not wait, or not for long enough | follows [`Overflow`]; fails with [`SequenceExhausted`] if it may not wait, or not for long enough |
/// | `next_id_within` | sleeps at most the given time | like `next_id` | like `next_id` |
/// | `try_next_id` | never | fails with [`ClockRollback`] if `next_id` would wait | fails with [`SequenceExhausted`] if `next_id` would wait |
/// | `fill`, `next_ids` | sleeps at most `max_wait` each time without a new ID | like `next_id`, but returns the IDs it has instead of the error | the same |
/// | `fill_within`, `next_ids_within` | sleeps at most the given time each time without a new ID | like `fill` | like `fill` |
/// | `try_fill` | never | like `try_next_id`, but returns the IDs it has instead of the error | the same |
///
/// The first generator of a node in a process, on the system clock and without a window, begins in the tick after its
/// creation, because an earlier process may have used the current tick. Before that tick, waiting calls wait under
/// every policy, and the other calls fail with [`SequenceExhausted`].
///
/// # Within a process
/// Within a process, generators on the system clock with the same layout and node share the word, and a new generator
/// continues at the position of the previous generator. In a forked child every call fails with
/// [`Forked`](crate::ErrorKind::Forked), and so does building a generator on a node that the parent used.
///
/// Two copies of this library in one process share nothing: give them different nodes.
///
/// [`ClockRollback`]: crate::ErrorKind::ClockRollback
/// [`SequenceExhausted`]: crate::ErrorKind::SequenceExhausted
///
/// ```
/// use flakeid_core::{Generator, Layout};
///
/// let generator = Generator::new(Layout::TWITTER, 7)?;
/// let first = generator.next_id()?;
/// let batch = generator.next_ids(1000)?;
/// assert!(first < batch[0] && batch.is_sorted());
/// # Ok::<(), flakeid_core::Error>(())
/// ```
pub struct Generator {
    cell: Arc<Cell>,
    pub(crate) limit: Limit,
    pub(crate) clock: ClockSource,
    shape: Shape,
    epoch: i64,
    unit: u64,
    /// The number of milliseconds from the epoch to the horizon.
    span: u64,
    sequence_mask: u64,
    start: SequenceStart,
    has_clock_sequences: bool,
    shared: bool,
    ahead: Ahead,
    pub(crate) policy: Policy,
    max_ahead: u64,
    pub(crate) max_wait: Duration,
    layout: Layout,
    nodes: Box<[u64]>,
    /// The queue of waiting calls. Only generators that use the system clock have a queue, because any other clock may
    /// stand still until a thread advances the clock.
    #[cfg(feature = "std")]
    queue: NativeOnly<queue::Queue>,
}

impl Generator {
    /// Returns the next ID. Depending on the policies, sleeps for at most `max_wait`: until the next tick if the
    /// current tick is full, or until the clock has caught up if the clock went backwards.
    ///
    /// # Errors
    /// [`SequenceExhausted`](crate::ErrorKind::SequenceExhausted) and
    /// [`ClockRollback`](crate::ErrorKind::ClockRollback) if waiting was not allowed or not
    /// sufficient; [`HorizonReached`](crate::ErrorKind::HorizonReached);
    /// [`BeforeEpoch`](crate::ErrorKind::BeforeEpoch);
    /// [`LeaseExpired`](crate::ErrorKind::LeaseExpired) at the end of a window;
    /// [`Closed`](crate::ErrorKind::Closed); [`Forked`](crate::ErrorKind::Forked).
    #[inline(always)]
    pub fn next_id(&self) -> Result<Id, Error> {
        self.next_id_within(self.max_wait)
    }

    /// The longest time that a call waits for its next ID.
    #[must_use]
    pub const fn max_wait(&self) -> Duration {
        self.max_wait
    }

    /// Returns the next ID. Waits at most the given `max_wait`, which overrides the generator's own `max_wait`. Use
    /// this method where a call must not block for long, such as in an event loop.
    ///
    /// # Errors
    /// The errors of [`next_id`](Self::next_id).
    #[inline(always)]
    pub fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        match self.take(1) {
            Some(run) => Ok(self.shape.id(&run)),
            None => self.take_waiting(1, max_wait).map(|run| self.shape.id(&run)),
        }
    }

    /// Returns the next ID without waiting. Calls that are already waiting are served first.
    ///
    /// # Errors
    /// The errors of [`next_id`](Self::next_id), returned without waiting. [`Error::retry_after`] returns the time to
    /// wait before a retry.
    #[inline]
    pub fn try_next_id(&self) -> Result<Id, Error> {
        let run = if self.others_wait() { None } else { self.take(1) };
        match run {
            Some(run) => Ok(self.shape.id(&run)),
            None => self.take_at_once(1).map(|run| self.shape.id(&run)),
        }
    }

    /// Fills `ids` from the beginning with the next IDs, in order, and returns the number of IDs written. A range of
    /// IDs from one tick costs one compare-and-swap. Waits like [`next_id`](Self::next_id); each wait for further IDs
    /// lasts at most `max_wait`.
    ///
    /// # Errors
    /// The errors of [`next_id`](Self::next_id), but only if the call generated no ID. If an obstacle occurs after the
    /// first ID, the returned number is smaller than `ids.len()`, and the next call reports the obstacle.
    #[inline]
    pub fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.fill_within(ids, self.max_wait)
    }

    /// Fills `ids` like [`fill`](Self::fill), but each wait lasts at most the given `max_wait`, which overrides the
    /// generator's own `max_wait`.
    ///
    /// # Errors
    /// The errors of [`fill`](Self::fill).
    #[inline]
    pub fn fill_within(&self, ids: &mut [Id], max_wait: Duration) -> Result<usize, Error> {
        self.fill_by(ids, |wanted| self.take_waiting(wanted, max_wait))
    }

    /// Fills `ids` like [`fill`](Self::fill), but never waits.
    ///
    /// # Errors
    /// The errors of [`try_next_id`](Self::try_next_id), but only if the call generated no ID.
    #[inline]
    pub fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.fill_by(ids, |wanted| self.take_at_once(wanted))
    }

    #[inline]
    fn fill_by(
        &self,
        ids: &mut [Id],
        take_slowly: impl Fn(u64) -> Result<Run, Error>,
    ) -> Result<usize, Error> {
        let mut filled = 0;
        while filled < ids.len() {
            let wanted = (ids.len() - filled) as u64;
            let run = match self.take(wanted) {
                Some(run) => run,
                None => match take_slowly(wanted) {
                    Ok(run) => run,
                    Err(error) if filled == 0 => return Err(error),
                    // The call returns the IDs that it has generated so far. The error can be dropped, because the next
                    // call encounters the same obstacle.
                    Err(_) => break,
                },
            };
            let count = run.count as usize;
            self.shape.write(&run, &mut ids[filled..filled + count]);
            filled += count;
        }
        Ok(filled)
    }

    /// Returns the next `n` IDs, in order. Returns fewer IDs, but at least one, if an obstacle lasts longer than
    /// `max_wait`.
    ///
    /// # Errors
    /// The errors of [`fill`](Self::fill).
    pub fn next_ids(&self, n: usize) -> Result<Vec<Id>, Error> {
        self.next_ids_within(n, self.max_wait)
    }

    /// Returns the next `n` IDs like [`next_ids`](Self::next_ids), but each wait lasts at most the given `max_wait`,
    /// which overrides the generator's own `max_wait`.
    ///
    /// # Errors
    /// The errors of [`fill`](Self::fill).
    pub fn next_ids_within(&self, n: usize, max_wait: Duration) -> Result<Vec<Id>, Error> {
        // The function allocates memory in batches, so that a call with a huge `n` does not begin with one huge
        // allocation.
        const CHUNK: usize = 1 << 16;
        let mut ids = Vec::new();
        while ids.len() < n {
            let have = ids.len();
            ids.resize(have + (n - have).min(CHUNK), Id::default());
            match self.fill_within(&mut ids[have..], max_wait) {
                Ok(count) if have + count == ids.len() => {}
                Ok(count) => {
                    ids.truncate(have + count);
                    break;
                }
                Err(error) if have == 0 => return Err(error),
                Err(_) => {
                    ids.truncate(have);
                    break;
                }
            }
        }
        Ok(ids)
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

    /// The layout with which the IDs are encoded.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The node in the generator's IDs, or the smallest node if the generator has several nodes.
    #[must_use]
    pub fn node(&self) -> u64 {
        self.nodes.first().copied().unwrap_or_default()
    }

    /// Returns all nodes that the generator's IDs can contain, in increasing order: a single node, unless
    /// [`GeneratorBuilder::nodes`] set several nodes.
    #[must_use]
    pub const fn nodes(&self) -> &[u64] {
        &self.nodes
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator")
            .field("layout", &self.layout)
            .field("nodes", &self.nodes)
            .field("policy", &self.policy)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
