//! Leases of this process. Several generators can share a lease, which counts its users.

mod builder;
mod lease;

pub use builder::{LeaseBuilder, auto, lease};
pub use lease::Lease;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use flakeid_core::internal::{Tenure, TenureSource};
use flakeid_core::{Error, ErrorKind};

use crate::keeper::{KeptLease, LeaseSession};
use flakeid_protocol::keeper::used_up;
use flakeid_protocol::store::CONNECT_TIMEOUT;
use flakeid_stores::fork_gate;

/// The longest wait for the release of the node when the last generator of a lease is closed.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// A lease, with the number of generators that use it. The last generator to leave releases the node.
pub(crate) struct LeaseUsers {
    lease: Arc<KeptLease>,
    users: AtomicUsize,
}

impl LeaseUsers {
    /// Creates the shared lease with one user.
    pub(crate) fn new(lease: Arc<KeptLease>) -> Self {
        Self { lease, users: AtomicUsize::new(1) }
    }

    pub(crate) fn lease(&self) -> &Arc<KeptLease> {
        &self.lease
    }

    /// Adds a user. Returns `false` if the last user has already left, which ended the lease.
    fn join(&self) -> bool {
        self.users
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |users| {
                (users > 0).then_some(users + 1)
            })
            .is_ok()
    }

    /// Waits at most `timeout` for the first grant in this process, or `open_wait` if the store grants nothing for a
    /// while.
    fn acquire(&self, timeout: Duration, open_wait: Duration) -> Result<&Arc<Tenure>, Error> {
        // Waiting for one grant or renewal is sufficient, because a process's first grant precedes its first renewal.
        self.lease.begin_session()?.gain(0, timeout, open_wait, &self.lease.source)?;
        self.lease.tenure().ok_or_else(LeaseSession::closed)
    }

    fn release(&self) {
        if let Some(session) = self.lease.sessions.ours() {
            session.close(RELEASE_TIMEOUT);
        }
    }
}

impl TenureSource for LeaseUsers {
    fn newest(&self) -> Option<&Arc<Tenure>> {
        self.lease.tenure()
    }

    fn has_node(&self) -> bool {
        self.lease.sessions.ours().is_some_and(|session| session.gains() > 0)
    }

    fn gains(&self) -> Result<u64, Error> {
        self.lease.begin_session().map(LeaseSession::gains)
    }

    fn gain(&self, since: u64, kind: ErrorKind, timeout: Duration) -> Result<(), Error> {
        let timeout = match kind {
            // A forked child must first connect to the store and lease a node, so its timeout is extended by
            // `CONNECT_TIMEOUT`. A timeout of zero is not extended, because the call must not wait.
            ErrorKind::Forked if !timeout.is_zero() => timeout.saturating_add(CONNECT_TIMEOUT),
            _ => timeout,
        };
        let Some(session) = self.lease.sessions.ours() else { return Ok(()) };
        let gained = session.gain(since, timeout, Duration::ZERO, &self.lease.source);
        gained.map_err(|cause| match kind {
            ErrorKind::LeaseExpired => used_up(&cause),
            _ => cause,
        })
    }

    fn pause(&self, waited: Duration, max_wait: Duration) -> Option<Duration> {
        self.lease.sessions.ours()?.pause(waited, max_wait)
    }

    /// Removes a user, and releases the node if this user was the last one. A forked child that never generated an ID
    /// releases nothing, because it has no session of its own and must not end its parent's session. A user that has
    /// left already waits at most [`RELEASE_TIMEOUT`] for the release if the lease has no users left.
    fn leave(&self, has_left: bool) {
        let users = if has_left {
            self.users.load(Ordering::Acquire)
        } else {
            self.users.fetch_sub(1, Ordering::AcqRel) - 1
        };
        if users == 0 {
            self.release();
        }
    }
}

/// The shareable leases of this process.
static LEASES: Mutex<Vec<Weak<LeaseUsers>>> = Mutex::new(Vec::new());

/// Finds the lease for which `is_it` returns true and adds a user to it, or creates a new lease.
pub(crate) fn find_or_add(
    is_it: impl Fn(&LeaseUsers) -> bool,
    make: impl FnOnce() -> LeaseUsers,
) -> Arc<LeaseUsers> {
    // Dropping a lease drops its store, which may wait for the fork gate. The leases are therefore dropped after the
    // gate's guard.
    let mut passed = Vec::new();
    // The gate delays a fork, because the child could otherwise find the list locked forever. If a raw `clone` created
    // the child, the gate may be unavailable, and leases are then not shared.
    let Some(_gate) = fork_gate::hold() else { return Arc::new(make()) };
    let mut leases = LEASES.lock().unwrap_or_else(PoisonError::into_inner);
    leases.retain(|lease| lease.strong_count() > 0);
    for lease in leases.iter().filter_map(Weak::upgrade) {
        if is_it(&lease) && lease.join() {
            return lease;
        }
        passed.push(lease);
    }
    let lease = Arc::new(make());
    leases.push(Arc::downgrade(&lease));
    lease
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
