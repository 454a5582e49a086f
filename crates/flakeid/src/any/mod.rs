//! One handle over generators of a fixed and of a leased node, for programs that have either.

#![expect(clippy::inline_always, reason = "a call more is a tenth of an ID's cost")]

/// The same call to either kind of generator, local handle or ring.
macro_rules! either {
    ($either:expr, $it:ident => $call:expr) => {
        match $either {
            // The usual kind comes first.
            Self::Fixed($it) => $call,
            Self::Leased($it) => $call,
        }
    };
}

mod cached;
mod local;

pub use cached::AnyCachedGenerator;
pub use local::AnyLocalGenerator;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{Error, Generator, Id, Layout, Stats};

use crate::{LeaseStatus, LeasedGenerator};

/// A generator of a fixed or of a leased node, for programs that are told only when they run which
/// of the two they have. Clones are the same generator.
///
/// ```
/// use flakeid_core::{Generator, Layout};
/// use flakeid::AnyGenerator;
///
/// let generator = AnyGenerator::from(Generator::new(Layout::TWITTER, 7)?);
/// assert!(generator.next_id()? < generator.next_id()?);
/// assert!(generator.lease().is_none());
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum AnyGenerator {
    /// Its node was given by the program.
    Fixed(Arc<Generator>),
    /// Its node is leased from a store.
    Leased(Arc<LeasedGenerator>),
}

impl AnyGenerator {
    /// The next ID. Waits at most `max_wait`.
    ///
    /// # Errors
    /// As [`Generator::next_id`] or [`LeasedGenerator::next_id`].
    #[inline(always)]
    pub fn next_id(&self) -> Result<Id, Error> {
        either!(self, it => it.next_id())
    }

    /// As [`next_id`](Self::next_id), waiting at most `max_wait` instead of the generator's own.
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id).
    #[inline(always)]
    pub fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        either!(self, it => it.next_id_within(max_wait))
    }

    /// The next ID, without ever waiting.
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id), at once.
    #[inline(always)]
    pub fn try_next_id(&self) -> Result<Id, Error> {
        either!(self, it => it.try_next_id())
    }

    /// Fills `ids` from its beginning with the next IDs, in order, and returns how many: fewer than
    /// its length, but at least one, if an obstacle outlasted `max_wait`.
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id), but only if there was no ID at all.
    #[inline]
    pub fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        either!(self, it => it.fill(ids))
    }

    /// As [`fill`](Self::fill), waiting at most `max_wait` for each obstacle.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    #[inline]
    pub fn fill_within(&self, ids: &mut [Id], max_wait: Duration) -> Result<usize, Error> {
        either!(self, it => it.fill_within(ids, max_wait))
    }

    /// As [`fill`](Self::fill), without ever waiting.
    ///
    /// # Errors
    /// As [`fill`](Self::fill), at once.
    #[inline]
    pub fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        either!(self, it => it.try_fill(ids))
    }

    /// The next `n` IDs, in order; fewer, but at least one, if an obstacle outlasted `max_wait`.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    #[inline]
    pub fn next_ids(&self, n: usize) -> Result<Vec<Id>, Error> {
        either!(self, it => it.next_ids(n))
    }

    /// As [`next_ids`](Self::next_ids), waiting at most `max_wait` for each obstacle.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    #[inline]
    pub fn next_ids_within(&self, n: usize, max_wait: Duration) -> Result<Vec<Id>, Error> {
        either!(self, it => it.next_ids_within(n, max_wait))
    }

    /// Raises the end of the window of a fixed node, as [`Generator::extend`].
    ///
    /// # Errors
    /// As [`Generator::extend`]; [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the
    /// node is leased.
    pub fn extend(&self, fence: u64) -> Result<(), Error> {
        match self {
            Self::Fixed(fixed) => fixed.extend(fence),
            Self::Leased(_) => Err(Error::invalid_option(
                "extend",
                "a leased generator renews its window by itself; open it with a longer window if \
                 its IDs are to go on for longer while the store is away",
            )),
        }
    }

    /// Ends a generator of a fixed node and returns the last tick in which it issued an ID, as
    /// [`Generator::retire`].
    ///
    /// # Errors
    /// As [`Generator::retire`]; [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the
    /// node is leased, because [`close`](Self::close) also gives it back.
    pub fn retire(&self) -> Result<Option<u64>, Error> {
        match self {
            Self::Fixed(fixed) => fixed.retire(),
            Self::Leased(_) => Err(Error::invalid_option(
                "retire",
                "a leased generator cannot be retired; close it instead (in C, free it), which \
                 also gives its node back",
            )),
        }
    }

    /// Ends this generator, whose calls are [`Closed`](flakeid_core::ErrorKind::Closed) from then
    /// on; nothing the second time. One of a fixed node is retired, unless this is a forked child,
    /// where it makes no IDs anyway. A leased node is given back if no other generator of the
    /// process shares the lease, and this waits for that up to a second.
    pub fn close(&self) {
        match self {
            // It fails only where the generator has ended already: closed before, or forked.
            Self::Fixed(fixed) => drop(fixed.retire()),
            Self::Leased(leased) => leased.close(),
        }
    }

    /// What happened besides issuing IDs; to a leased generator, since its node was acquired.
    #[must_use]
    pub fn stats(&self) -> Stats {
        either!(self, it => it.stats())
    }

    /// The layout of the IDs.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        either!(self, it => it.layout())
    }

    /// How long a call waits without issuing an ID.
    #[must_use]
    pub fn max_wait(&self) -> Duration {
        either!(self, it => it.max_wait())
    }

    /// The node in the IDs, the smallest of several. A leased one changes when another process
    /// takes it.
    #[must_use]
    pub fn node(&self) -> u64 {
        either!(self, it => it.node())
    }

    /// All nodes in the IDs, in rising order: one unless the program asked for more.
    #[must_use]
    pub fn nodes(&self) -> Cow<'_, [u64]> {
        either!(self, it => it.nodes().into())
    }

    /// How the lease stands; `None` if the node is fixed.
    #[must_use]
    pub fn lease(&self) -> Option<LeaseStatus> {
        match self {
            Self::Fixed(_) => None,
            Self::Leased(leased) => Some(leased.lease()),
        }
    }
}

