#![allow(unsafe_code)]

use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use flakeid_core::{Error, ErrorKind, Generator, Id, Layout, Stats};

use super::LeaseUsers;
use crate::keeper::{Lease, LeaseSession};
use flakeid_protocol::keeper::{LeaseStatus, used_up};
use flakeid_protocol::store::CONNECT_TIMEOUT;

/// A call that is tried on a newer generator with a timeout.
type Retry<'a, T> = dyn FnMut(&Arc<Generator>, Duration) -> Result<T, Error> + 'a;

/// Generates the IDs of a node that is leased from a store: strictly increasing, and unique among all processes that
/// lease from that namespace, whatever their clocks, forks, pauses and kills do.
///
/// A thread renews the lease. While the store is unavailable, the generator issues IDs until the end of the window;
/// then calls wait at most `max_wait` and fail with [`LeaseExpired`](ErrorKind::LeaseExpired). If another process
/// takes over the node, the generator leases another. A forked child leases its own node at its first ID. Dropping
/// the last generator of a lease releases the node.
///
/// Generators of one process with the same store, namespace and options share one lease.
pub(crate) struct LeasedGenerator {
    /// The last used generator of a tenure, because every ID needs it. Generators older than the newest are retired,
    /// so a call of them fails and leads to the newest. Null once this is closed.
    current: AtomicPtr<Generator>,
    closed: AtomicBool,
    users: Arc<LeaseUsers>,
}

impl LeasedGenerator {
    /// Adds a user of a lease, whom `users` already counts, and waits for the lease's first grant.
    pub(crate) fn open(users: Arc<LeaseUsers>, timeout: Duration) -> Result<Self, Error> {
        let (current, closed) = (AtomicPtr::default(), AtomicBool::new(false));
        // Built first, so that its drop removes the user if anything below fails.
        let generator = Self { current, closed, users };
        let lease = generator.shared_lease();
        // Any grant of this process is enough, and renewals follow a grant.
        lease.begin_session()?.gain(0, timeout, &lease.source)?;
        generator.newest()?;
        Ok(generator)
    }

    /// Returns the next ID, like [`Generator::next_id`]. At the end of the window it requests a renewal and waits for
    /// it, at most `max_wait` in all.
    ///
    /// # Errors
    /// Those of [`Generator::next_id`]; [`LeaseExpired`](ErrorKind::LeaseExpired) without a renewal in time; in a
    /// forked child also those of [`LeaseBuilder::open`](crate::LeaseBuilder::open).
    #[inline]
    pub(crate) fn next_id(&self) -> Result<Id, Error> {
        match self.at_hand().and_then(Generator::next_id) {
            Ok(id) => Ok(id),
            Err(error) => {
                self.recover(error, self.max_wait(), &mut |g, left| g.next_id_within(left))
            }
        }
    }

