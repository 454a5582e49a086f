//! Making IDs.

#![expect(clippy::inline_always, reason = "a call more is a tenth of an ID's cost")]

mod attempt;
#[cfg(all(test, loom))]
mod borrow_models;
mod builder;
mod cell;
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

/// What `attempt` decides about, of IDs ahead of the clock.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Ahead {
    /// Each.
    Each,
    /// Each tick: once one is entered, the policies have no more to say about the rest of it.
    Tick,
    /// The same, and full ticks lead there.
    Borrow,
}

/// Makes the IDs of one node: unique, strictly increasing, from any number of threads.
///
/// The whole state is one atomic word, the next free position (tick and sequence). Positions are
/// only ever taken by one compare-and-swap that moves the word forward, so no two calls return the
/// same ID and a later call returns a larger one, across threads too.
///
/// # Waiting
/// What a call does when the clock has gone back (rollback), or when the tick is full (overflow):
///
/// | method | waits? | on rollback | on overflow |
/// |---|---|---|---|
/// | `next_id` | asleep, at most `max_wait` | as [`Rollback`] says; [`ClockRollback`] if it may not wait, or not for long enough | as [`Overflow`] says; [`SequenceExhausted`] if it may not wait, or not for long enough |
/// | `next_id_within` | asleep, at most the time given | as `next_id` | as `next_id` |
/// | `try_next_id` | never | [`ClockRollback`] where `next_id` would wait | [`SequenceExhausted`] where `next_id` would wait |
/// | `fill`, `next_ids` | asleep, at most `max_wait` each time without a new ID | as `next_id`, but if there are IDs already they are returned instead of the error | the same |
/// | `fill_within`, `next_ids_within` | asleep, at most the time given each time without a new ID | as `fill` | as `fill` |
/// | `try_fill` | never | as `try_next_id`, but if there are IDs already they are returned instead of the error | the same |
///
/// The first generator of a node in a process, on the system clock and without a window, begins in
/// the tick after its creation, because an earlier process may have used the current one. Until
/// then calls that wait do so under every policy, and the others fail with [`SequenceExhausted`].
///
/// # Within a process
/// Generators on the system clock that are given the same layout and node share that word within a
/// process, and a new one goes on where the last one stopped. In a forked child every call is
/// [`Forked`](crate::ErrorKind::Forked), and so is building a generator on a node that the parent
/// used.
///
/// Two copies of this library in one process do not share anything: give them different nodes.
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
    /// Milliseconds from the epoch to the horizon.
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
    /// On the system's clock alone: others may need another thread to go on.
    #[cfg(feature = "std")]
    queue: NativeOnly<queue::Queue>,
}

impl Generator {
    /// The next ID. Waits, asleep, at most `max_wait`: for the next tick when this one is full, for
    /// the clock when it went back, as the policies say.
    ///
    /// # Errors
    /// [`SequenceExhausted`](crate::ErrorKind::SequenceExhausted) and
    /// [`ClockRollback`](crate::ErrorKind::ClockRollback) when waiting was not allowed or not
    /// enough; [`HorizonReached`](crate::ErrorKind::HorizonReached);
    /// [`BeforeEpoch`](crate::ErrorKind::BeforeEpoch);
    /// [`LeaseExpired`](crate::ErrorKind::LeaseExpired) at the end of a window;
    /// [`Closed`](crate::ErrorKind::Closed); [`Forked`](crate::ErrorKind::Forked).
    #[inline(always)]
    pub fn next_id(&self) -> Result<Id, Error> {
        self.next_id_within(self.max_wait)
    }

    /// How long a call waits without issuing an ID.
    #[must_use]
    pub const fn max_wait(&self) -> Duration {
        self.max_wait
    }

