//! A ring of IDs that were generated in advance.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{CachedGenerator as FixedCachedGenerator, Error, Id, RingOptions, RingStats};

use super::Generator;
use crate::leased::LeasedCachedGenerator;

/// A ring of IDs that a thread generates in advance, over a [`Generator`], which it keeps alive; see
/// [`flakeid_core::CachedGenerator`]. Over a leased node a new ring begins with every grant, in a forked child
/// too, and no ID of an older ring is handed out after it.
///
/// With [`Overflow::Borrow`](flakeid_core::Overflow::Borrow) the ring over a leased node runs ahead of the
/// clock by at most `max_ahead` within the window.
///
/// ```
/// use flakeid::{CachedGenerator, Generator, Layout, RingOptions};
///
/// let generator = Generator::new(Layout::TWITTER, 9)?;
/// let cached = CachedGenerator::with(&generator, RingOptions::new().boost_power(1))?;
/// assert!(cached.next_id()? < cached.next_id()?);
/// # Ok::<(), flakeid::Error>(())
/// ```
pub struct CachedGenerator(Kind);

enum Kind {
    Fixed(FixedCachedGenerator),
    Leased(LeasedCachedGenerator),
}

impl CachedGenerator {
    /// Fills a ring over `generator`, with the default options.
    ///
    /// # Errors
    /// As [`with`](Self::with).
    ///
    /// ```
    /// use flakeid::{CachedGenerator, Generator, Layout};
    ///
    /// let cached = CachedGenerator::new(&Generator::new(Layout::TWITTER, 9)?)?;
    /// cached.next_id()?;
    /// # Ok::<(), flakeid::Error>(())
    /// ```
    pub fn new(generator: &Generator) -> Result<Self, Error> {
        Self::with(generator, RingOptions::new())
    }

    /// Fills a ring over `generator`. Waits for the first IDs as [`Generator::fill`] does.
    ///
    /// # Errors
    /// As [`flakeid_core::CachedGenerator::with`] and [`Generator::next_id`].
    pub fn with(generator: &Generator, options: RingOptions) -> Result<Self, Error> {
        use super::Kind as Of;
        match &generator.0 {
            Of::Fixed(fixed) => {
                FixedCachedGenerator::with(Arc::clone(fixed), options).map(Kind::Fixed)
            }
            Of::Leased(leased) => {
                LeasedCachedGenerator::with(Arc::clone(leased), options).map(Kind::Leased)
            }
        }
        .map(Self)
    }

    /// The next ID of the ring. Never waits, except to begin a new ring when a leased node has
    /// changed.
    ///
    /// # Errors
    /// As [`flakeid_core::CachedGenerator::take`] and [`Generator::try_next_id`].
    #[inline]
    pub fn take(&self) -> Result<Id, Error> {
        either!(&self.0, it => it.take())
    }

    /// The next ID of the ring, if it has one to hand out, as
    /// [`flakeid_core::CachedGenerator::poll`].
    #[inline]
    #[must_use]
    pub fn poll(&self) -> Option<Id> {
        either!(&self.0, it => it.poll())
    }

    /// The next ID of the ring; waits for a refill, at most the generator's `max_wait`.
    ///
    /// # Errors
    /// As [`flakeid_core::CachedGenerator::next_id`] and [`Generator::next_id`].
    #[inline]
    pub fn next_id(&self) -> Result<Id, Error> {
        either!(&self.0, it => it.next_id())
    }

    /// As [`next_id`](Self::next_id), waiting at most `max_wait` instead of the generator's own.
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id).
    #[inline]
    pub fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        either!(&self.0, it => it.next_id_within(max_wait))
    }

    /// Ends the ring, as [`flakeid_core::CachedGenerator::close`]: calls that
    /// begin later are [`Closed`](flakeid_core::ErrorKind::Closed). The generator goes on.
    pub fn close(&self) {
        either!(&self.0, it => it.close());
    }

    /// How many IDs the ring can hold.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        either!(&self.0, it => it.capacity())
    }

    /// What happened so far; over a leased node, in all rings since the first.
    #[must_use]
    pub fn stats(&self) -> RingStats {
        either!(&self.0, it => it.stats())
    }
}

impl fmt::Debug for CachedGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        either!(&self.0, it => fmt::Debug::fmt(it, f))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::tests::both;
    use super::*;
    use flakeid_core::ErrorKind;

    #[test]
    fn every_call_reaches_either_kind() {
        for generator in both() {
            let ring = CachedGenerator::with(&generator, RingOptions::new()).unwrap();
            let mut ids = vec![ring.next_id().unwrap()];
            ids.push(ring.next_id_within(Duration::from_secs(1)).unwrap());
            // The ring may be empty if its thread got no turn.
            ids.extend(ring.take().ok());
            ids.extend(ring.poll());
            assert!(ids.is_sorted_by(|a, b| a < b), "{ring:?}: {ids:?}");
            assert!(ring.capacity() >= 2);
            assert_eq!(ring.stats().taken, ids.len() as u64);
        }
    }

    #[test]
    fn options_are_checked_for_either_kind() {
        for generator in both() {
            let options = RingOptions::new().boost_power(21);
            let refused = CachedGenerator::with(&generator, options).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::FieldOutOfRange);
        }
    }

    #[test]
    fn it_ends_with_its_generator() {
        for generator in both() {
            let ring = CachedGenerator::with(&generator, RingOptions::new()).unwrap();
            ring.next_id().unwrap();
            generator.close();
            let within = ring.next_id_within(Duration::from_secs(1));
            for refused in [ring.next_id(), ring.take(), within] {
                assert_eq!(refused.unwrap_err().kind(), ErrorKind::Closed);
            }
            assert_eq!(ring.poll(), None);
        }
    }

    #[test]
    fn it_can_be_closed_while_others_take_from_it() {
        for generator in both() {
            let ring = CachedGenerator::with(&generator, RingOptions::new()).unwrap();
            std::thread::scope(|scope| {
                let takers = [(); 2].map(|()| {
                    scope.spawn(|| {
                        let refused =
                            std::iter::repeat_with(|| ring.next_id()).find_map(Result::err);
                        refused.unwrap().kind()
                    })
                });
                ring.next_id().unwrap();
                ring.close();
                for taker in takers {
                    assert_eq!(taker.join().unwrap(), ErrorKind::Closed);
                }
            });
            ring.close();
            let refused = ring.stats().rejected_take;
            for refused in [ring.next_id(), ring.take()] {
                assert_eq!(refused.unwrap_err().kind(), ErrorKind::Closed);
            }
            assert_eq!((ring.poll(), ring.stats().size), (None, 0), "{ring:?}");
            assert_eq!(ring.stats().rejected_take, refused, "the end is no refusal");
            generator.next_id().unwrap();
        }
    }

    #[test]
    fn it_keeps_its_generator() {
        for generator in both() {
            let ring = CachedGenerator::with(&generator, RingOptions::new()).unwrap();
            drop(generator);
            ring.next_id().unwrap();
        }
    }
}
