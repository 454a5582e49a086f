#![allow(unsafe_code)]

use std::iter;
use std::ptr;

#[cfg(loom)]
use loom::sync::atomic::{AtomicPtr, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicPtr, Ordering};

/// A list of values of which the newest is current. Values never move or leave before the chain is dropped, so that
/// other threads can keep reading them; use it for few values. It has no lock, which a fork could leave locked in the
/// child.
pub(crate) struct Chain<T> {
    newest: AtomicPtr<Link<T>>,
}

struct Link<T> {
    value: T,
    older: *mut Link<T>,
}

// SAFETY: `older` is written before a link is published and never again. Values are shared only by reference, and the
// owner of the chain drops them with it.
unsafe impl<T: Send> Send for Chain<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Chain<T> {}

impl<T> Chain<T> {
    pub(crate) fn new() -> Self {
        Self { newest: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The newest value, or `None` before the first.
    #[inline]
    pub(crate) fn newest(&self) -> Option<&T> {
        self.iter().next()
    }

    /// Iterates over all values, newest first.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        // Acquire, so that a thread that sees a link sees its content.
        let newest = self.newest.load(Ordering::Acquire);
        // SAFETY: the pointer is null or a published link, which is complete and lives as long as the chain.
        let link = |link: *mut Link<T>| unsafe { link.as_ref() };
        iter::successors(link(newest), move |newer| link(newer.older)).map(|link| &link.value)
    }

    /// Adds a value as the newest.
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

    /// Returns the newest value if it `fits`, and otherwise adds a new one. If another thread added one meanwhile,
    /// checks that value and drops the new one.
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

    /// Publishes a link in front of its `older`, or returns it if `older` is no longer the newest.
    fn publish(&self, new: Box<Link<T>>) -> Result<(), Box<Link<T>>> {
        let older = new.older;
        let new = Box::into_raw(new);
        match self.newest.compare_exchange(older, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(()),
            // SAFETY: the pointer just came from `Box::into_raw`, and no other thread has seen it.
            Err(_) => Err(unsafe { Box::from_raw(new) }),
        }
    }
}

impl<T> Drop for Chain<T> {
    fn drop(&mut self) {
        let mut next = self.newest.load(Ordering::Acquire);
        while !next.is_null() {
            // SAFETY: each link came from `Box::into_raw`, is in the chain once, and no other thread can reach the
            // chain any more.
            let link = unsafe { Box::from_raw(next) };
            next = link.older;
        }
    }
}
