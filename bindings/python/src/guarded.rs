//! What belongs to a Python object and is touched by one thread at a time.

#![expect(unsafe_code, reason = "the lock is the interpreter's, which the compiler does not know")]
#![expect(clippy::inline_always, reason = "a call more is a tenth of an ID's cost")]

use std::cell::UnsafeCell;

use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;

/// A value guarded by the GIL, which costs nothing, or by its object's lock in an interpreter
/// without one.
pub(crate) struct Guarded<T>(UnsafeCell<T>);

// SAFETY: `with` lets in one thread at a time, and hands the value from thread to thread.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Calls `brief` with the value that belongs to `owner`.
    ///
    /// # Safety
    /// For every call on one value `owner` is the same object, and `brief` neither calls Python,
    /// makes or drops a Python object, nor detaches: each of them lets other threads in.
    #[inline(always)]
    pub(crate) unsafe fn with<O, R>(
        &self,
        owner: &Bound<'_, O>,
        brief: impl FnOnce(&mut T) -> R,
    ) -> R {
        with_critical_section(owner.as_any(), || {
            // SAFETY: this thread is attached and, without a GIL, holds the lock of the one owner;
            // the caller promises that both stay so until `brief` is over, and that it does not
            // come back here.
            brief(unsafe { &mut *self.0.get() })
        })
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}
