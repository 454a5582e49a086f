//! The limit of one generator; and by the same memory, telling a process from its forked children.

#[cfg(feature = "std")]
use core::fmt;

#[cfg(not(loom))]
use super::page::PAGES;
#[cfg(loom)]
use super::page::Pages;
use super::page::{OWNED, Slot};
use crate::sync::Ordering;

/// One generator's slot, given back when dropped.
pub(crate) struct Limit {
    slot: &'static Slot,
}

impl Limit {
    /// A slot of this process's pages.
    #[cfg(not(loom))]
    pub(crate) fn new(limit: u64) -> Self {
        Self { slot: PAGES.take(limit) }
    }

    /// Statics would outlive one run of a model, so each limit has pages of its own there.
    #[cfg(loom)]
    pub(crate) fn new(limit: u64) -> Self {
        Self { slot: Pages::new().take(limit) }
    }

    /// The exclusive bound of positions that may be issued; 0 if none may, ever again.
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        // Acquire: who sees a limit also sees what was done before it was raised.
        self.slot.limit.load(Ordering::Acquire)
    }

    /// Whether this process took the slot; false in a forked child.
    pub(crate) fn is_ours(&self) -> bool {
        self.slot.owned.load(Ordering::Acquire) == OWNED
    }

    /// Raises the limit; never lowers it, and never revives one that is 0 (invariant I6). False
    /// if it is 0.
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

    /// Lowers the limit to 0 for good. False if it was 0 already.
    pub(crate) fn close(&self) -> bool {
        self.is_ours() && self.slot.limit.swap(0, Ordering::AcqRel) != 0
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        // In a child the slot is nobody's, on a page that will not be used again.
        if self.is_ours() {
            self.slot.limit.store(0, Ordering::Release);
            self.slot.owned.store(0, Ordering::Release);
        }
    }
}

/// Knows whether the process that made it is the one that asks: for whatever a forked child must
/// not use of its parent's (connections, threads, locks).
///
/// ```
/// let mark = flakeid_core::internal::ProcessMark::new();
/// assert!(mark.is_ours());
/// ```
#[cfg(feature = "std")]
pub struct ProcessMark(Limit);

#[cfg(feature = "std")]
impl ProcessMark {
    /// The mark of this process.
    #[must_use]
    pub fn new() -> Self {
        Self(Limit::new(1))
    }

    /// False in a forked child of the process that made it, and in the child's children.
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

    /// Three takers, two slots a page: each gets a slot of its own, and its own limit in it.
    #[test]
    fn every_limit_has_a_slot_of_its_own() {
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

    /// Taking a slot by looking first and writing afterwards.
    #[test]
    #[should_panic(expected = "two limits in one slot")]
    fn slots_taken_by_plain_stores() {
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
