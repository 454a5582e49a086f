//! Generators of unique IDs, with their options and policies.

#![expect(clippy::inline_always, reason = "another call would add a tenth to the cost of an ID")]

mod attempt;
#[cfg(all(test, loom))]
mod borrow_models;
mod builder;
mod cell;
#[cfg(feature = "std")]
mod exposed;
mod home;
mod local;
#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, loom))]
mod loom_tenures;
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
mod tenure;
mod window;

pub use builder::GeneratorBuilder;
pub use cell::Stats;
#[cfg(feature = "std")]
#[doc(hidden)]
pub use exposed::Exposed;
pub use local::LocalGenerator;
pub use policy::{Overflow, Policy, Rollback};
#[cfg(not(feature = "std"))]
use tenure::Tenure;
pub use window::Window;
#[cfg(feature = "std")]
#[doc(hidden)]
pub use {home::TenureSource, tenure::Tenure};

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::{Error, ErrorKind, Id, Layout};
use home::Home;

/// A generator of unique, strictly increasing IDs for one node or for several nodes. Any number of threads may use
/// the generator. Clones share one generator.
///
/// The node is either fixed or leased. The program must ensure that no other process uses a fixed node at the same
/// time. For a leased node, the store ensures this for all processes that lease from that store.
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
/// [`Forked`](crate::ErrorKind::Forked), and so does building a generator on a node that the parent used. A leased
/// generator leases another node in the child instead.
///
/// Two copies of this library in one process share nothing: give them different nodes.
///
/// # Leased nodes
/// The crate `flakeid` leases nodes. No two processes that lease from a namespace generate the same ID, regardless of
/// clock errors, forks, pauses and kills. A thread renews the lease. While the store is unavailable, the generator
/// issues IDs up to the end of the window. After that, calls wait at most `max_wait` and fail with
/// [`LeaseExpired`](crate::ErrorKind::LeaseExpired). Once renewals have failed for longer than `max_wait`, calls fail
/// without waiting. If another process takes the node over, this process leases another node and continues. A forked
/// child leases its own node at its first ID. Dropping the last generator of a lease releases the node.
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
#[derive(Clone)]
pub struct Generator(Arc<Home>);

impl Generator {
    /// Returns the next ID. Depending on the policies, sleeps for at most `max_wait`: until the next tick if the
    /// current tick is full, or until the clock has caught up if the clock went backwards. A leased generator also
    /// waits for a renewal at the end of its window, and for a node.
    ///
    /// # Errors
    /// [`SequenceExhausted`](crate::ErrorKind::SequenceExhausted) and
    /// [`ClockRollback`](crate::ErrorKind::ClockRollback) if waiting was not allowed or not
    /// sufficient; [`HorizonReached`](crate::ErrorKind::HorizonReached);
    /// [`BeforeEpoch`](crate::ErrorKind::BeforeEpoch);
    /// [`LeaseExpired`](crate::ErrorKind::LeaseExpired) at the end of a window;
    /// [`Closed`](crate::ErrorKind::Closed); [`Forked`](crate::ErrorKind::Forked). A leased generator does not fail
    /// with `Forked`, but in a forked child with the errors of opening a lease.
    #[inline(always)]
    pub fn next_id(&self) -> Result<Id, Error> {
        match self.at_hand() {
            Some(id) => Ok(id),
            None => self.next_id_slowly(self.max_wait()),
        }
    }

