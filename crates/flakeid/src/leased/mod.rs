//! Generators on leased nodes, and the leases that these generators can share. Each lease counts its users.

mod cached;
mod generator;
mod local;
#[cfg(all(test, loom))]
mod loom_models;

pub(crate) use cached::LeasedCachedGenerator;
pub(crate) use generator::{LeasedGenerator, pause_for_clock};
pub(crate) use local::LeasedLocalGenerator;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::keeper::Lease;
use flakeid_stores::fork_gate;

/// The longest wait for the release of the node when the last generator of a lease is closed.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// A lease, with the number of generators that use it. The last generator to leave releases the node.
pub(crate) struct LeaseUsers {
    lease: Arc<Lease>,
    users: AtomicUsize,
}

impl LeaseUsers {
    /// Creates the shared lease with one user.
    pub(crate) fn new(lease: Arc<Lease>) -> Self {
        Self { lease, users: AtomicUsize::new(1) }
    }

    pub(crate) fn lease(&self) -> &Arc<Lease> {
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

    /// Removes a user, and releases the node if this user was the last one. A forked child that never generated an ID
    /// releases nothing, because it has no session of its own and must not end its parent's session.
    fn leave(&self) {
        if self.users.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.release();
        }
    }

    /// Handles a repeated attempt to close a generator. If the lease has no users left, waits at most
    /// [`RELEASE_TIMEOUT`] for the node to be released.
    fn has_left(&self) {
        if self.users.load(Ordering::Acquire) == 0 {
            self.release();
        }
    }

    fn release(&self) {
        if let Some(session) = self.lease.sessions.ours() {
            session.close(RELEASE_TIMEOUT);
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
