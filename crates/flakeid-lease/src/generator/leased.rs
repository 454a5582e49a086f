#![allow(unsafe_code)]

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use flakeid_core::{Error, ErrorKind, Generator, Id, Layout, Stats};

use super::tenure::Tenure;
use super::{LeaseBuilder, Shared};
use crate::keeper::{LeaseStatus, Life, RETRY};
use crate::store::{CONNECT_TIMEOUT, Location};

/// How long giving a node back may take when a generator is dropped.
const RELEASE_PATIENCE: Duration = Duration::from_secs(1);

/// The end of a lease: dropped with the last generator that shares it.
pub(super) struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // A forked child that never made an ID has no life here, and its parent's is not its own.
        if let Some(life) = self.shared.lives.ours() {
            life.close(RELEASE_PATIENCE);
        }
    }
}

/// Makes the IDs of a node that is leased from a store: unique among all processes that lease from
/// that namespace, whatever their clocks, forks, pauses and kills, and strictly increasing.
///
/// A thread of its own renews the lease. While the store is away IDs go on until the end of the
/// window; then calls wait at most `max_wait` and fail with
/// [`LeaseExpired`](ErrorKind::LeaseExpired). If another process takes the node, this one takes
/// another and goes on. A forked child leases a node of its own at its first ID. Dropping the last
/// generator of a lease gives the node back.
///
/// Generators of one process with the same store, namespace and options share one lease.
pub struct LeasedGenerator {
    /// The tenure used last: at hand, because every ID needs it. An older one than the newest is
    /// retired, so that using it fails and shows the newer one.
    current: AtomicPtr<Tenure>,
    handle: Arc<Handle>,
}

impl LeasedGenerator {
    /// Starts a lease from the store at a URL, with options.
    ///
    /// # Errors
    /// [`InvalidOption`](ErrorKind::InvalidOption) for a URL of no known kind of store.
    pub fn builder(url: &str, layout: Layout) -> Result<LeaseBuilder, Error> {
        Ok(LeaseBuilder::at(Location::parse(url)?, layout))
    }

    pub(super) fn of(handle: Arc<Handle>) -> Self {
        let current = AtomicPtr::new(handle.shared.tenures.newest());
        Self { current, handle }
    }

    /// The next ID, as [`Generator::next_id`]. At the end of the window it asks for a renewal and
    /// waits for it, at most `max_wait` in all.
    ///
    /// # Errors
    /// As [`Generator::next_id`]; [`LeaseExpired`](ErrorKind::LeaseExpired) if there was no renewal
    /// in time; in a forked child also what [`LeaseBuilder::open`] may fail with.
    #[inline]
    pub fn next_id(&self) -> Result<Id, Error> {
        match self.generator().next_id() {
            Ok(id) => Ok(id),
            Err(error) => {
                self.recover(error, self.max_wait(), &mut |g, left| g.next_id_within(left))
            }
        }
    }

