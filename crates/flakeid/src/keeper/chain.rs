#![allow(unsafe_code)]

use std::iter;
use std::ptr;

#[cfg(loom)]
use loom::sync::atomic::{AtomicPtr, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicPtr, Ordering};

/// Values of which the newest counts. Once added they stay where they are as long as the chain, so
/// that other threads may go on reading them; for values of which there are few. No lock, which a
/// fork could leave locked in the child.
pub(crate) struct Chain<T> {
    newest: AtomicPtr<Link<T>>,
}

struct Link<T> {
    value: T,
    older: *mut Link<T>,
}

// SAFETY: `older` is written before a link is published and never again; values are shared by
// reference only, and dropped with the chain by whoever owns it.
unsafe impl<T: Send> Send for Chain<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Chain<T> {}

impl<T> Chain<T> {
    pub(crate) fn new() -> Self {
        Self { newest: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The newest value; none before the first.
    #[inline]
    pub(crate) fn newest(&self) -> Option<&T> {
        self.iter().next()
    }

    /// All of them, the newest first.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        // Acquire: who sees a link sees it whole.
        let newest = self.newest.load(Ordering::Acquire);
        // SAFETY: null, or a published link, which is whole and lives as long as the chain.
        let link = |link: *mut Link<T>| unsafe { link.as_ref() };
        iter::successors(link(newest), move |newer| link(newer.older)).map(|link| &link.value)
    }

    /// Adds a value.
    pub(crate) fn push(&self, value: T) {
        let mut new = Box::new(Link { value, older: ptr::null_mut() });
        loop {
            new.older = self.newest.load(Ordering::Acquire);
            match self.publish(new) {
                Ok(()) => return,
                Err(unpublished) => new = unpublished,
            }
        }
    }

    /// The newest value if it `fits`, otherwise one that is made now; if another thread has added
    /// one meanwhile, that is looked at, and what was made is dropped.
    pub(crate) fn newest_or_push<E>(
        &self,
        fits: impl Fn(&T) -> bool,
        make: impl Fn() -> Result<T, E>,
    ) -> Result<&T, E> {
        loop {
            let older = self.newest.load(Ordering::Acquire);
            // SAFETY: as in `iter`.
            if let Some(link) = unsafe { older.as_ref() }.filter(|link| fits(&link.value)) {
                return Ok(&link.value);
            }
            drop(self.publish(Box::new(Link { value: make()?, older })));
        }
    }

    /// Puts a link in front of its `older`, unless that is not the newest any more.
    fn publish(&self, new: Box<Link<T>>) -> Result<(), Box<Link<T>>> {
        let older = new.older;
        let new = Box::into_raw(new);
        match self.newest.compare_exchange(older, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(()),
            // SAFETY: it has just come from `Box::into_raw`, and nobody else has seen it.
            Err(_) => Err(unsafe { Box::from_raw(new) }),
        }
    }
}

impl<T> Drop for Chain<T> {
    fn drop(&mut self) {
        let mut next = self.newest.load(Ordering::Acquire);
        while !next.is_null() {
            // SAFETY: each came from `Box::into_raw`, is in the chain once, and nobody can reach
            // the chain any more.
            let link = unsafe { Box::from_raw(next) };
            next = link.older;
        }
    }
}
