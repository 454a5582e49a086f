use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{Error, Generator, Id, LocalGenerator};

use super::LeasedGenerator;

/// One thread's share of a [`LeasedGenerator`], as [`LocalGenerator`] is of a fixed node's: blocks
/// die with their tick, with the window, with the node and with a fork, and the users goes on with
/// the next.
pub(crate) struct LeasedLocalGenerator {
    leased: Arc<LeasedGenerator>,
    /// On the tenure that was used last; none before the first ID.
    local: Option<LocalGenerator<Arc<Generator>>>,
}

impl LeasedLocalGenerator {
    /// A handle on `leased`.
    pub(crate) const fn new(leased: Arc<LeasedGenerator>) -> Self {
        Self { leased, local: None }
    }

    /// The next ID, as [`LocalGenerator::next_id`].
    ///
    /// # Errors
    /// As [`LeasedGenerator::next_id`].
    #[inline]
    pub(crate) fn next_id(&mut self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.next_id_slowly(self.leased.max_wait()),
        }
    }

    /// As [`next_id`](Self::next_id), waiting at most `max_wait`.
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id).
    #[inline]
    pub(crate) fn next_id_within(&mut self, max_wait: Duration) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.next_id_slowly(max_wait),
        }
    }

    /// The next ID, without ever waiting.
    ///
    /// # Errors
    /// As [`LeasedGenerator::try_next_id`].
    #[inline]
    pub(crate) fn try_next_id(&mut self) -> Result<Id, Error> {
        match self.poll() {
            Some(id) => Ok(id),
            None => self.try_next_id_slowly(),
        }
    }

    /// The next ID of the block that was reserved last, as [`LocalGenerator::poll`].
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

    /// To have none is as good as to have one that has ended. The tenure's generator may outlive
    /// this one's user, because others share the lease.
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
