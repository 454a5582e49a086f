//! The memory for limits: pages that are cleared in a forked child. Each limit occupies a slot of two words in a page.

#![allow(unsafe_code)]

use crate::sync::{AtomicPtr, AtomicU64, Ordering};

/// A limit, and a flag that is set while the slot has an owner. A slot that contains only zeros is free, so a forked
/// child inherits only free slots.
pub(super) struct Slot {
    pub(super) limit: AtomicU64,
    pub(super) owned: AtomicU64,
}

pub(super) const OWNED: u64 = 1;

impl Slot {
    /// Tries to take the slot. If the slot is free, sets its limit and returns `true`. Otherwise, returns `false`.
    pub(super) fn take(&self, limit: u64) -> bool {
        let taken =
            self.owned.compare_exchange(0, OWNED, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if taken {
            self.limit.store(limit, Ordering::Release);
        }
        taken
    }
}

const SLOTS: usize = if cfg!(loom) { 2 } else { 255 };

const ALIVE: u64 = 1;

/// A page of slots. A page of zeros is valid: it counts as wiped, has no link to an older page, and all its slots are
/// free.
#[repr(C)]
pub(super) struct Page {
    alive: AtomicU64,
    older: AtomicPtr<Page>,
    slots: [Slot; SLOTS],
}

#[cfg(not(loom))]
const _: () =
    assert!(size_of::<Page>() <= 4096, "the slots must fit into the smallest page of any system");

impl Page {
    /// Returns the page, if the pointer is not null and the page has not been wiped.
    fn alive(page: *mut Self) -> Option<&'static Self> {
        // SAFETY: every non-null pointer in `Pages` and in `older` came from `map`, and was published by a
        // compare-and-swap. A published page is never unmapped, and a fork also maps the page in the child.
        let page = unsafe { page.as_ref() }?;
        (page.alive.load(Ordering::Acquire) == ALIVE).then_some(page)
    }

    fn older(&self) -> *mut Self {
        self.older.load(Ordering::Acquire)
    }

    fn slots(&'static self) -> &'static [Slot] {
        &self.slots
    }

    /// Allocates a new page with a link to the page `older`. The caller has to publish the new page.
    fn map(older: *mut Self) -> *mut Self {
        let page = memory::allocate();
        // SAFETY: `allocate` returned a valid page, and no other thread can access the page, so it stays mapped.
        let new = unsafe { &*page };
        new.older.store(older, Ordering::Relaxed);
        new.alive.store(ALIVE, Ordering::Release);
        page
    }

    /// Frees a page that `map` allocated and that was never published.
    fn unmap(page: *mut Self) {
        memory::free(page);
    }

    /// Fills the page with zeros, as the kernel would do in a forked child.
    #[cfg(all(unix, feature = "std", not(loom), not(miri)))]
    fn wipe(&self) {
        self.alive.store(0, Ordering::Relaxed);
        self.older.store(core::ptr::null_mut(), Ordering::Relaxed);
        for slot in &self.slots {
            slot.limit.store(0, Ordering::Relaxed);
            slot.owned.store(0, Ordering::Relaxed);
        }
    }
}

/// The pages of one process, newest first. The list is lock-free, because a lock that is held during a fork would never
/// be released in the child.
pub(super) struct Pages {
    newest: AtomicPtr<Page>,
}

#[cfg(not(loom))]
pub(super) static PAGES: Pages = Pages { newest: AtomicPtr::new(core::ptr::null_mut()) };

impl Pages {
    #[cfg(loom)]
    pub(super) fn new() -> Self {
        Self { newest: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// Takes a free slot, sets its limit, and returns the slot. Adds a new page if no slot is free.
    pub(super) fn take(&self, limit: u64) -> &'static Slot {
        loop {
            // In a forked child, the newest page is wiped, including its link to the older pages, so this search finds
            // no page.
            let newest = self.newest.load(Ordering::Acquire);
            let mut page = Page::alive(newest);
            while let Some(candidate) = page {
                if let Some(slot) = candidate.slots().iter().find(|slot| slot.take(limit)) {
                    return slot;
                }
                page = Page::alive(candidate.older());
            }
            self.add(newest);
        }
    }

    /// Adds a new page before `newest`, unless another thread has added a page first.
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

/// Clears all pages in a forked child. This handler is registered only if the kernel does not clear the pages.
#[cfg(all(unix, feature = "std", not(loom), not(miri)))]
extern "C" fn wipe_in_child() {
    let mut page = Page::alive(PAGES.newest.load(Ordering::Acquire));
    while let Some(current) = page {
        page = Page::alive(current.older());
        current.wipe();
    }
}

#[cfg(all(unix, feature = "std", not(loom), not(miri)))]
mod memory {
    use super::Page;
    use core::sync::atomic::{AtomicBool, Ordering};

    const SIZE: usize = size_of::<Page>();

    /// Allocates a page of zeros. If memory is exhausted, the function fails like any other memory allocation.
    pub(super) fn allocate() -> *mut Page {
        // SAFETY: an anonymous private mapping at an address that the kernel chooses overlaps no memory that is in use.
        // The mapping is page-aligned and contains zeros, which are a valid `Page`.
        let page = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                SIZE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANON,
                -1,
                0,
            )
        };
        if page == libc::MAP_FAILED {
            alloc::alloc::handle_alloc_error(core::alloc::Layout::new::<Page>());
        }
        if !wiped_by_kernel(page) {
            wipe_at_fork();
        }
        page.cast()
    }