    /// The next ID, waiting at most `max_wait` instead of the generator's own: for callers that
    /// must be back soon, such as an event loop.
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id).
    #[inline(always)]
    pub fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        match self.take(1) {
            Some(run) => Ok(self.shape.id(&run)),
            None => self.take_waiting(1, max_wait).map(|run| self.shape.id(&run)),
        }
    }

    /// The next ID, without ever waiting. If others wait, they are served first.
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id), at once; [`Error::retry_after`] says when to try again.
    #[inline]
    pub fn try_next_id(&self) -> Result<Id, Error> {
        let run = if self.others_wait() { None } else { self.take(1) };
        match run {
            Some(run) => Ok(self.shape.id(&run)),
            None => self.take_at_once(1).map(|run| self.shape.id(&run)),
        }
    }

    /// Fills `ids` from its beginning with the next IDs, in order, and returns how many. A run of
    /// IDs of one tick costs one compare-and-swap. Waits as [`next_id`](Self::next_id) does, each
    /// time at most `max_wait` without progress.
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id), but only if there was no ID at all; otherwise the count is
    /// smaller than `ids.len()` and the next call reports the obstacle.
    #[inline]
    pub fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.fill_within(ids, self.max_wait)
    }

    /// As [`fill`](Self::fill), each time waiting at most `max_wait` instead of the generator's
    /// own.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    #[inline]
    pub fn fill_within(&self, ids: &mut [Id], max_wait: Duration) -> Result<usize, Error> {
        self.fill_by(ids, |wanted| self.take_waiting(wanted, max_wait))
    }

    /// As [`fill`](Self::fill), without ever waiting.
    ///
    /// # Errors
    /// As [`try_next_id`](Self::try_next_id), but only if there was no ID at all.
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
                    // Not lost: these IDs are issued, and the next call meets the obstacle again.
                    Err(_) => break,
                },
            };
            let count = run.count as usize;
            self.shape.write(&run, &mut ids[filled..filled + count]);
            filled += count;
        }
        Ok(filled)
    }

    /// The next `n` IDs, in order; fewer, but at least one, if an obstacle outlasted `max_wait`.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub fn next_ids(&self, n: usize) -> Result<Vec<Id>, Error> {
        self.next_ids_within(n, self.max_wait)
    }

    /// As [`next_ids`](Self::next_ids), each time waiting at most `max_wait` instead of the
    /// generator's own.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub fn next_ids_within(&self, n: usize, max_wait: Duration) -> Result<Vec<Id>, Error> {
        // Memory is asked for as it is filled, not all at once for a wild `n`.
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

    /// Raises the end of the window to the tick `fence`, exclusive; a lower fence than the present
    /// one changes nothing. Call it only after the store has confirmed the fence.
    ///
    /// # Errors
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) without a window;
    /// [`Closed`](crate::ErrorKind::Closed); [`Forked`](crate::ErrorKind::Forked).
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

    /// Ends this generator: no ID is issued by any later call. Returns the last tick in which it
    /// issued an ID, if it issued any; every ID ever returned is in that tick or an earlier one.
    ///
    /// With a window, calls that are under way in other threads either count in that tick or fail.
    /// On a fixed node the position is kept for the next generator of the node, and a call that is
    /// under way may still succeed.
    ///
    /// # Errors
    /// [`Closed`](crate::ErrorKind::Closed) the second time; [`Forked`](crate::ErrorKind::Forked).
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

    /// The tick of the next free position: no ID of a later tick was issued yet, and none of an
    /// earlier one will be. `None` once a window was retired; in a forked child, where the parent
    /// was then. Layouts with clock sequences count the current one.
    #[must_use]
    pub fn next_tick(&self) -> Option<u64> {
        let word = self.cell.load();
        (word != CLOSED).then(|| self.shape.tick(self.cell.split(word).1))
    }

    /// What happened besides issuing IDs.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.cell.stats()
    }

    /// How far ahead of the clock IDs may be, in ticks: only a window allows any.
    #[cfg(feature = "std")]
    pub(crate) fn most_ticks_ahead(&self) -> u64 {
        if self.cell.is_windowed() { self.max_ahead } else { 0 }
    }

    /// The layout of the IDs.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The node in the IDs; the smallest of several.
    #[must_use]
    pub fn node(&self) -> u64 {
        self.nodes.first().copied().unwrap_or_default()
    }

    /// All nodes in the IDs, in rising order: one unless
    /// [`GeneratorBuilder::nodes`] gave more.
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
