#![allow(unsafe_code)]

use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use flakeid_core::internal::{Exposed, expose};
use flakeid_core::{Error, ErrorKind, Generator, Id, Layout, Stats};

use super::LeaseUsers;
use crate::keeper::{Lease, LeaseSession};
use flakeid_protocol::keeper::{LeaseStatus, used_up};
use flakeid_protocol::store::CONNECT_TIMEOUT;

/// A function that repeats a failed call on a newer generator within a timeout.
type Retry<'a, T> = dyn FnMut(&Arc<Generator>, Duration) -> Result<T, Error> + 'a;

/// A generator of strictly increasing IDs, whose node is leased from a store. The IDs are unique among all processes
/// that lease from the same namespace, even if clocks are wrong or processes fork, are paused or are killed.
///
/// A background thread renews the lease. While the store is unavailable, the generator issues IDs until the end of the
/// window. After that, each call waits at most `max_wait` for a renewal and then fails with
/// [`LeaseExpired`](ErrorKind::LeaseExpired). If another process takes the node over, the generator leases another
/// node. A forked child leases its own node when it requests its first ID. Dropping the last generator of a lease
/// releases the node.
///
/// Generators in one process with the same store, namespace and options share one lease.
pub(crate) struct LeasedGenerator {
    /// A cached pointer to the generator that was used last, or null after this `LeasedGenerator` has been closed. If
    /// the generator was retired in the meantime, a call on it fails and is repeated on the newest generator.
    current: AtomicPtr<Generator>,
    closed: AtomicBool,
    users: Arc<LeaseUsers>,
}

impl LeasedGenerator {
    /// Creates a generator, and waits at most `timeout` for the lease's first grant. The caller has already counted
    /// the generator as one of `users`.
    pub(crate) fn open(
        users: Arc<LeaseUsers>,
        timeout: Duration,
        open_wait: Duration,
    ) -> Result<Self, Error> {
        let (current, closed) = (AtomicPtr::default(), AtomicBool::new(false));
        // The `LeasedGenerator` is built before the steps that can fail, so that a failure drops it and thereby
        // removes the user.
        let generator = Self { current, closed, users };
        generator.acquire(timeout, open_wait)?;
        Ok(generator)
    }

    /// Waits at most `timeout` for the first grant in this process, or `open_wait` if the store grants nothing for a
    /// while.
    fn acquire(&self, timeout: Duration, open_wait: Duration) -> Result<(), Error> {
        let lease = self.shared_lease();
        // Waiting for one grant or renewal is sufficient, because a process's first grant precedes its first renewal.
        lease.begin_session()?.gain(0, timeout, open_wait, &lease.source)?;
        self.newest().map(drop)
    }

    /// Leases a node in a forked child that has none yet.
    pub(crate) fn settle(&self) -> Result<(), Error> {
        if self.own_generator().is_some() {
            return Ok(());
        }
        if self.is_closed() {
            return Err(Self::ended());
        }
        self.acquire(self.max_wait().saturating_add(CONNECT_TIMEOUT), Duration::ZERO)
    }

    /// Returns the next ID, as [`Generator::next_id`] does. At the end of the window, requests a renewal. Waits at most
    /// `max_wait` in total, including the wait for the renewal.
    ///
    /// # Errors
    /// The same errors as [`Generator::next_id`]; [`LeaseExpired`](ErrorKind::LeaseExpired) if no renewal succeeds
    /// in time; in a forked child, also the errors of [`LeaseBuilder::open`](crate::LeaseBuilder::open).
    #[inline]
    pub(crate) fn next_id(&self) -> Result<Id, Error> {
        match self.at_hand().and_then(Generator::next_id) {
            Ok(id) => Ok(id),
            Err(error) => {
                self.recover(error, self.max_wait(), &mut |g, left| g.next_id_within(left))
            }
        }
    }

    /// Returns the next ID like [`next_id`](Self::next_id), but waits for at most `max_wait`.
    ///
    /// # Errors
    /// The same errors as [`next_id`](Self::next_id).
    #[inline]
    pub(crate) fn next_id_within(&self, max_wait: Duration) -> Result<Id, Error> {
        match self.at_hand().and_then(|g| g.next_id_within(max_wait)) {
            Ok(id) => Ok(id),
            Err(error) => self.recover(error, max_wait, &mut |g, left| g.next_id_within(left)),
        }
    }

    /// Returns the next ID without waiting, as [`Generator::try_next_id`] does.
    ///
    /// # Errors
    /// The same errors as [`next_id`](Self::next_id), but returned without waiting.
    #[inline]
    pub(crate) fn try_next_id(&self) -> Result<Id, Error> {
        match self.at_hand().and_then(Generator::try_next_id) {
            Ok(id) => Ok(id),
            Err(error) => self.recover(error, Duration::ZERO, &mut |g, _| g.try_next_id()),
        }
    }

