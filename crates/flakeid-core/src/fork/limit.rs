//! The limit of one generator, and a mark that distinguishes a process from its forked children. Both are in memory
//! that is cleared in a forked child.

#[cfg(feature = "std")]
use core::fmt;

#[cfg(not(loom))]
use super::page::PAGES;
#[cfg(loom)]
use super::page::Pages;
use super::page::{OWNED, Slot};
#[cfg(feature = "std")]
use crate::sync::AtomicU64;
use crate::sync::Ordering;

/// The limit of one generator, in a slot that is freed when this value is dropped.
pub(crate) struct Limit {
    slot: &'static Slot,
}

impl Limit {
    /// Stores the limit in a free slot of this process's pages.
    #[cfg(not(loom))]
    pub(crate) fn new(limit: u64) -> Self {
        Self { slot: PAGES.take(limit) }
    }

    /// Allocates new pages and stores the limit in one of their slots. Static pages would outlive one execution of a
    /// loom model.
    #[cfg(loom)]
    pub(crate) fn new(limit: u64) -> Self {
        Self { slot: Pages::new().take(limit) }
    }

    /// The exclusive upper bound on the positions that may be issued; 0 if no position may ever be issued again.
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        // The acquire ordering ensures that a thread that loads a limit also sees the writes made before the limit was
        // raised.
        self.slot.limit.load(Ordering::Acquire)
    }

    /// The address of the limit. After this value is dropped, the address may belong to another limit.
    #[cfg(feature = "std")]
    pub(crate) fn address(&self) -> *const AtomicU64 {
        &raw const self.slot.limit
    }

    /// Whether this process took the slot; `false` in a forked child.
    pub(crate) fn is_ours(&self) -> bool {
        self.slot.owned.load(Ordering::Acquire) == OWNED
    }

    /// Raises the limit. This function never lowers the limit, and never raises a limit of 0 (invariant I6: the limit
    /// only rises, and is 0 in a forked child). Returns `false` if the limit is 0.
    pub(crate) fn raise(&self, limit: u64) -> bool {
        let mut current = self.get();
        loop {
            if current == 0 {
                return false;
            }
            if current >= limit {
                return true;
            }
            match self.slot.limit.compare_exchange(
                current,
                limit,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return true,
                Err(newer) => current = newer,
            }
        }
    }

    /// Sets the limit to 0 permanently. Returns `false` if the limit was already 0.
    pub(crate) fn close(&self) -> bool {
        self.is_ours() && self.slot.limit.swap(0, Ordering::AcqRel) != 0
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        // A forked child does not have to free the slot, because the child never uses the slot's page again.
        if self.is_ours() {
            self.slot.limit.store(0, Ordering::Release);
            self.slot.owned.store(0, Ordering::Release);
        }
    }
}

/// A mark that belongs to the process that created the mark, and not to any forked child. The mark guards resources of
/// the parent that a forked child must not use (connections, threads, locks).
///
/// ```
/// let mark = flakeid_core::internal::ProcessMark::new();
/// assert!(mark.is_ours());
/// ```
#[cfg(feature = "std")]
pub struct ProcessMark(Limit);

#[cfg(feature = "std")]
impl ProcessMark {
    /// Creates a mark that belongs to this process.
    #[must_use]
    pub fn new() -> Self {
        Self(Limit::new(1))
    }

    /// Whether the calling process created the mark; `false` in a forked child and in the child's descendants.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.0.is_ours()
    }
}

#[cfg(feature = "std")]
impl Default for ProcessMark {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(feature = "std")]
impl fmt::Debug for ProcessMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessMark").field("is_ours", &self.is_ours()).finish()
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use crate::sync::AtomicU64;
    use alloc::sync::Arc;
    use alloc::vec::Vec;
    use loom::thread;

    /// Takes slots in three threads, from pages with two slots each. Checks that each thread gets a separate slot with
    /// its own limit.
    #[test]
    fn limits_created_concurrently_never_share_a_memory_slot() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(|| {
            let pages = Arc::new(Pages::new());
            let threads = [1, 2].map(|limit| {
                let pages = Arc::clone(&pages);
                thread::spawn(move || Limit { slot: pages.take(limit) })
            });
            let mine = Limit { slot: pages.take(3) };
            let mut limits: Vec<Limit> = threads.map(|t| t.join().unwrap()).into();
            limits.push(mine);
            for (limit, expected) in limits.iter().zip(1..) {
                assert_eq!(limit.get(), expected, "two limits in one slot");
            }
        });
    }

    /// Checks that loom detects two owners of one slot if threads read and write a slot in separate steps.
    #[test]
    #[should_panic(expected = "two limits in one slot")]
    fn loom_detects_memory_slots_claimed_with_plain_stores() {
        loom::model(|| {
            let slot = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
            let take = |limit| {
                let slot = Arc::clone(&slot);
                move || {
                    let free = slot.1.load(Ordering::Acquire) == 0;
                    if free {
                        slot.1.store(OWNED, Ordering::Release);
                        slot.0.store(limit, Ordering::Release);
                    }
                    free
                }
            };
            let other = thread::spawn(take(1));
            let mine = take(2)();
            assert!(!(mine && other.join().unwrap()), "two limits in one slot");
        });
    }
}
