//! Generators whose node is leased; and the leases that generators of this process share, and how
//! many use each.

mod cached;
mod generator;
mod local;
#[cfg(all(test, loom))]
mod loom_models;

pub(crate) use cached::LeasedCachedGenerator;
pub(crate) use generator::LeasedGenerator;
pub(crate) use local::LeasedLocalGenerator;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::keeper::Lease;
use flakeid_stores::fork_gate;

/// How long giving a node back may take when the last generator of a lease is closed.
const RELEASE_PATIENCE: Duration = Duration::from_secs(1);

/// A lease, with a count of the generators that use it. The last one to leave releases the node.
pub(crate) struct LeaseUsers {
    lease: Arc<Lease>,
    users: AtomicUsize,
}

impl LeaseUsers {
    /// With one user.
    pub(crate) fn new(lease: Arc<Lease>) -> Self {
        Self { lease, users: AtomicUsize::new(1) }
    }

    pub(crate) fn lease(&self) -> &Arc<Lease> {
        &self.lease
    }

    /// Counts one more user; false if the last one has left, because then the lease has ended.
    fn join(&self) -> bool {
        self.users
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |users| {
                (users > 0).then_some(users + 1)
            })
            .is_ok()
    }

    /// One user less. A forked child that never made an ID has no session here, and its parent's is
    /// not its own.
    fn leave(&self) {
        if self.users.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.release();
        }
    }

    /// For a user who has left already: waits until the node is given back, if nobody uses it any more.
    fn has_left(&self) {
        if self.users.load(Ordering::Acquire) == 0 {
            self.release();
        }
    }

    fn release(&self) {
        if let Some(session) = self.lease.sessions.ours() {
            session.close(RELEASE_PATIENCE);
        }
    }
}

/// The leases of this process that can be shared.
static LEASES: Mutex<Vec<Weak<LeaseUsers>>> = Mutex::new(Vec::new());

/// The lease that `is_it`, with one more user, or a new one.
pub(crate) fn find_or_add(
    is_it: impl Fn(&LeaseUsers) -> bool,
    make: impl FnOnce() -> LeaseUsers,
) -> Arc<LeaseUsers> {
    // Dropped after all else here: dropping a lease drops its store, which may need the gate.
    let mut passed = Vec::new();
    // A fork waits, or its child would find the list locked for ever. Where it is, nothing is
    // shared.
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
