use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::Shared;

/// How long giving a node back may take when the last generator of a lease is closed.
const RELEASE_PATIENCE: Duration = Duration::from_secs(1);

/// A lease and how many generators use it. The last one gives the node back.
pub(super) struct Handle {
    shared: Arc<Shared>,
    users: AtomicUsize,
}

impl Handle {
    /// With one user.
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, users: AtomicUsize::new(1) }
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Counts one more user; false if the last one has left, because then the lease has ended.
    pub(super) fn join(&self) -> bool {
        self.users
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |users| {
                (users > 0).then_some(users + 1)
            })
            .is_ok()
    }

    /// One user less. A forked child that never made an ID has no life here, and its parent's is
    /// not its own.
    pub(super) fn leave(&self) {
        if self.users.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(life) = self.shared.lives.ours()
        {
            life.close(RELEASE_PATIENCE);
        }
    }
}
