//! A list without locks, for the tenures of a lease and for the rings over them.

#![allow(unsafe_code)]

use alloc::boxed::Box;
use core::{iter, ptr};

use crate::sync::{AtomicPtr, Ordering};

/// An append-only list whose newest value is the current one. Values never move and are dropped only with the whole
/// list, so other threads can continue to read old values. The list is meant for a small number of values. The list has
/// no lock, because a fork could leave a lock locked in the child.
///
/// ```
/// let chain = flakeid_core::internal::Chain::default();
/// chain.push(1);
/// chain.push(2);
/// assert_eq!(chain.newest(), Some(&2));
/// ```
pub struct Chain<T> {
    newest: AtomicPtr<Link<T>>,
}

struct Link<T> {
    value: T,
    older: *mut Link<T>,
}

// SAFETY: a link's `older` pointer never changes after the link is published. Values are shared only by reference, and
// the owner of the chain drops all values with the chain.
unsafe impl<T: Send> Send for Chain<T> {}
// SAFETY: a shared chain provides only shared references to its values, and its links are published atomically.
unsafe impl<T: Send + Sync> Sync for Chain<T> {}

impl<T> Default for Chain<T> {
    fn default() -> Self {
        Self { newest: AtomicPtr::new(ptr::null_mut()) }
    }
}

impl<T> Chain<T> {
    /// The chain's newest value, or `None` if the chain is empty.
    #[inline]
    #[must_use]
    pub fn newest(&self) -> Option<&T> {
        self.iter().next()
    }

    /// Iterates over all values, from the newest to the oldest.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        // The load uses `Acquire`, so that a thread that sees a link also sees the link's contents.
        let newest = self.newest.load(Ordering::Acquire);
        // SAFETY: the pointer is null or points to a published link, which is complete and is not freed before the
        // chain.
        let link = |link: *mut Link<T>| unsafe { link.as_ref() };
        iter::successors(link(newest), move |newer| link(newer.older)).map(|link| &link.value)
    }

    /// Adds a value, which becomes the newest one.
    pub fn push(&self, value: T) {
        let mut new = Box::new(Link { value, older: ptr::null_mut() });
        loop {
            new.older = self.newest.load(Ordering::Acquire);
            match self.publish(new) {
                Ok(()) => return,
                Err(unpublished) => new = unpublished,
            }
        }
    }

    /// Returns the newest value if `fits` returns true for it. Otherwise, creates a value with `make` and adds it. If
    /// another thread adds a value in the meantime, drops the created value and checks the other thread's value.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn newest_or_push<E>(
        &self,
        fits: impl Fn(&T) -> bool,
        make: impl Fn() -> Result<T, E>,
    ) -> Result<&T, E> {
        loop {
            let older = self.newest.load(Ordering::Acquire);
            // SAFETY: the pointer is null or points to a published link, which is complete and is not freed before the
            // chain.
            if let Some(link) = unsafe { older.as_ref() }.filter(|link| fits(&link.value)) {
                return Ok(&link.value);
            }
            drop(self.publish(Box::new(Link { value: make()?, older })));
        }
    }

    /// Publishes a new link in front of its `older` link, or returns the new link if `older` is no longer the newest
    /// link.
    fn publish(&self, new: Box<Link<T>>) -> Result<(), Box<Link<T>>> {
        let older = new.older;
        let new = Box::into_raw(new);
        match self.newest.compare_exchange(older, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(()),
            // SAFETY: the pointer was just created by `Box::into_raw`, and no other thread has seen it.
            Err(_) => Err(unsafe { Box::from_raw(new) }),
        }
    }
}

impl<T> Drop for Chain<T> {
    fn drop(&mut self) {
        let mut next = self.newest.load(Ordering::Acquire);
        while !next.is_null() {
            // SAFETY: each link was created by `Box::into_raw` and occurs only once in the chain, and no other thread
            // can still access the chain.
            let link = unsafe { Box::from_raw(next) };
            next = link.older;
        }
    }
}