    /// Returns the next ID. Waits at most the given `max_wait`, which overrides the generator's own `max_wait`. Use
    /// this method where a call must not block for long, such as in an event loop.
    ///
    /// # Errors
    /// The errors of [`next_id`](Self::next_id).
    #[inline(always)]
    pub fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        match self.at_hand() {
            Some(id) => Ok(id),
            None => self.next_id_slowly(max_wait),
        }
    }

    /// Returns the next ID without waiting. Calls that are already waiting are served first.
    ///
    /// # Errors
    /// The errors of [`next_id`](Self::next_id), returned without waiting. [`Error::retry_after`] returns the time to
    /// wait before a retry.
    #[inline(always)]
    pub fn try_next_id(&self) -> Result<Id, Error> {
        let tenure = self.current().filter(|tenure| !tenure.others_wait());
        match tenure.and_then(Tenure::at_hand) {
            Some(id) => Ok(id),
            None => self.next_id_slowly(Duration::ZERO),
        }
    }

    #[inline(always)]
    fn at_hand(&self) -> Option<Id> {
        self.current()?.at_hand()
    }

    #[cold]
    #[inline(never)]
    fn next_id_slowly(&self, max_wait: Duration) -> Result<Id, Error> {
        self.run(max_wait, Tenure::next_id_slowly)
    }

    /// Returns the next ID if the fast path can issue the ID at the given time of [`SystemClock`](crate::SystemClock),
    /// in Unix milliseconds. Otherwise returns `None`, and the caller sets the time and calls
    /// [`next_id`](Self::next_id) or [`try_next_id`](Self::try_next_id), which apply all rules. This method exists only
    /// on `wasm32-unknown-unknown`, where it costs less than storing the time and calling `next_id`.
    #[cfg(all(target_family = "wasm", target_os = "unknown", not(loom)))]
    #[inline(always)]
    #[must_use]
    pub fn next_id_at(&self, unix_ms: i64) -> Option<Id> {
        self.current()?.next_id_at(unix_ms)
    }

    /// The longest time that a call waits for its next ID.
    #[must_use]
    pub fn max_wait(&self) -> Duration {
        self.0.first().max_wait
    }

    /// Fills `ids` from the beginning with the next IDs, in order, and returns the number of IDs written. A range of
    /// IDs from one tick costs one compare-and-swap. Waits like [`next_id`](Self::next_id); each wait for further IDs
    /// lasts at most `max_wait`.
    ///
    /// # Errors
    /// The errors of [`next_id`](Self::next_id), but only if the call generated no ID. If an obstacle occurs after the
    /// first ID, the returned number is smaller than `ids.len()`, and the next call reports the obstacle.
    pub fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.fill_within(ids, self.max_wait())
    }

    /// Fills `ids` like [`fill`](Self::fill), but each wait lasts at most the given `max_wait`, which overrides the
    /// generator's own `max_wait`.
    ///
    /// # Errors
    /// The errors of [`fill`](Self::fill).
    pub fn fill_within(&self, ids: &mut [Id], max_wait: Duration) -> Result<usize, Error> {
        fill_by(ids, |rest| self.fill_in_tick(rest, max_wait))
    }

    /// Fills `ids` like [`fill`](Self::fill), but never waits.
    ///
    /// # Errors
    /// The errors of [`try_next_id`](Self::try_next_id), but only if the call generated no ID.
    pub fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.fill_within(ids, Duration::ZERO)
    }

    /// Writes the next IDs of one tick to the beginning of `ids`, which is not empty.
    fn fill_in_tick(&self, ids: &mut [Id], max_wait: Duration) -> Result<usize, Error> {
        self.run(max_wait, |tenure, left| tenure.fill_in_tick(ids, left))
    }

    /// Returns the next `n` IDs, in order. Returns fewer IDs, but at least one, if an obstacle lasts longer than
    /// `max_wait`.
    ///
    /// # Errors
    /// The errors of [`fill`](Self::fill).
    pub fn next_ids(&self, n: usize) -> Result<Vec<Id>, Error> {
        self.next_ids_within(n, self.max_wait())
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
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if the generator has no window or is leased;
    /// [`Closed`](crate::ErrorKind::Closed) if the generator has been retired; [`Forked`](crate::ErrorKind::Forked) in
    /// a forked child.
    pub fn extend(&self, fence: u64) -> Result<(), Error> {
        if self.is_leased() {
            return Err(Error::invalid_option(
                "extend",
                "a leased generator renews its window automatically; to issue IDs for longer while the \
                 store is unavailable, open it with a longer window",
            ));
        }
        self.0.first().extend(fence)
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
    /// [`Forked`](crate::ErrorKind::Forked); [`InvalidOption`](crate::ErrorKind::InvalidOption) if the node is leased.
    /// To end a leased generator, use [`close`](Self::close), which also releases the node.
    pub fn retire(&self) -> Result<Option<u64>, Error> {
        if self.is_leased() {
            return Err(Error::invalid_option(
                "retire",
                "a leased generator cannot be retired; close it instead (in C, free it), which \
                 also releases its node",
            ));
        }
        self.0.first().retire()
    }

    /// Ends this generator and its clones: later calls fail with [`Closed`](crate::ErrorKind::Closed). A second call
    /// has no effect.
    ///
    /// On a fixed node, the generator is retired, except in a forked child, where the generator issues no IDs anyway. A
    /// leased node is released unless another generator in the process shares the lease. This method waits at most one
    /// second for the release.
    pub fn close(&self) {
        if self.is_leased() {
            self.0.close();
        } else {
            // Retiring fails only if an earlier close or a fork has already ended the generator.
            drop(self.0.first().retire());
        }
    }

    /// The tick of the next free position: no ID of a later tick has been issued yet, and no ID of an earlier tick will
    /// be issued. The tick is `None` after a generator with a window has been retired. In a forked child, the method
    /// returns the parent's tick at the time of the fork. If the layout has a clock sequence, the result applies only
    /// to the current clock-sequence value.
    #[must_use]
    pub fn next_tick(&self) -> Option<u64> {
        self.latest().next_tick()
    }

    /// Returns the counts of the generator's waits, rollbacks and similar events. On a leased node, counting starts
    /// when the node is acquired.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.latest().stats()
    }

    /// The layout with which the IDs are encoded.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.0.first().layout
    }

    /// The node in the generator's IDs, or the smallest node if the generator has several nodes. The node of a leased
    /// generator changes when another process takes over the current node. In a forked child, the node is `None` until
    /// the child leases a node.
    #[must_use]
    pub fn node(&self) -> Option<u64> {
        self.nodes().first().copied()
    }

    /// Returns all nodes that the generator's IDs can contain, in increasing order: a single node, unless the program
    /// requested several nodes. In a forked child, the list is empty until the child leases a node.
    #[must_use]
    pub fn nodes(&self) -> &[u64] {
        match self.source() {
            Some(source) if !source.has_node() => &[],
            _ => self.latest().nodes(),
        }
    }

    /// Whether [`next_id`](Self::next_id) may wait where [`try_next_id`](Self::try_next_id) fails with `error`: for the
    /// next tick or for the clock, if the policies allow the wait.
    ///
    /// ```
    /// use flakeid_core::{Generator, Layout, ManualClock, Overflow};
    ///
    /// let clock = ManualClock::new(1_505_914_988_849);
    /// for (overflow, waits) in [(Overflow::Wait, true), (Overflow::Error, false)] {
    ///     let builder = Generator::builder(Layout::TWITTER).node(7).overflow(overflow);
    ///     let generator = builder.clock(clock.clone()).build()?;
    ///     generator.next_ids(4096)?;
    ///     assert_eq!(generator.would_wait(&generator.try_next_id().unwrap_err()), waits);
    /// }
    /// # Ok::<(), flakeid_core::Error>(())
    /// ```
    #[must_use]
    pub fn would_wait(&self, error: &Error) -> bool {
        self.latest().would_wait(error)
    }

    /// Returns the pause after which a caller that must not block its thread, such as an event loop, should repeat a
    /// call that failed with `error`: [`try_next_id`](Self::try_next_id), [`try_fill`](Self::try_fill), or a call of a
    /// local handle or ring of this generator. `waited` is the time since the caller's first attempt. Returns `None` if
    /// the caller should report the error, because a call that waits would not wait any longer.
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use flakeid_core::{Generator, Layout};
    ///
    /// let generator = Generator::new(Layout::TWITTER, 7)?;
    /// let begun = Instant::now();
    /// let id = loop {
    ///     match generator.try_next_id() {
    ///         Ok(id) => break id,
    ///         Err(error) => match generator.retry_pause(&error, begun.elapsed()) {
    ///             Some(pause) => std::thread::sleep(pause), // in async code: tokio::time::sleep(pause).await
    ///             None => return Err(error),
    ///         },
    ///     }
    /// };
    /// # Ok::<(), flakeid_core::Error>(())
    /// ```
    #[must_use]
    pub fn retry_pause(&self, error: &Error, waited: Duration) -> Option<Duration> {
        const SHORTEST: Duration = Duration::from_millis(1);
        let left = self.max_wait().saturating_sub(waited);
        match error.kind() {
            ErrorKind::RingEmpty => (!left.is_zero())
                .then(|| error.retry_after().unwrap_or_default().max(SHORTEST).min(left)),
            ErrorKind::SequenceExhausted | ErrorKind::ClockRollback => {
                let pause = error.retry_after()?.max(SHORTEST);
                (pause <= left && self.would_wait(error)).then_some(pause)
            }
            kind if kind.is_retryable() => self.source()?.pause(waited, self.max_wait()),
            _ => None,
        }
    }

    /// Returns the time until the clock has reached a tick in which the generator may issue the next ID. The time is
    /// long after a step of the clock was undone, because the IDs must increase. A longer time than `max_wait` means
    /// that calls fail.
    #[doc(hidden)]
    #[must_use]
    pub fn wait_for_clock(&self) -> Duration {
        self.latest().wait_for_clock()
    }
}

/// Fills `ids` with the IDs that `part` writes, call by call, and returns the number of IDs. If a call fails after the
/// first ID, the IDs so far are returned, because the next call encounters the same obstacle.
pub(crate) fn fill_by(
    ids: &mut [Id],
    mut part: impl FnMut(&mut [Id]) -> Result<usize, Error>,
) -> Result<usize, Error> {
    let mut filled = 0;
    while filled < ids.len() {
        match part(&mut ids[filled..]) {
            Ok(count) => filled += count,
            Err(error) if filled == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(filled)
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenure = self.latest();
        f.debug_struct("Generator")
            .field("layout", self.layout())
            .field("nodes", &self.nodes())
            .field("policy", &tenure.policy)
            .field("stats", &tenure.stats())
            .finish_non_exhaustive()
    }
}
