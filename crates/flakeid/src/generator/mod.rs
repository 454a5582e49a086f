//! Generators, local handles and rings that work on both fixed and leased nodes.

#![expect(clippy::inline_always, reason = "another call would cost a tenth of an ID")]

/// Makes the same call on a generator, local handle or ring, regardless of whether the node is fixed or leased.
macro_rules! either {
    ($either:expr, $it:ident => $call:expr) => {
        match $either {
            // The fixed kind is matched first, because it is more common.
            Kind::Fixed($it) => $call,
            Kind::Leased($it) => $call,
        }
    };
}

mod builder;
mod cached;
mod local;

pub use builder::LeaseBuilder;
pub use cached::CachedGenerator;
pub use local::LocalGenerator;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::internal::{Exposed, expose};
use flakeid_core::{
    Error, ErrorKind, Generator as FixedGenerator, GeneratorBuilder, Id, Layout, Stats,
};
use flakeid_protocol::keeper::LeaseStatus;

use crate::leased::{LeasedGenerator, pause_for_clock};

/// Generates the unique and strictly increasing IDs of one node or several nodes. Any number of threads may use a
/// generator. Clones share one generator.
///
/// The node is either fixed or leased. The program must ensure that no other process uses a fixed node at the same
/// time. For a leased node, the store ensures this for all processes that lease from that store.
///
/// # Leased nodes
/// No two processes that lease from a namespace generate the same ID, regardless of clock errors, forks, pauses and
/// kills. A thread renews the lease. While the store is unavailable, the generator issues IDs up to the end of the
/// window. After that, calls wait at most `max_wait` and fail with
/// [`LeaseExpired`](flakeid_core::ErrorKind::LeaseExpired). Once renewals have failed for longer than `max_wait`, calls
/// fail without waiting. If another process takes the node over, this process
/// leases another node and continues. A forked child leases its own node at its first ID. Dropping the last generator
/// of a lease releases the node. Generators in one process with the same store, namespace and options share one
/// lease.
///
/// ```
/// use flakeid::{Generator, Layout};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let url = format!("sqlite://{}/ids.db", folder.path().display());
/// let leased = Generator::lease(&url, Layout::TWITTER)?.namespace("orders").open()?;
/// assert!(leased.next_id()? < leased.next_id()?);
///
/// let fixed = Generator::new(Layout::TWITTER, 7)?;
/// assert_eq!(fixed.node(), 7);
/// # Ok::<(), flakeid::Error>(())
/// ```
#[derive(Clone)]
pub struct Generator(Kind);

#[derive(Clone)]
enum Kind {
    Fixed(Arc<FixedGenerator>),
    Leased(Arc<LeasedGenerator>),
}

impl Generator {
    /// Builds a generator for a fixed node with the default options.
    ///
    /// # Errors
    /// The same errors as [`GeneratorBuilder::build`].
    ///
    /// ```
    /// use flakeid::{Generator, Layout};
    ///
    /// let generator = Generator::new(Layout::TWITTER, 7)?;
    /// assert_eq!(Layout::TWITTER.unpack(generator.next_id()?)?.node, 7);
    /// # Ok::<(), flakeid::Error>(())
    /// ```
    pub fn new(layout: Layout, node: u64) -> Result<Self, Error> {
        FixedGenerator::new(layout, node).map(Self::from)
    }

    /// Returns a builder for a generator on a fixed node. Convert the result of [`GeneratorBuilder::build`] to this
    /// type with `into()`.
    ///
    /// ```
    /// use flakeid::{Generator, Layout, Overflow};
    ///
    /// let builder = Generator::builder(Layout::TWITTER).node(7).overflow(Overflow::Error);
    /// let generator: Generator = builder.build()?.into();
    /// # Ok::<(), flakeid::Error>(())
    /// ```
    pub fn builder(layout: Layout) -> GeneratorBuilder {
        FixedGenerator::builder(layout)
    }

    /// Returns the next ID. Waits at most `max_wait`.
    ///
    /// # Errors
    /// The same errors as [`flakeid_core::Generator::next_id`]; in a forked child of a process with a leased node,
    /// also the errors of [`LeaseBuilder::open`].
    #[inline(always)]
    pub fn next_id(&self) -> Result<Id, Error> {
        either!(&self.0, it => it.next_id())
    }

