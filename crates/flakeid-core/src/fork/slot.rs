//! The two words of a limit.

use crate::sync::{AtomicU64, Ordering};

/// A limit and whether it has an owner. All zeros is what the kernel leaves in a child, and what a
/// free slot looks like.
pub(super) struct Slot {
    pub(super) limit: AtomicU64,
    pub(super) owned: AtomicU64,
}

pub(super) const OWNED: u64 = 1;

impl Slot {
    /// Takes the slot if it is free.
    pub(super) fn take(&self, limit: u64) -> bool {
        let taken =
            self.owned.compare_exchange(0, OWNED, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if taken {
            self.limit.store(limit, Ordering::Release);
        }
        taken
    }
}
