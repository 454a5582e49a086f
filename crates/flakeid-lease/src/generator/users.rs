//! How many generators of a process use a lease.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::keeper::Lease;

/// How long giving a node back may take when the last generator of a lease is closed.
const RELEASE_PATIENCE: Duration = Duration::from_secs(1);

/// A lease, with a count of the generators that use it. The last one to leave releases the node.
pub(super) struct LeaseUsers {
    lease: Arc<Lease>,
    users: AtomicUsize,
}

impl LeaseUsers {
    /// With one user.
    pub(super) fn new(lease: Arc<Lease>) -> Self {
        Self { lease, users: AtomicUsize::new(1) }
    }

    pub(super) fn lease(&self) -> &Arc<Lease> {
        &self.lease
    }

    /// Counts one more user; false if the last one has left, because then the lease has ended.
    pub(super) fn join(&self) -> bool {
        self.users
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |users| {
                (users > 0).then_some(users + 1)
            })
            .is_ok()
    }

    /// One user less. A forked child that never made an ID has no session here, and its parent's is
    /// not its own.
    pub(super) fn leave(&self) {
        if self.users.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(session) = self.lease.sessions.ours()
        {
            session.close(RELEASE_PATIENCE);
        }
    }
}