    /// As [`next_id`](Self::next_id), waiting at most `max_wait`.
    ///
    /// # Errors
    /// Those of [`next_id`](Self::next_id).
    #[inline]
    pub(crate) fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        match self.at_hand().and_then(|g| g.next_id_within(max_wait)) {
            Ok(id) => Ok(id),
            Err(error) => self.recover(error, max_wait, &mut |g, left| g.next_id_within(left)),
        }
    }

    /// Returns the next ID and never waits, like [`Generator::try_next_id`].
    ///
    /// # Errors
    /// Those of [`next_id`](Self::next_id), returned at once.
    #[inline]
    pub(crate) fn try_next_id(&self) -> Result<Id, Error> {
        match self.at_hand().and_then(Generator::try_next_id) {
            Ok(id) => Ok(id),
            Err(error) => self.recover(error, Duration::ZERO, &mut |g, _| g.try_next_id()),
        }
    }

    /// Fills `ids` from its beginning, like [`Generator::fill`].
    ///
    /// # Errors
    /// Those of [`next_id`](Self::next_id), but only if no ID was written.
    pub(crate) fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.fill_within(ids, self.max_wait())
    }

    /// Does the same as [`fill`](Self::fill), with at most `max_wait` for each wait.
    ///
    /// # Errors
    /// Those of [`fill`](Self::fill).
    pub(crate) fn fill_within(&self, ids: &mut [Id], max_wait: Duration) -> Result<usize, Error> {
        let mut filled = 0;
        while filled < ids.len() {
            let rest = &mut ids[filled..];
            match self.run(max_wait, |g, left| g.fill_within(rest, left)) {
                Ok(count) => filled += count,
                Err(error) if filled == 0 => return Err(error),
                // These IDs are already issued, and the next call meets the obstacle again.
                Err(_) => break,
            }
        }
        Ok(filled)
    }

    /// Does the same as [`fill`](Self::fill) and never waits.
    ///
    /// # Errors
    /// Those of [`fill`](Self::fill), returned at once.
    pub(crate) fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.run(Duration::ZERO, |g, _| g.try_fill(ids))
    }

    /// Returns the next `n` IDs in order, or fewer, but at least one, if an obstacle outlasted `max_wait`.
    ///
    /// # Errors
    /// Those of [`fill`](Self::fill).
    pub(crate) fn next_ids(&self, n: usize) -> Result<Vec<Id>, Error> {
        self.next_ids_within(n, self.max_wait())
    }

    /// Does the same as [`next_ids`](Self::next_ids), with at most `max_wait` for each wait.
    ///
    /// # Errors
    /// Those of [`fill`](Self::fill).
    pub(crate) fn next_ids_within(&self, n: usize, max_wait: Duration) -> Result<Vec<Id>, Error> {
        let mut ids = Vec::new();
        while ids.len() < n {
            let wanted = n - ids.len();
            match self.run(max_wait, |g, left| g.next_ids_within(wanted, left)) {
                Ok(more) if ids.is_empty() => ids = more,
                Ok(more) => ids.extend(more),
                Err(error) if ids.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(ids)
    }

    /// Ends this generator: every later call fails with [`Closed`](ErrorKind::Closed). Releases the node if no other
    /// generator of the process shares the lease, and waits up to a second for the release. A repeated call only
    /// waits for the release of the first; dropping the generator does the same.
    pub(crate) fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            self.users.has_left();
        } else {
            self.current.store(ptr::null_mut(), Ordering::Release);
            self.users.leave();
        }
    }

    /// Ends this generator like [`close`](Self::close) and releases the node without lowering its fence, as if every
    /// tick of the window had been used. The next grant of the node begins at the fence, which can be a window ahead
    /// of the clock.
    ///
    /// Use it for a node number that was passed to a generator of another library, because this process does not see
    /// that generator's IDs and cannot know its last tick.
    pub(crate) fn close_at_fence(&self) {
        self.shared_lease().keep_fence();
        self.close();
    }

    /// The current node of the IDs, the smallest of several. It changes when another process takes over the node.
    #[must_use]
    pub(crate) fn node(&self) -> u64 {
        self.shared_lease().generator().map_or(0, |generator| generator.node())
    }

    /// The current nodes of the IDs in increasing order: one, or as many as
    /// [`LeaseBuilder::node_count`](crate::LeaseBuilder::node_count) requested.
    #[must_use]
    pub(crate) fn nodes(&self) -> Vec<u64> {
        let generator = self.shared_lease().generator();
        generator.map(|generator| generator.nodes().to_vec()).unwrap_or_default()
    }

    /// The layout of the IDs.
    #[must_use]
    pub(crate) fn layout(&self) -> &Layout {
        &self.shared_lease().options.layout
    }

    /// The maximum time for which a call waits for an ID.
    #[must_use]
    pub(crate) fn max_wait(&self) -> Duration {
        self.shared_lease().options.max_wait
    }

    /// The state of the lease. It is empty in a forked child that has no lease of its own yet.
    #[must_use]
    pub(crate) fn lease(&self) -> LeaseStatus {
        self.shared_lease().sessions.ours().map(LeaseSession::status).unwrap_or_default()
    }

    /// The counters of waits and clock rollbacks since the node was acquired.
    #[must_use]
    pub(crate) fn stats(&self) -> Stats {
        let generator = self.shared_lease().generator();
        generator.map(|generator| generator.stats()).unwrap_or_default()
    }

    /// Whether [`close`](Self::close) was called.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    fn shared_lease(&self) -> &Arc<Lease> {
        self.users.lease()
    }

    #[inline]
    fn at_hand(&self) -> Result<&Generator, Error> {
        // SAFETY: the pointer is null or from the lease's list, which keeps its generators as long as `self.users`
        // lives. Acquire, so that a thread that sees a generator sees its content.
        unsafe { self.current.load(Ordering::Acquire).as_ref() }.ok_or_else(Self::ended)
    }

    /// Calls the last used generator, or its successor if it has ended. Only calls of many IDs use it; calls of one
    /// ID contain the same code, which saves ten instructions.
    fn run<T>(
        &self,
        max_wait: Duration,
        mut call: impl FnMut(&Generator, Duration) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.at_hand().and_then(|generator| call(generator, max_wait)) {
            Ok(done) => Ok(done),
            Err(error) => self.recover(error, max_wait, &mut |newer, left| call(newer, left)),
        }
    }

    #[cold]
    pub(crate) fn ended() -> Error {
        Error::new(ErrorKind::Closed, "the lease was closed", None)
    }

    /// Returns the newest generator, which exists from the first grant on.
    fn newest(&self) -> Result<&Arc<Generator>, Error> {
        let newest = self.shared_lease().generator().ok_or_else(Self::ended)?;
        // A swap, because it also reads the replaced pointer, and null means that the flag is set.
        self.current.swap(Arc::as_ptr(newest).cast_mut(), Ordering::AcqRel);
        if self.is_closed() {
            self.current.store(ptr::null_mut(), Ordering::Release);
        }
        Ok(newest)
    }

    /// Continues after a generator failed at the end of its window or its tenure, or in a forked child: another
    /// generator exists or will exist.
    #[cold]
    pub(crate) fn recover<T>(
        &self,
        mut error: Error,
        max_wait: Duration,
        retry: &mut Retry<'_, T>,
    ) -> Result<T, Error> {
        let deadline = Instant::now().checked_add(max_wait);
        let left =
            || deadline.map_or(max_wait, |end| end.saturating_duration_since(Instant::now()));
        loop {
            let kind = error.kind();
            if !matches!(kind, ErrorKind::LeaseExpired | ErrorKind::Closed | ErrorKind::Forked) {
                return Err(error);
            }
            if self.is_closed() {
                return Err(Self::ended());
            }
            let session = self.shared_lease().begin_session()?;
            // Read before the generator is tried, so that no later grant is missed.
            let gains = session.gains();
            error = match retry(self.newest()?, left()) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            self.gain(session, gains, error.kind(), left())?;
        }
    }

    /// Waits until there is another generator or a longer window than after `since` gains.
    fn gain(
        &self,
        session: &LeaseSession,
        since: u64,
        kind: ErrorKind,
        timeout: Duration,
    ) -> Result<(), Error> {
        let timeout = match kind {
            // A forked child must connect and lease, so it gets the time that its parent had to begin, unless it must
            // not wait at all.
            ErrorKind::Forked if !timeout.is_zero() => timeout.saturating_add(CONNECT_TIMEOUT),
            ErrorKind::LeaseExpired | ErrorKind::Closed | ErrorKind::Forked => timeout,
            _ => return Ok(()),
        };
        session.gain(since, timeout, &self.shared_lease().source).map_err(|cause| match kind {
            ErrorKind::LeaseExpired => used_up(&cause),
            _ => cause,
        })
    }
}

impl Drop for LeasedGenerator {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for LeasedGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeasedGenerator")
            .field("namespace", &self.shared_lease().options.namespace)
            .field("generator", &self.shared_lease().generator())
            .field("lease", &self.lease())
            .finish_non_exhaustive()
    }
}
