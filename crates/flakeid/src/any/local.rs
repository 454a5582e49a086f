//! [`AnyLocalGenerator`]: for one thread.

#![expect(clippy::inline_always, reason = "a call more is a tenth of an ID's cost")]

use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{Error, Generator, Id, LocalGenerator};

use super::AnyGenerator;
use crate::{LeasedGenerator, LeasedLocalGenerator};

/// One thread's share of an [`AnyGenerator`], which it keeps alive.
#[derive(Debug)]
pub enum AnyLocalGenerator {
    /// Of a generator of a fixed node.
    Fixed(LocalGenerator<Arc<Generator>>),
    /// Of a generator of a leased node.
    Leased(LeasedLocalGenerator<Arc<LeasedGenerator>>),
}

impl AnyLocalGenerator {
    /// A handle on `generator`.
    #[must_use]
    pub fn new(generator: &AnyGenerator) -> Self {
        match generator {
            AnyGenerator::Fixed(fixed) => Self::Fixed(LocalGenerator::new(Arc::clone(fixed))),
            AnyGenerator::Leased(leased) => {
                Self::Leased(LeasedLocalGenerator::new(Arc::clone(leased)))
            }
        }
    }

    /// The next ID. Waits at most the generator's `max_wait`.
    ///
    /// # Errors
    /// As [`AnyGenerator::next_id`].
    #[inline(always)]
    pub fn next_id(&mut self) -> Result<Id, Error> {
        either!(self, it => it.next_id())
    }

    /// As [`next_id`](Self::next_id), waiting at most `max_wait` instead of the generator's own.
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id).
    #[inline]
    pub fn next_id_within(&mut self, max_wait: Duration) -> Result<Id, Error> {
        either!(self, it => it.next_id_within(max_wait))
    }

    /// The next ID, without ever waiting.
    ///
    /// # Errors
    /// As [`AnyGenerator::try_next_id`].
    #[inline]
    pub fn try_next_id(&mut self) -> Result<Id, Error> {
        either!(self, it => it.try_next_id())
    }

    /// The next ID of the block that was reserved last, as [`LocalGenerator::poll`].
    #[inline(always)]
    pub fn poll(&mut self) -> Option<Id> {
        either!(self, it => it.poll())
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
            let mut local = AnyLocalGenerator::new(&generator);
            assert_eq!(local.poll(), None);
            let mut ids = vec![local.next_id().unwrap()];
            ids.push(local.next_id_within(Duration::from_secs(1)).unwrap());
            // The tick may be used up by what runs beside this.
            ids.extend(local.try_next_id().ok());
            ids.extend(local.poll());
            assert!(ids.is_sorted_by(|a, b| a < b), "{local:?}: {ids:?}");
        }
    }

    #[test]
    fn it_ends_with_its_generator() {
        for generator in both() {
            let mut local = AnyLocalGenerator::new(&generator);
            local.next_id().unwrap();
            generator.close();
            assert_eq!(local.poll(), None);
            let within = local.next_id_within(Duration::from_secs(1));
            for refused in [local.next_id(), local.try_next_id(), within] {
                assert_eq!(refused.unwrap_err().kind(), ErrorKind::Closed);
            }
        }
    }

    #[test]
    fn it_keeps_its_generator() {
        for generator in both() {
            let mut local = AnyLocalGenerator::new(&generator);
            drop(generator);
            local.next_id().unwrap();
        }
    }
}