    /// Returns the next ID like [`next_id`](Self::next_id), but waits for at most `max_wait`.
    ///
    /// # Errors
    /// The same errors as [`next_id`](Self::next_id).
    #[inline(always)]
    pub fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        either!(&self.0, it => it.next_id_within(max_wait))
    }

    /// Returns the next ID without waiting.
    ///
    /// # Errors
    /// The same errors as [`next_id`](Self::next_id), but returned without waiting.
    #[inline(always)]
    pub fn try_next_id(&self) -> Result<Id, Error> {
        either!(&self.0, it => it.try_next_id())
    }

    /// Fills `ids` from the beginning with the next IDs, in order, and returns the number of IDs written. If no further
    /// ID becomes available within `max_wait`, writes fewer IDs than `ids` has room for, but at least one.
    ///
    /// # Errors
    /// The same errors as [`next_id`](Self::next_id), but only if no ID was written.
    #[inline]
    pub fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        either!(&self.0, it => it.fill(ids))
    }

    /// Fills `ids` like [`fill`](Self::fill), but waits for at most `max_wait` whenever no ID is available.
    ///
    /// # Errors
    /// The same errors as [`fill`](Self::fill).
    #[inline]
    pub fn fill_within(&self, ids: &mut [Id], max_wait: Duration) -> Result<usize, Error> {
        either!(&self.0, it => it.fill_within(ids, max_wait))
    }

    /// Fills `ids` like [`fill`](Self::fill), but never waits.
    ///
    /// # Errors
    /// The same errors as [`fill`](Self::fill), but returned without waiting.
    #[inline]
    pub fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        either!(&self.0, it => it.try_fill(ids))
    }

    /// Returns the next `n` IDs, in order. Returns fewer IDs, but at least one, if no further ID becomes available
    /// within `max_wait`.
    ///
    /// # Errors
    /// The same errors as [`fill`](Self::fill).
    #[inline]
    pub fn next_ids(&self, n: usize) -> Result<Vec<Id>, Error> {
        either!(&self.0, it => it.next_ids(n))
    }

    /// Returns the next `n` IDs like [`next_ids`](Self::next_ids), but waits for at most `max_wait` whenever no ID is
    /// available.
    ///
    /// # Errors
    /// The same errors as [`fill`](Self::fill).
    #[inline]
    pub fn next_ids_within(&self, n: usize, max_wait: Duration) -> Result<Vec<Id>, Error> {
        either!(&self.0, it => it.next_ids_within(n, max_wait))
    }

    /// Returns the pause after which a caller that must not block its thread, such as an event loop, should repeat a
    /// call that failed with `error`: [`try_next_id`](Self::try_next_id), [`try_fill`](Self::try_fill), or a call of a
    /// local handle or ring of this generator. `waited` is the time since the caller's first attempt. Returns `None` if
    /// the caller should report the error, because a call that waits would not wait any longer.
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// use flakeid::{Generator, Layout};
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
    /// # Ok::<(), flakeid::Error>(())
    /// ```
    #[must_use]
    pub fn retry_pause(&self, error: &Error, waited: Duration) -> Option<Duration> {
        let left = self.max_wait().saturating_sub(waited);
        match (&self.0, error.kind()) {
            (_, ErrorKind::RingEmpty) => (!left.is_zero()).then(|| {
                let refill = error.retry_after().unwrap_or_default();
                refill.max(Duration::from_millis(1)).min(left)
            }),
            (Kind::Fixed(fixed), _) => pause_for_clock(fixed, error, left),
            (Kind::Leased(leased), _) => leased.retry_pause(error, waited),
        }
    }

    /// Extends the window of a fixed node to the tick `fence`, exclusive. Behaves like
    /// [`flakeid_core::Generator::extend`].
    ///
    /// # Errors
    /// The same errors as [`flakeid_core::Generator::extend`];
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the node is leased.
    pub fn extend(&self, fence: u64) -> Result<(), Error> {
        match &self.0 {
            Kind::Fixed(fixed) => fixed.extend(fence),
            Kind::Leased(_) => Err(Error::invalid_option(
                "extend",
                "a leased generator renews its window automatically; to issue IDs for longer while the \
                 store is unavailable, open it with a longer window",
            )),
        }
    }

    /// Ends this generator if its node is fixed, and returns the last tick in which the generator issued an ID. Behaves
    /// like [`flakeid_core::Generator::retire`].
    ///
    /// # Errors
    /// The same errors as [`flakeid_core::Generator::retire`];
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the node is leased. To end a generator on a
    /// leased node, use [`close`](Self::close), which also releases the node.
    pub fn retire(&self) -> Result<Option<u64>, Error> {
        match &self.0 {
            Kind::Fixed(fixed) => fixed.retire(),
            Kind::Leased(_) => Err(Error::invalid_option(
                "retire",
                "a leased generator cannot be retired; close it instead (in C, free it), which \
                 also releases its node",
            )),
        }
    }

    /// Ends this generator: later calls fail with [`Closed`](flakeid_core::ErrorKind::Closed). A second call has no
    /// effect.
    ///
    /// On a fixed node, the generator is retired, except in a forked child, where the generator issues no IDs anyway. A
    /// leased node is released unless another generator in the process shares the lease. This method waits at most one
    /// second for the release.
    pub fn close(&self) {
        match &self.0 {
            // Retiring fails only if an earlier close or a fork has already ended the generator.
            Kind::Fixed(fixed) => drop(fixed.retire()),
            Kind::Leased(leased) => leased.close(),
        }
    }

    /// Ends this generator like [`close`](Self::close), but leaves the fence of a leased node unchanged, as if the
    /// generator had used every tick in its window. The next grant of the node begins at the fence, which can be a full
    /// window ahead of the clock.
    ///
    /// Use this method if you passed the node number to another library, because flakeid cannot determine the last tick
    /// in which that library issued an ID.
    pub fn close_at_fence(&self) {
        match &self.0 {
            Kind::Fixed(fixed) => drop(fixed.retire()),
            Kind::Leased(leased) => leased.close_at_fence(),
        }
    }

    /// The number of leased nodes that [`close`](Self::close) did not release. They stay reserved until their leases
    /// expire.
    #[doc(hidden)]
    #[must_use]
    pub fn unreleased_nodes(&self) -> usize {
        match &self.0 {
            Kind::Fixed(_) => 0,
            Kind::Leased(leased) => leased.unreleased_nodes(),
        }
    }

    /// Leases a node in a forked child that has none yet, as the child's first ID does. Waits at most `max_wait` plus
    /// 2 s. Does nothing if the generator already has a node.
    ///
    /// # Errors
    /// The errors of [`LeaseBuilder::open`]; [`Closed`](flakeid_core::ErrorKind::Closed) if the generator was closed.
    pub fn settle(&self) -> Result<(), Error> {
        match &self.0 {
            Kind::Fixed(_) => Ok(()),
            Kind::Leased(leased) => leased.settle(),
        }
    }

    /// The counters of waits and clock rollbacks. On a leased node, counting starts when the node is acquired.
    #[must_use]
    pub fn stats(&self) -> Stats {
        either!(&self.0, it => it.stats())
    }

    /// The layout of the IDs.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        either!(&self.0, it => it.layout())
    }

    /// The longest time that a call waits for an ID.
    #[must_use]
    pub fn max_wait(&self) -> Duration {
        either!(&self.0, it => it.max_wait())
    }

    /// The node in the generator's IDs, or the smallest node if the generator has several nodes. The node of a leased
    /// generator changes when another process takes over the current node. In a forked child, the node is 0 until the
    /// child leases a node, at its first ID or in [`settle`](Self::settle).
    #[must_use]
    pub fn node(&self) -> u64 {
        either!(&self.0, it => it.node())
    }

    /// Returns the generator's nodes in increasing order: a single node, unless the program requested several nodes. In
    /// a forked child, the list is empty until the child leases a node.
    #[must_use]
    pub fn nodes(&self) -> Cow<'_, [u64]> {
        either!(&self.0, it => it.nodes().into())
    }

    /// Returns the time until the clock has reached a tick in which the generator may issue the next ID. A longer time
    /// than `max_wait` means that calls fail.
    #[doc(hidden)]
    #[must_use]
    pub fn wait_for_clock(&self) -> Duration {
        either!(&self.0, it => it.wait_for_clock())
    }

    /// The state of the lease, or `None` if the node is fixed.
    #[must_use]
    pub fn lease_status(&self) -> Option<LeaseStatus> {
        match &self.0 {
            Kind::Fixed(_) => None,
            Kind::Leased(leased) => Some(leased.lease()),
        }
    }

    /// Returns the addresses and numbers with which a binding repeats the fast path of the generator of the current
    /// node. The addresses are valid as long as this generator exists.
    ///
    /// # Errors
    /// [`Closed`](flakeid_core::ErrorKind::Closed) if the lease is closed.
    #[doc(hidden)]
    pub fn exposed(&self) -> Result<Exposed, Error> {
        match &self.0 {
            Kind::Fixed(fixed) => Ok(expose(fixed)),
            Kind::Leased(leased) => leased.exposed(),
        }
    }

    /// Whether the node is leased.
    #[inline]
    #[must_use]
    pub const fn is_leased(&self) -> bool {
        matches!(self.0, Kind::Leased(_))
    }
}

