use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::users::LeaseUsers;
use crate::fork_gate;

/// The leases of this process that can be shared.
static LEASES: Mutex<Vec<Weak<LeaseUsers>>> = Mutex::new(Vec::new());

/// The lease that `is_it`, with one more user, or a new one.
pub(super) fn find_or_add(
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
