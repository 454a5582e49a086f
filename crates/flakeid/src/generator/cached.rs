//! A handle to a ring of IDs that are generated in advance.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{CachedGenerator as FixedCachedGenerator, Error, Id, RingOptions, RingStats};

use super::Generator;
use crate::leased::LeasedCachedGenerator;

/// A ring of IDs that a thread generates in advance from a [`Generator`]; see [`flakeid_core::CachedGenerator`]. The
/// ring keeps the generator alive. On a leased node, a new ring begins with every grant and in every forked child.
/// IDs from an older ring are not returned afterwards.
///
/// With [`Overflow::Borrow`](flakeid_core::Overflow::Borrow), a ring on a leased node runs ahead of the clock
/// by at most `max_ahead`, within the window.
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
    /// Creates a ring of the generator's IDs with the default options, and fills it.
    ///
    /// # Errors
    /// The same errors as [`with`](Self::with).
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

    /// Creates a ring with the given options, and fills the ring with the generator's IDs. Waits for the first IDs like
    /// [`Generator::fill`].
    ///
    /// # Errors
    /// The same errors as [`flakeid_core::CachedGenerator::with`] and [`Generator::next_id`].
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

    /// Returns the next ID from the ring. Waits only if a leased node has changed and a new ring must be started.
    ///
    /// # Errors
    /// The same errors as [`flakeid_core::CachedGenerator::take`] and [`Generator::try_next_id`].
    #[inline]
    pub fn take(&self) -> Result<Id, Error> {
        either!(&self.0, it => it.take())
    }

    /// Returns the next ID, or `None` if the ring contains no usable ID. Behaves like
    /// [`flakeid_core::CachedGenerator::poll`].
    #[inline]
    #[must_use]
    pub fn poll(&self) -> Option<Id> {
        either!(&self.0, it => it.poll())
    }

    /// Returns the next ID without waiting, for callers that repeat the call after
    /// [`retry_pause`](Generator::retry_pause). A failure is therefore neither counted nor passed to the handler.
    ///
    /// # Errors
    /// The errors of [`next_id`](Self::next_id), returned without waiting.
    #[inline]
    pub fn try_next_id(&self) -> Result<Id, Error> {
        either!(&self.0, it => it.try_next_id())
    }

    /// Returns the next ID from the ring. If the ring is empty, waits at most the generator's `max_wait` for a refill.
    ///
    /// # Errors
    /// The same errors as [`flakeid_core::CachedGenerator::next_id`] and [`Generator::next_id`].
    #[inline]
    pub fn next_id(&self) -> Result<Id, Error> {
        either!(&self.0, it => it.next_id())
    }

    /// Returns the next ID like [`next_id`](Self::next_id), but waits for at most `max_wait`.
    ///
    /// # Errors
    /// The same errors as [`next_id`](Self::next_id).
    #[inline]
    pub fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        either!(&self.0, it => it.next_id_within(max_wait))
    }

    /// Closes the ring, as [`flakeid_core::CachedGenerator::close`] does. Later calls fail with
    /// [`Closed`](flakeid_core::ErrorKind::Closed), but the generator remains open.
    pub fn close(&self) {
        either!(&self.0, it => it.close());
    }

    /// The ring's capacity, in IDs.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        either!(&self.0, it => it.capacity())
    }

    /// The ring's counters. If a leased node changes, a new ring is started, but the counters still include all earlier
    /// rings.
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
    fn ring_issues_increasing_ids_on_fixed_and_leased_nodes() {
        for generator in both() {
            let ring = CachedGenerator::with(&generator, RingOptions::new()).unwrap();
            let mut ids = vec![ring.next_id().unwrap()];
            ids.push(ring.next_id_within(Duration::from_secs(1)).unwrap());
            // `take` fails if the ring is empty because its refill thread has not run in time.
            ids.extend(ring.take().ok());
            ids.extend(ring.try_next_id().ok());
            ids.extend(ring.poll());
            assert!(ids.is_sorted_by(|a, b| a < b), "{ring:?}: {ids:?}");
            assert!(ring.capacity() >= 2);
            assert_eq!(ring.stats().taken, ids.len() as u64);
        }
    }

    #[test]
    fn ring_rejects_invalid_options_on_fixed_and_leased_nodes() {
        for generator in both() {
            let options = RingOptions::new().boost_power(21);
            let refused = CachedGenerator::with(&generator, options).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::FieldOutOfRange);
        }
    }

    #[test]
    fn closing_a_generator_closes_its_ring() {
        for generator in both() {
            let ring = CachedGenerator::with(&generator, RingOptions::new()).unwrap();
            ring.next_id().unwrap();
            generator.close();
            let within = ring.next_id_within(Duration::from_secs(1));
            for refused in [ring.next_id(), ring.take(), ring.try_next_id(), within] {
                assert_eq!(refused.unwrap_err().kind(), ErrorKind::Closed);
            }
            assert_eq!(ring.poll(), None);
        }
    }

    #[test]
    fn closing_a_ring_makes_concurrent_calls_fail_with_a_closed_error() {
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