    pub(super) fn free(page: *mut Page) {
        // SAFETY: the page came from `allocate` with this size, and no other thread can access the page.
        unsafe { libc::munmap(page.cast(), SIZE) };
    }

    /// Requests that the kernel clear the page in forked children, and returns whether the kernel will do so. Some
    /// emulators accept any advice but ignore it. Therefore, the function first passes invalid advice, which the system
    /// must reject.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn wiped_by_kernel(page: *mut libc::c_void) -> bool {
        const NONSENSE: libc::c_int = 0x7fff_0000;
        // SAFETY: the advice applies to a whole mapping that this module created, and changes only what a fork copies.
        unsafe {
            libc::madvise(page, SIZE, NONSENSE) != 0
                && libc::madvise(page, SIZE, libc::MADV_WIPEONFORK) == 0
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn wiped_by_kernel(_page: *mut libc::c_void) -> bool {
        false
    }

    fn wipe_at_fork() {
        static REGISTERED: AtomicBool = AtomicBool::new(false);
        // Two threads may both register the handler, because clearing a page twice is harmless. However, no thread may
        // continue before a handler is registered.
        if !REGISTERED.load(Ordering::Acquire) {
            // SAFETY: the handler only loads and stores atomics, which POSIX allows after a fork.
            let failed = unsafe { libc::pthread_atfork(None, None, Some(super::wipe_in_child)) };
            if failed != 0 {
                alloc::alloc::handle_alloc_error(core::alloc::Layout::new::<Page>());
            }
            REGISTERED.store(true, Ordering::Release);
        }
    }
}

/// The memory for pages without the `std` feature, and on systems without fork. This memory is also used under loom,
/// which does not model fork, and under Miri, which does not support fork.
#[cfg(any(not(all(unix, feature = "std")), loom, miri))]
mod memory {
    use super::{Page, Slot};
    use crate::sync::{AtomicPtr, AtomicU64};
    use alloc::boxed::Box;

    pub(super) fn allocate() -> *mut Page {
        Box::into_raw(Box::new(Page {
            alive: AtomicU64::new(0),
            older: AtomicPtr::new(core::ptr::null_mut()),
            slots: core::array::from_fn(|_| Slot {
                limit: AtomicU64::new(0),
                owned: AtomicU64::new(0),
            }),
        }))
    }

    pub(super) fn free(page: *mut Page) {
        // SAFETY: the page came from `allocate`, and no other thread can access the page.
        drop(unsafe { Box::from_raw(page) });
    }
}
