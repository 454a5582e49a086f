#![allow(unsafe_code)]

use std::ptr;
use std::sync::Arc;

use flakeid_core::Generator;
#[cfg(loom)]
use loom::sync::atomic::{AtomicPtr, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicPtr, Ordering};

/// One grant's generator. Once published it stays where it is as long as the list, so that other
/// threads may go on reading it; grants are rare.
struct Tenure {
    generator: Arc<Generator>,
    older: *mut Tenure,
}

/// All generators of a lease, newest first. Only the newest issues: each one was retired before
/// the next was published.
pub(crate) struct Tenures {
    newest: AtomicPtr<Tenure>,
}

// SAFETY: `older` is written before a tenure is published and never again; everything behind it is
// shared by reference only and lives as long as the list.
unsafe impl Send for Tenures {}
// SAFETY: as above.
unsafe impl Sync for Tenures {}

impl Tenures {
    pub(crate) fn new() -> Self {
        Self { newest: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The newest one's generator; none before the first.
    #[inline]
    pub(crate) fn generator(&self) -> Option<&Arc<Generator>> {
        // Acquire: who sees a tenure sees it whole.
        // SAFETY: published tenures are whole and live as long as the list.
        unsafe { self.newest.load(Ordering::Acquire).as_ref() }.map(|tenure| &tenure.generator)
    }

    /// Publishes a generator. Only the one keeper of the process does.
    pub(crate) fn publish(&self, generator: Generator) {
        let older = self.newest.load(Ordering::Acquire);
        let tenure = Box::into_raw(Box::new(Tenure { generator: Arc::new(generator), older }));
        self.newest.store(tenure, Ordering::Release);
    }
}

impl Drop for Tenures {
    fn drop(&mut self) {
        let mut next = self.newest.load(Ordering::Acquire);
        while !next.is_null() {
            // SAFETY: each came from `Box::into_raw`, is in the list once, and nobody can reach
            // the list any more.
            let tenure = unsafe { Box::from_raw(next) };
            next = tenure.older;
        }
    }
}
