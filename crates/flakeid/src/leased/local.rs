use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{Error, Generator, Id, LocalGenerator};

use super::LeasedGenerator;

/// A local handle that takes chunks of IDs from a [`LeasedGenerator`], like a [`LocalGenerator`] on a fixed node. A
/// chunk ends when its tick or window ends, when the lease changes its node, or when the process forks. The handle then
/// takes another chunk.
pub(crate) struct LeasedLocalGenerator {
    leased: Arc<LeasedGenerator>,
    /// The handle to the generator that was used last, or `None` before the first ID.
    local: Option<LocalGenerator<Arc<Generator>>>,
}

impl LeasedLocalGenerator {
    /// Creates a handle to `leased`.
    pub(crate) const fn new(leased: Arc<LeasedGenerator>) -> Self {
        Self { leased, local: None }
    }

    /// Returns the next ID, as [`LocalGenerator::next_id`] does.
    ///
    /// # Errors
    /// The same errors as [`LeasedGenerator::next_id`].
    #[inline]
    pub(crate) fn next_id(&mut self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.next_id_slowly(self.leased.max_wait()),
        }
    }

    /// Returns the next ID like [`next_id`](Self::next_id), but waits for at most `max_wait`.
    ///
    /// # Errors
    /// The same errors as [`next_id`](Self::next_id).
    #[inline]
    pub(crate) fn next_id_within(&mut self, max_wait: Duration) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.next_id_slowly(max_wait),
        }
    }

    /// Returns the next ID without waiting.
    ///
    /// # Errors
    /// The same errors as [`LeasedGenerator::try_next_id`].
    #[inline]
    pub(crate) fn try_next_id(&mut self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.try_next_id_slowly(),
        }
    }

    /// Returns the next ID from the current chunk, or `None` if the chunk is used up or no longer valid. Behaves like
    /// [`LocalGenerator::poll`].
    #[inline]
    pub(crate) fn poll(&mut self) -> Option<Id> {
        if self.leased.is_closed() {
            return None;
        }
        self.local.as_mut()?.poll()
    }

    #[cold]
    #[inline(never)]
    fn next_id_slowly(&mut self, max_wait: Duration) -> Result<Id, Error> {
        match self.on_hand().and_then(|local| local.next_id_within(max_wait)) {
            Ok(id) => Ok(id),
            Err(error) => self.recover(error, max_wait, LocalGenerator::next_id_within),
        }
    }

    #[cold]
    #[inline(never)]
    fn try_next_id_slowly(&mut self) -> Result<Id, Error> {
        match self.on_hand().and_then(LocalGenerator::try_next_id) {
            Ok(id) => Ok(id),
            Err(error) => self.recover(error, Duration::ZERO, |local, _| local.try_next_id()),
        }
    }

    /// Returns the handle that was used last. Fails with `Closed` if no handle was created yet, or if the leased
    /// generator is closed. The leased generator must be checked, because the handle's own generator stays open while
    /// other users share the lease.
    fn on_hand(&mut self) -> Result<&mut LocalGenerator<Arc<Generator>>, Error> {
        let local = self.local.as_mut().filter(|_| !self.leased.is_closed());
        local.ok_or_else(LeasedGenerator::ended)
    }

    fn recover(
        &mut self,
        error: Error,
        max_wait: Duration,
        next_id: fn(&mut LocalGenerator<Arc<Generator>>, Duration) -> Result<Id, Error>,
    ) -> Result<Id, Error> {
        let local = &mut self.local;
        self.leased.recover(error, max_wait, &mut |generator, left| {
            next_id(local.insert(LocalGenerator::new(Arc::clone(generator))), left)
        })
    }
}

impl fmt::Debug for LeasedLocalGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeasedLocalGenerator")
            .field("generator", &*self.leased)
            .finish_non_exhaustive()
    }
}