impl From<FixedGenerator> for Generator {
    fn from(fixed: FixedGenerator) -> Self {
        Self(Kind::Fixed(Arc::new(fixed)))
    }
}

impl From<LeasedGenerator> for Generator {
    fn from(leased: LeasedGenerator) -> Self {
        Self(Kind::Leased(Arc::new(leased)))
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        either!(&self.0, it => fmt::Debug::fmt(it, f))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
pub(super) mod tests {
    use flakeid_core::{ManualClock, Policy};

    use super::*;
    use flakeid_protocol::MemoryStore;

    const NODE: u64 = 5;

    fn fixed() -> Generator {
        Generator::new(Layout::TWITTER, NODE).unwrap()
    }

    fn leased() -> Generator {
        let store = MemoryStore::new();
        LeaseBuilder::from_store(Layout::TWITTER, move || Ok(Box::new(store.clone())))
            .nodes(NODE, NODE)
            .open()
            .unwrap()
    }

    /// Returns two generators for node 5: one with a fixed node, the other with a leased node.
    pub(super) fn both() -> [Generator; 2] {
        [fixed(), leased()]
    }

    #[test]
    fn generator_issues_increasing_ids_on_fixed_and_leased_nodes() {
        let zero = Id::from_u64(0);
        let wait = Duration::from_secs(1);
        for generator in both() {
            let mut ids = vec![generator.next_id().unwrap()];
            ids.push(generator.next_id_within(wait).unwrap());
            // The call can fail, because other tests in this process can use up the IDs of the current tick.
            if let Ok(id) = generator.try_next_id() {
                ids.push(id);
            }
            let mut three = [zero; 3];
            assert_eq!(generator.fill(&mut three).unwrap(), 3);
            ids.extend(three);
            assert_eq!(generator.fill_within(&mut three, wait).unwrap(), 3);
            ids.extend(three);
            if let Ok(filled) = generator.try_fill(&mut three) {
                ids.extend(&three[..filled]);
            }
            ids.extend(generator.next_ids(3).unwrap());
            ids.extend(generator.next_ids_within(3, wait).unwrap());
            assert!(ids.is_sorted_by(|a, b| a < b), "{generator:?}: {ids:?}");
            assert!(ids.iter().all(|id| Layout::TWITTER.unpack(*id).unwrap().node == NODE));
            assert_eq!(generator.layout(), &Layout::TWITTER);
            assert_eq!((generator.node(), &*generator.nodes()), (NODE, &[NODE][..]));
            assert_eq!(generator.stats().rollbacks, 0);
        }
    }

    #[test]
    fn lease_status_exists_only_for_leased_generators() {
        let [fixed, leased] = both();
        assert!(fixed.lease_status().is_none());
        assert_eq!(leased.lease_status().unwrap().grants, 1);
    }

    #[test]
    fn leased_generator_rejects_extend_and_retire() {
        let [fixed, leased] = both();
        let refused = leased.extend(1).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidOption);
        assert!(refused.to_string().contains("with a longer window"), "{refused}");
        let refused = leased.retire().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidOption);
        assert!(refused.to_string().contains("close it instead"), "{refused}");
        leased.next_id().unwrap();
        assert_eq!(fixed.extend(1).unwrap_err().kind(), ErrorKind::InvalidOption);
        assert!(fixed.retire().is_ok());
    }

    #[test]
    fn closing_a_generator_closes_all_its_clones() {
        for generator in both() {
            let clone = generator.clone();
            generator.close();
            generator.close();
            assert_eq!(clone.next_id().unwrap_err().kind(), ErrorKind::Closed);
            assert_eq!(
                clone.try_fill(&mut [Id::from_u64(0)]).unwrap_err().kind(),
                ErrorKind::Closed
            );
        }
    }

    #[test]
    fn max_wait_of_a_call_overrides_the_generators_max_wait() {
        // The clock is stopped and each tick has only one ID, so a second call cannot succeed.
        let clock = ManualClock::new(1_700_000_000_000);
        let builder = Generator::builder(Layout::TWITTER).node(NODE).sequence_mask(0);
        let builder = builder.clock(clock).policy(Policy::STRICT);
        let generator = Generator::from(builder.build().unwrap());
        generator.next_id().unwrap();
        let refused = generator.next_id_within(Duration::ZERO).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::SequenceExhausted);
    }
}
