//! The atomics of every lock-free structure, and the locks of those that wait: the real ones, or
//! loom's, which try every interleaving. And which parts of a generator WebAssembly goes without.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(all(not(loom), feature = "std"))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

/// Gives the winner of a compare-and-swap time to use the cache line before the loser asks for it
/// again: without it two threads on one word reach a third of one thread's rate.
#[inline]
pub(crate) fn back_off() {
    #[cfg(not(loom))]
    for _ in 0..64 {
        core::hint::spin_loop();
    }
}

pub(crate) use native::NativeOnly;

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod native {
    use alloc::boxed::Box;

    /// A part that some generators have, and none on `wasm32-unknown-unknown`: there this type has no
    /// room for one, so that a page downloads no code for it.
    pub(crate) struct NativeOnly<T>(Option<Box<T>>);

    impl<T> NativeOnly<T> {
        pub(crate) fn new(make: impl FnOnce() -> Option<T>) -> Self {
            Self(make().map(Box::new))
        }

        #[inline]
        pub(crate) fn get(&self) -> Option<&T> {
            self.0.as_deref()
        }
    }
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod native {
    pub(crate) struct NativeOnly<T>(core::marker::PhantomData<T>);

    impl<T> NativeOnly<T> {
        pub(crate) fn new(_make: impl FnOnce() -> Option<T>) -> Self {
            Self(core::marker::PhantomData)
        }

        pub(crate) const fn get(&self) -> Option<&T> {
            None
        }
    }
}