    /// As [`next_id`](Self::next_id), waiting at most `max_wait`.
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id).
    #[inline]
    pub fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        match self.generator().next_id_within(max_wait) {
            Ok(id) => Ok(id),
            Err(error) => self.recover(error, max_wait, &mut |g, left| g.next_id_within(left)),
        }
    }

    /// The next ID, without ever waiting, as [`Generator::try_next_id`].
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id), at once.
    #[inline]
    pub fn try_next_id(&self) -> Result<Id, Error> {
        match self.generator().try_next_id() {
            Ok(id) => Ok(id),
            Err(error) => self.recover(error, Duration::ZERO, &mut |g, _| g.try_next_id()),
        }
    }

    /// Fills `ids` from its beginning, as [`Generator::fill`].
    ///
    /// # Errors
    /// As [`next_id`](Self::next_id), but only if there was no ID at all.
    pub fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.fill_within(ids, self.max_wait())
    }

    /// As [`fill`](Self::fill), each time waiting at most `max_wait`.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub fn fill_within(&self, ids: &mut [Id], max_wait: Duration) -> Result<usize, Error> {
        let mut filled = 0;
        while filled < ids.len() {
            let rest = &mut ids[filled..];
            let count = match self.generator().fill_within(rest, max_wait) {
                Ok(count) => Ok(count),
                Err(error) => {
                    self.recover(error, max_wait, &mut |g, left| g.fill_within(rest, left))
                }
            };
            match count {
                Ok(count) => filled += count,
                Err(error) if filled == 0 => return Err(error),
                // These IDs are issued; the next call meets the obstacle again.
                Err(_) => break,
            }
        }
        Ok(filled)
    }

    /// As [`fill`](Self::fill), without ever waiting.
    ///
    /// # Errors
    /// As [`fill`](Self::fill), at once.
    pub fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        match self.generator().try_fill(ids) {
            Ok(count) => Ok(count),
            Err(error) => self.recover(error, Duration::ZERO, &mut |g, _| g.try_fill(ids)),
        }
    }

    /// The next `n` IDs, in order; fewer, but at least one, if an obstacle outlasted `max_wait`.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub fn next_ids(&self, n: usize) -> Result<Vec<Id>, Error> {
        self.next_ids_within(n, self.max_wait())
    }

    /// As [`next_ids`](Self::next_ids), each time waiting at most `max_wait`.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub fn next_ids_within(&self, n: usize, max_wait: Duration) -> Result<Vec<Id>, Error> {
        let mut ids = Vec::new();
        while ids.len() < n {
            let wanted = n - ids.len();
            let more = match self.generator().next_ids_within(wanted, max_wait) {
                Ok(more) => Ok(more),
                Err(error) => {
                    self.recover(error, max_wait, &mut |g, left| g.next_ids_within(wanted, left))
                }
            };
            match more {
                Ok(more) if ids.is_empty() => ids = more,
                Ok(more) => ids.extend(more),
                Err(error) if ids.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(ids)
    }

    /// Gives the node back if no other generator of the process shares the lease, and waits for
    /// that up to a second; dropping it does the same.
    pub fn close(self) {
        drop(self);
    }

    /// The node in the IDs now. It changes when another process takes it.
    #[must_use]
    pub fn node(&self) -> u64 {
        self.newest().node()
    }

    /// The layout of the IDs.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.shared().terms.layout
    }

    /// How the lease stands. In a forked child that has no lease of its own yet, nothing is known.
    #[must_use]
    pub fn lease(&self) -> LeaseStatus {
        self.shared().lives.ours().map(Life::status).unwrap_or_default()
    }

    /// What happened besides issuing IDs since the node was acquired.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.newest().stats()
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.handle.shared
    }

    fn max_wait(&self) -> Duration {
        self.shared().terms.max_wait
    }

    #[inline]
    fn generator(&self) -> &Generator {
        // SAFETY: taken from the lease's list, which never loses one before `self.handle` goes.
        // Acquire: who sees a tenure sees it whole.
        unsafe { &(*self.current.load(Ordering::Acquire)).generator }
    }

    fn newest(&self) -> &Generator {
        self.current.store(self.shared().tenures.newest(), Ordering::Release);
        self.generator()
    }

    /// What stopped a generator may be the end of its window, of its tenure, or of the process it
    /// was made in; then there is, or will be, another.
    #[cold]
    fn recover<T>(
        &self,
        mut error: Error,
        max_wait: Duration,
        retry: &mut dyn FnMut(&Generator, Duration) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let deadline = Instant::now().checked_add(max_wait);
        let left =
            || deadline.map_or(max_wait, |end| end.saturating_duration_since(Instant::now()));
        loop {
            let kind = error.kind();
            if !matches!(kind, ErrorKind::LeaseExpired | ErrorKind::Closed | ErrorKind::Forked) {
                return Err(error);
            }
            let life = self.shared().lives.begin(self.shared())?;
            // Noted before the generator is tried: what is gained after that is not missed.
            let gains = life.gains();
            error = match retry(self.newest(), left()) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            gain(life, gains, error.kind(), left())?;
        }
    }
}

/// Waits until there is another generator, or a longer window, than after `since` gains.
fn gain(life: &Life, since: u64, kind: ErrorKind, patience: Duration) -> Result<(), Error> {
    let patience = match kind {
        // A forked child begins from nothing: it may take as long as its parent had to begin,
        // unless it must not wait at all.
        ErrorKind::Forked if !patience.is_zero() => patience.saturating_add(CONNECT_TIMEOUT),
        ErrorKind::LeaseExpired | ErrorKind::Closed | ErrorKind::Forked => patience,
        _ => return Ok(()),
    };
    life.gain(since, patience).map_err(|cause| match kind {
        ErrorKind::LeaseExpired => Error::new(
            kind,
            &format!("the window of ticks is used up and was not renewed: {cause}"),
            // Whatever it was, the keeper goes on asking.
            cause.retry_after().or(Some(RETRY)),
        ),
        _ => cause,
    })
}

impl fmt::Debug for LeasedGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeasedGenerator")
            .field("namespace", &self.shared().terms.namespace)
            .field("generator", self.newest())
            .field("lease", &self.lease())
            .finish_non_exhaustive()
    }
}