impl From<Generator> for AnyGenerator {
    fn from(fixed: Generator) -> Self {
        Self::Fixed(Arc::new(fixed))
    }
}

impl From<LeasedGenerator> for AnyGenerator {
    fn from(leased: LeasedGenerator) -> Self {
        Self::Leased(Arc::new(leased))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
pub(super) mod tests {
    use flakeid_core::{ErrorKind, ManualClock, Policy};

    use super::*;
    use crate::LeaseBuilder;
    use flakeid_protocol::MemoryStore;

    const NODE: u64 = 5;

    fn fixed() -> AnyGenerator {
        Generator::new(Layout::TWITTER, NODE).unwrap().into()
    }

    fn leased() -> AnyGenerator {
        let store = MemoryStore::new();
        LeaseBuilder::from_store(Layout::TWITTER, move || Ok(Box::new(store.clone())))
            .nodes(NODE, NODE)
            .open()
            .unwrap()
            .into()
    }

    /// One of each kind, of node 5.
    pub(super) fn both() -> [AnyGenerator; 2] {
        [fixed(), leased()]
    }

    #[test]
    fn every_call_reaches_either_kind() {
        let zero = Id::from_u64(0);
        let wait = Duration::from_secs(1);
        for generator in both() {
            let mut ids = vec![generator.next_id().unwrap()];
            ids.push(generator.next_id_within(wait).unwrap());
            // The tick may be used up by what runs beside this.
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
    fn only_a_leased_generator_has_a_lease() {
        let [fixed, leased] = both();
        assert!(fixed.lease().is_none());
        assert_eq!(leased.lease().unwrap().grants, 1);
    }

    #[test]
    fn a_leased_generator_is_neither_extended_nor_retired() {
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
    fn closing_ends_every_clone_and_happens_once() {
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
    fn a_limit_of_the_caller_replaces_the_generators_own() {
        // A clock that stands still, and a tick of one ID that is used up.
        let clock = ManualClock::new(1_700_000_000_000);
        let builder = Generator::builder(Layout::TWITTER).node(NODE).sequence_mask(0);
        let builder = builder.clock(clock).policy(Policy::STRICT);
        let generator = AnyGenerator::from(builder.build().unwrap());
        generator.next_id().unwrap();
        let refused = generator.next_id_within(Duration::ZERO).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::SequenceExhausted);
    }
}
