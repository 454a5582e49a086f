//! Limits that a forked child cannot inherit.
//!
//! A generator may only issue positions below its limit. The limit lives in a slot of a page that
//! the kernel hands to a forked child as zeros (`MADV_WIPEONFORK`, Linux 4.14 and later), whoever
//! made the child: `fork`, a raw `clone`, or a grandparent. So the child's first attempt fails the
//! check that every attempt makes anyway, and being safe across `fork` costs nothing per ID. Where
//! the kernel cannot do it a `pthread_atfork` handler writes the zeros; that catches `fork` but
//! not a raw `clone`.
//!
//! A page that was wiped is never used again: its slots still have owners in the child's copy of
//! the parent's memory, and giving one to somebody else would revive the generator that owned it.

mod page;
#[cfg(feature = "std")]
mod process_mark;

use crate::sync::{AtomicPtr, AtomicU64, Ordering};
use page::Page;
#[cfg(feature = "std")]
pub use process_mark::ProcessMark;

/// A limit and whether it has an owner. All zeros is what the kernel leaves in a child, and what a
/// free slot looks like.
pub(crate) struct Slot {
    limit: AtomicU64,
    owned: AtomicU64,
}

const OWNED: u64 = 1;

/// One generator's slot, given back when dropped.
pub(crate) struct Limit {
    slot: &'static Slot,
}

impl Limit {
    /// A slot of this process's pages.
    #[cfg(not(loom))]
    pub(crate) fn new(limit: u64) -> Self {
        PAGES.take(limit)
    }

    /// Statics would outlive one run of a model, so each limit has pages of its own there.
    #[cfg(loom)]
    pub(crate) fn new(limit: u64) -> Self {
        Pages::new().take(limit)
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

/// The pages of one process, newest first. Lock-free, so that no lock can be held across a fork.
struct Pages {
    newest: AtomicPtr<Page>,
}

#[cfg(not(loom))]
static PAGES: Pages = Pages { newest: AtomicPtr::new(core::ptr::null_mut()) };

impl Pages {
    #[cfg(loom)]
    fn new() -> Self {
        Self { newest: AtomicPtr::new(core::ptr::null_mut()) }
    }

    fn take(&self, limit: u64) -> Limit {
        loop {
            // After a fork the newest page is wiped, and its link to the older ones with it.
            let newest = self.newest.load(Ordering::Acquire);
            let mut page = Page::alive(newest);
            while let Some(candidate) = page {
                if let Some(slot) = candidate.slots().iter().find(|slot| slot.take(limit)) {
                    return Limit { slot };
                }
                page = Page::alive(candidate.older());
            }
            self.add(newest);
        }
    }

    /// Puts a new page before `newest`, unless another thread has been faster.
    fn add(&self, newest: *mut Page) {
        let page =
            Page::map(if Page::alive(newest).is_some() { newest } else { core::ptr::null_mut() });
        let swapped =
            self.newest.compare_exchange(newest, page, Ordering::AcqRel, Ordering::Acquire);
        if swapped.is_err() {
            Page::unmap(page);
        }
    }
}

/// What the kernel does in a child where it can, done by hand.
#[cfg(all(unix, feature = "std", not(loom), not(miri)))]
extern "C" fn wipe_in_child() {
    let mut page = Page::alive(PAGES.newest.load(Ordering::Acquire));
    while let Some(current) = page {
        page = Page::alive(current.older());
        current.wipe();
    }
}

impl Slot {
    fn take(&self, limit: u64) -> bool {
        let taken =
            self.owned.compare_exchange(0, OWNED, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if taken {
            self.limit.store(limit, Ordering::Release);
        }
        taken
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
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
                thread::spawn(move || pages.take(limit))
            });
            let mine = pages.take(3);
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
