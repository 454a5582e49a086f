//! A handle through which one thread uses a generator.

#![expect(clippy::inline_always, reason = "another call would cost a tenth of an ID")]

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{Error, Generator as FixedGenerator, Id, LocalGenerator as FixedLocalGenerator};

use super::Generator;
use crate::leased::LeasedLocalGenerator;

/// A handle to a [`Generator`] for one thread, and the fastest way to generate IDs. The handle reserves several
/// positions at once. In exchange, its IDs are not in order with the IDs from other threads, and their times can be a
/// few milliseconds late; see [`flakeid_core::LocalGenerator`]. The handle keeps the generator alive.
///
/// ```
/// use flakeid::{Generator, Layout};
///
/// let generator = Generator::new(Layout::TWITTER, 8)?;
/// let mut local = generator.local();
/// assert!(local.next_id()? < local.next_id()?);
/// # Ok::<(), flakeid::Error>(())
/// ```
pub struct LocalGenerator(Kind);

enum Kind {
    Fixed(FixedLocalGenerator<Arc<FixedGenerator>>),
    Leased(LeasedLocalGenerator),
}

impl Generator {
    /// Returns a faster handle to this generator, for use by only one thread.
    #[must_use]
    pub fn local(&self) -> LocalGenerator {
        use super::Kind as Of;
        LocalGenerator(match &self.0 {
            Of::Fixed(fixed) => Kind::Fixed(FixedLocalGenerator::new(Arc::clone(fixed))),
            Of::Leased(leased) => Kind::Leased(LeasedLocalGenerator::new(Arc::clone(leased))),
        })
    }
}

impl LocalGenerator {
    /// Returns the next ID. Waits at most the generator's `max_wait`.
    ///
    /// # Errors
    /// The same errors as [`Generator::next_id`].
    #[inline(always)]
    pub fn next_id(&mut self) -> Result<Id, Error> {
        either!(&mut self.0, it => it.next_id())
    }

    /// Returns the next ID like [`next_id`](Self::next_id), but waits for at most `max_wait`.
    ///
    /// # Errors
    /// The same errors as [`next_id`](Self::next_id).
    #[inline]
    pub fn next_id_within(&mut self, max_wait: Duration) -> Result<Id, Error> {
        either!(&mut self.0, it => it.next_id_within(max_wait))
    }

    /// Returns the next ID without waiting.
    ///
    /// # Errors
    /// The same errors as [`Generator::try_next_id`].
    #[inline]
    pub fn try_next_id(&mut self) -> Result<Id, Error> {
        either!(&mut self.0, it => it.try_next_id())
    }

    /// Returns the next ID of the current chunk, or `None` if the chunk is used up or no longer valid. Behaves like
    /// [`flakeid_core::LocalGenerator::poll`].
    #[inline(always)]
    pub fn poll(&mut self) -> Option<Id> {
        either!(&mut self.0, it => it.poll())
    }
}

impl fmt::Debug for LocalGenerator {
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
    fn local_handle_ids_increase_on_fixed_and_leased_nodes() {
        for generator in both() {
            let mut local = generator.local();
            assert_eq!(local.poll(), None);
            let mut ids = vec![local.next_id().unwrap()];
            ids.push(local.next_id_within(Duration::from_secs(1)).unwrap());
            // The call can fail, because other tests in this process can use up the tick's IDs.
            ids.extend(local.try_next_id().ok());
            ids.extend(local.poll());
            assert!(ids.is_sorted_by(|a, b| a < b), "{local:?}: {ids:?}");
        }
    }

    #[test]
    fn closing_a_generator_closes_its_local_handle() {
        for generator in both() {
            let mut local = generator.local();
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
    fn local_handle_keeps_its_generator_alive() {
        for generator in both() {
            let mut local = generator.local();
            drop(generator);
            local.next_id().unwrap();
        }
    }
}
