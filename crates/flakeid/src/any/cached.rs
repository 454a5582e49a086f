//! [`AnyCachedGenerator`]: a ring of IDs made beforehand.

use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{CachedGenerator, Error, Id, RingOptions, RingStats};

use super::AnyGenerator;
use crate::LeasedCachedGenerator;

/// A ring over an [`AnyGenerator`], which it keeps alive.
#[derive(Debug)]
pub enum AnyCachedGenerator {
    /// Over a generator of a fixed node.
    Fixed(CachedGenerator),
    /// Over a generator of a leased node.
    Leased(LeasedCachedGenerator),
}

impl AnyCachedGenerator {
    /// A ring over `generator`, filled. Waits for the first IDs as [`AnyGenerator::fill`].
    ///
    /// # Errors
    /// As [`CachedGenerator::with`] or [`LeasedCachedGenerator::with`].
    pub fn with(generator: &AnyGenerator, options: RingOptions) -> Result<Self, Error> {
        match generator {
            AnyGenerator::Fixed(fixed) => {
                CachedGenerator::with(Arc::clone(fixed), options).map(Self::Fixed)
            }
            AnyGenerator::Leased(leased) => {
                LeasedCachedGenerator::with(Arc::clone(leased), options).map(Self::Leased)
            }
        }
    }

    /// The next ID of the ring. Never waits, except to begin a new ring when a leased node has
    /// changed.
    ///
    /// # Errors
    /// As [`CachedGenerator::take`] or [`LeasedCachedGenerator::take`].
    #[inline]
    pub fn take(&self) -> Result<Id, Error> {
        either!(self, it => it.take())
    }

    /// The next ID of the ring, if it has one to hand out, as [`CachedGenerator::poll`].
    #[inline]
    #[must_use]
    pub fn poll(&self) -> Option<Id> {
        either!(self, it => it.poll())
    }

    /// The next ID of the ring; waits for a refill, at most the generator's `max_wait`.
    ///
    /// # Errors
    /// As [`CachedGenerator::next_id`] or [`LeasedCachedGenerator::next_id`].
    #[inline]
    pub fn next_id(&self) -> Result<Id, Error> {
        either!(self, it => it.next_id())
    }

    /// As [`next_id`](Self::next_id), waiting at most `max_wait` instead of the generator's own.
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id).
    #[inline]
    pub fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        either!(self, it => it.next_id_within(max_wait))
    }

    /// Ends the ring, as [`CachedGenerator::close`] or [`LeasedCachedGenerator::close`]: calls that
    /// begin later are [`Closed`](flakeid_core::ErrorKind::Closed). The generator goes on.
    pub fn close(&self) {
        either!(self, it => it.close());
    }

    /// How many IDs the ring can hold.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        either!(self, it => it.capacity())
    }

    /// What happened so far; over a leased node, in all rings since the first.
    #[must_use]
    pub fn stats(&self) -> RingStats {
        either!(self, it => it.stats())
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
            let ring = AnyCachedGenerator::with(&generator, RingOptions::new()).unwrap();
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
            let refused = AnyCachedGenerator::with(&generator, options).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::FieldOutOfRange);
        }
    }

    #[test]
    fn it_ends_with_its_generator() {
        for generator in both() {
            let ring = AnyCachedGenerator::with(&generator, RingOptions::new()).unwrap();
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
            let ring = AnyCachedGenerator::with(&generator, RingOptions::new()).unwrap();
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
            let ring = AnyCachedGenerator::with(&generator, RingOptions::new()).unwrap();
            drop(generator);
            ring.next_id().unwrap();
        }
    }
}
