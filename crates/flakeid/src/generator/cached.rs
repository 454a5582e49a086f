//! The handle on a ring of IDs that are generated in advance.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{CachedGenerator as FixedCachedGenerator, Error, Id, RingOptions, RingStats};

use super::Generator;
use crate::leased::LeasedCachedGenerator;

/// A ring of IDs that a thread generates in advance, over a [`Generator`], which it keeps alive; see
/// [`flakeid_core::CachedGenerator`]. Over a leased node a new ring begins with every grant, in a forked child
/// too, and IDs of an older ring are not returned afterwards.
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
    /// Those of [`with`](Self::with).
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

    /// Fills a ring over `generator`. Waits for the first IDs like [`Generator::fill`].
    ///
    /// # Errors
    /// Those of [`flakeid_core::CachedGenerator::with`] and [`Generator::next_id`].
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

    /// Returns the next ID of the ring. Never waits, except to begin a new ring when a leased node has changed.
    ///
    /// # Errors
    /// Those of [`flakeid_core::CachedGenerator::take`] and [`Generator::try_next_id`].
    #[inline]
    pub fn take(&self) -> Result<Id, Error> {
        either!(&self.0, it => it.take())
    }

    /// Returns the next ID of the ring if it has a usable one, like [`flakeid_core::CachedGenerator::poll`].
    #[inline]
    #[must_use]
    pub fn poll(&self) -> Option<Id> {
        either!(&self.0, it => it.poll())
    }

    /// Returns the next ID of the ring, and waits for a refill for at most the generator's `max_wait`.
    ///
    /// # Errors
    /// Those of [`flakeid_core::CachedGenerator::next_id`] and [`Generator::next_id`].
    #[inline]
    pub fn next_id(&self) -> Result<Id, Error> {
        either!(&self.0, it => it.next_id())
    }

    /// Does the same as [`next_id`](Self::next_id) and waits at most the given `max_wait`.
    ///
    /// # Errors
    /// Those of [`next_id`](Self::next_id).
    #[inline]
    pub fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        either!(&self.0, it => it.next_id_within(max_wait))
    }

    /// Ends the ring, like [`flakeid_core::CachedGenerator::close`]: calls that begin later fail with
    /// [`Closed`](flakeid_core::ErrorKind::Closed). The generator remains open.
    pub fn close(&self) {
        either!(&self.0, it => it.close());
    }

    /// The capacity of the ring in IDs.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        either!(&self.0, it => it.capacity())
    }

    /// The counters of the ring; over a leased node, of all rings since the first.
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
    fn every_call_reaches_rings_on_fixed_and_leased_nodes() {
        for generator in both() {
            let ring = CachedGenerator::with(&generator, RingOptions::new()).unwrap();
            let mut ids = vec![ring.next_id().unwrap()];
            ids.push(ring.next_id_within(Duration::from_secs(1)).unwrap());
            // The ring can be empty if its thread got no processor time.
            ids.extend(ring.take().ok());
            ids.extend(ring.poll());
            assert!(ids.is_sorted_by(|a, b| a < b), "{ring:?}: {ids:?}");
            assert!(ring.capacity() >= 2);
            assert_eq!(ring.stats().taken, ids.len() as u64);
        }
    }

    #[test]
    fn with_checks_options_on_fixed_and_leased_nodes() {
        for generator in both() {
            let options = RingOptions::new().boost_power(21);
            let refused = CachedGenerator::with(&generator, options).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::FieldOutOfRange);
        }
    }

    #[test]
    fn ring_ends_with_its_generator() {
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
    fn close_ends_the_ring_while_threads_take_from_it() {
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
            assert_eq!(ring.stats().rejected_take, refused, "the end does not count as a refusal");
            generator.next_id().unwrap();
        }
    }

    #[test]
    fn ring_keeps_its_generator_alive() {
        for generator in both() {
            let ring = CachedGenerator::with(&generator, RingOptions::new()).unwrap();
            drop(generator);
            ring.next_id().unwrap();
        }
    }
}