    /// Fills `ids` from the beginning and returns the number of IDs written, as [`Generator::fill`] does.
    ///
    /// # Errors
    /// The same errors as [`next_id`](Self::next_id), but only if no ID was written.
    pub(crate) fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.fill_within(ids, self.max_wait())
    }

    /// Fills `ids` like [`fill`](Self::fill), but waits for at most `max_wait` whenever no ID is available.
    ///
    /// # Errors
    /// The same errors as [`fill`](Self::fill).
    pub(crate) fn fill_within(&self, ids: &mut [Id], max_wait: Duration) -> Result<usize, Error> {
        let mut filled = 0;
        while filled < ids.len() {
            let rest = &mut ids[filled..];
            match self.run(max_wait, |g, left| g.fill_within(rest, left)) {
                Ok(count) => filled += count,
                Err(error) if filled == 0 => return Err(error),
                // The IDs written so far have been issued and must be returned. The next call will report the error.
                Err(_) => break,
            }
        }
        Ok(filled)
    }

    /// Fills `ids` like [`fill`](Self::fill), but never waits.
    ///
    /// # Errors
    /// The same errors as [`fill`](Self::fill), but returned without waiting.
    pub(crate) fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.run(Duration::ZERO, |g, _| g.try_fill(ids))
    }

    /// Returns the next `n` IDs, in order. Returns fewer IDs, but at least one, if no further ID becomes available
    /// within `max_wait`.
    ///
    /// # Errors
    /// The same errors as [`fill`](Self::fill).
    pub(crate) fn next_ids(&self, n: usize) -> Result<Vec<Id>, Error> {
        self.next_ids_within(n, self.max_wait())
    }

    /// Returns the next `n` IDs like [`next_ids`](Self::next_ids), but waits for at most `max_wait` whenever no ID is
    /// available.
    ///
    /// # Errors
    /// The same errors as [`fill`](Self::fill).
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

    /// Closes this generator, so that every later call fails with [`Closed`](ErrorKind::Closed). If no other generator
    /// in the process shares the lease, releases the node and waits at most one second for the release. A repeated
    /// call only waits for the release that the first call began. Dropping the generator has the same effect.
    pub(crate) fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            self.users.has_left();
        } else {
            self.current.store(ptr::null_mut(), Ordering::Release);
            self.users.leave();
        }
    }

    /// Closes this generator like [`close`](Self::close), but releases the node without lowering its fence, as if every
    /// tick in the window had been used. The next grant of the node begins at the fence, which can be a full window
    /// ahead of the clock.
    ///
    /// Use this method if a generator from another library uses the node number, because flakeid cannot determine the
    /// last tick in that generator's IDs.
    pub(crate) fn close_at_fence(&self) {
        self.shared_lease().keep_fence();
        self.close();
    }

    /// The generator's current node, or the smallest one if the generator has several nodes, or 0 in a forked child that
    /// has no node yet. The node changes when another process takes over the current node.
    #[must_use]
    pub(crate) fn node(&self) -> u64 {
        self.own_generator().map_or(0, |generator| generator.node())
    }

    /// The generator's current nodes in increasing order: one node, or as many nodes as
    /// [`LeaseBuilder::node_count`](crate::LeaseBuilder::node_count) requested, or none in a forked child that has no
    /// node yet.
    #[must_use]
    pub(crate) fn nodes(&self) -> Vec<u64> {
        self.own_generator().map(|generator| generator.nodes().to_vec()).unwrap_or_default()
    }

    /// The layout of the IDs.
    #[must_use]
    pub(crate) fn layout(&self) -> &Layout {
        &self.shared_lease().options.layout
    }

    /// The longest time that a call waits for an ID.
    #[must_use]
    pub(crate) fn max_wait(&self) -> Duration {
        self.shared_lease().options.max_wait
    }

    /// The status of the lease. In a forked child, the status is empty until the child leases a node.
    #[must_use]
    pub(crate) fn lease(&self) -> LeaseStatus {
        self.shared_lease().sessions.ours().map(LeaseSession::status).unwrap_or_default()
    }

    /// The time until the clock allows the next ID.
    pub(crate) fn wait_for_clock(&self) -> Duration {
        let generator = self.shared_lease().generator();
        generator.map(|generator| generator.wait_for_clock()).unwrap_or_default()
    }

    /// The counters of waits and clock rollbacks since the node was acquired.
    #[must_use]
    pub(crate) fn stats(&self) -> Stats {
        let generator = self.shared_lease().generator();
        generator.map(|generator| generator.stats()).unwrap_or_default()
    }

    /// Returns the addresses and numbers with which a binding repeats the fast path of the generator that was used
    /// last. The addresses are valid as long as this `LeasedGenerator` exists, because the lease keeps its generators.
    pub(crate) fn exposed(&self) -> Result<Exposed, Error> {
        self.at_hand().map(expose)
    }

    /// The number of nodes that are still reserved after [`close`](Self::close).
    pub(crate) fn unreleased_nodes(&self) -> usize {
        self.shared_lease().sessions.ours().map_or(0, LeaseSession::unreleased_nodes)
    }

    /// Whether [`close`](Self::close) was called.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// The newest generator that belongs to this process. A forked child's own generator does not exist before the
    /// child's first grant.
    fn own_generator(&self) -> Option<&Arc<Generator>> {
        let lease = self.shared_lease();
        let has_node = lease.sessions.ours().is_some_and(|session| session.gains() > 0);
        lease.generator().filter(|_| has_node)
    }

    fn shared_lease(&self) -> &Arc<Lease> {
        self.users.lease()
    }

    #[inline]
    fn at_hand(&self) -> Result<&Generator, Error> {
        // SAFETY: the pointer is null or points to a generator in the lease's list, which is not freed before
        // `self.users`. The load uses `Acquire`, so that a thread that sees the pointer also sees the generator's
        // contents.
        unsafe { self.current.load(Ordering::Acquire).as_ref() }.ok_or_else(Self::ended)
    }

    /// Runs `call` on the generator that was used last or, if that generator has ended, on a newer generator. Only
    /// methods that return several IDs use this function. Methods that return one ID contain the same code inline,
    /// which saves ten instructions.
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

    /// Returns the newest generator, which always exists after the first grant, and caches a pointer to it.
    fn newest(&self) -> Result<&Arc<Generator>, Error> {
        let newest = self.shared_lease().generator().ok_or_else(Self::ended)?;
        // `close` sets `closed` before it sets the pointer to null. The swap also reads the old pointer, with `Acquire`
        // ordering. If the swap reads the null pointer from `close`, the check below therefore reads `closed` as true.
        self.current.swap(Arc::as_ptr(newest).cast_mut(), Ordering::AcqRel);
        if self.is_closed() {
            self.current.store(ptr::null_mut(), Ordering::Release);
        }
        Ok(newest)
    }

    /// Repeats a call that failed at the end of a window or a tenure, or in a forked child. Waits for a grant or a
    /// renewal if necessary. Returns all other errors unchanged.
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
            // The number of grants and renewals is read before the call is repeated, so that a grant during the call is
            // not missed.
            let gains = session.gains();
            error = match retry(self.newest()?, left()) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            self.gain(session, gains, error.kind(), left())?;
        }
    }

    /// Returns the pause after which a caller that must not block its thread should repeat a call that failed with
    /// `error`, as [`Generator::retry_pause`](crate::Generator::retry_pause) does.
    pub(crate) fn retry_pause(&self, error: &Error, waited: Duration) -> Option<Duration> {
        match error.kind() {
            ErrorKind::SequenceExhausted | ErrorKind::ClockRollback => {
                let generator = self.shared_lease().generator()?;
                pause_for_clock(generator, error, self.max_wait().saturating_sub(waited))
            }
            kind if kind.is_retryable() => {
                self.shared_lease().sessions.ours()?.pause(waited, self.max_wait())
            }
            _ => None,
        }
    }

    /// Waits until the session's number of grants and renewals exceeds `since`, if an error of this `kind` requires a
    /// new grant or renewal.
    fn gain(
        &self,
        session: &LeaseSession,
        since: u64,
        kind: ErrorKind,
        timeout: Duration,
    ) -> Result<(), Error> {
        let timeout = match kind {
            // A forked child must first connect to the store and lease a node, so its timeout is extended by
            // `CONNECT_TIMEOUT`. A timeout of zero is not extended, because the call must not wait.
            ErrorKind::Forked if !timeout.is_zero() => timeout.saturating_add(CONNECT_TIMEOUT),
            ErrorKind::LeaseExpired | ErrorKind::Closed | ErrorKind::Forked => timeout,
            _ => return Ok(()),
        };
        session.gain(since, timeout, Duration::ZERO, &self.shared_lease().source).map_err(|cause| {
            match kind {
                ErrorKind::LeaseExpired => used_up(&cause),
                _ => cause,
            }
        })
    }
}

/// Returns the time that the clock needs to reach the next usable tick, or `None` if `generator` would not wait for the
/// clock after `error`, or would have to wait longer than `left`.
pub(crate) fn pause_for_clock(
    generator: &Generator,
    error: &Error,
    left: Duration,
) -> Option<Duration> {
    let pause = error.retry_after()?.max(Duration::from_millis(1));
    (pause <= left && generator.would_wait(error)).then_some(pause)
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
