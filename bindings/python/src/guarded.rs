//! Values that belong to a Python object and are used by one thread at a time.

#![expect(
    unsafe_code,
    reason = "the interpreter's lock protects the value, but the compiler cannot check this"
)]
#![expect(clippy::inline_always, reason = "an additional call costs a tenth of an ID")]

use std::cell::UnsafeCell;

use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;

/// A value that is protected by the GIL at no extra cost, or by the lock of its object in an
/// interpreter without a GIL.
pub(crate) struct Guarded<T>(UnsafeCell<T>);

// SAFETY: `with` gives access to one thread at a time, and `T: Send` allows different threads to
// use the value one after the other.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Calls `brief` with the value that belongs to `owner`.
    ///
    /// # Safety
    /// Every call for the same value must pass the same `owner`. `brief` must not call Python,
    /// create or drop a Python object, or detach from the interpreter, because each of these
    /// actions may let other threads run. `brief` must not call `with` again for the same value.
    #[inline(always)]
    pub(crate) unsafe fn with<O, R>(
        &self,
        owner: &Bound<'_, O>,
        brief: impl FnOnce(&mut T) -> R,
    ) -> R {
        with_critical_section(owner.as_any(), || {
            // SAFETY: this thread is attached and, without a GIL, holds the lock of the value's
            // only owner. The caller guarantees that this remains true until `brief` returns, and
            // that `brief` does not call `with` again.
            brief(unsafe { &mut *self.0.get() })
        })
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}
