//! The atomic types of the lock-free structures, and the mutex and condition variable types of the queue. Regular
//! builds use the types of the standard library. Builds for the test tool loom, which explores the interleavings of
//! threads, use loom's types. The module also contains the type for the parts of a generator that WebAssembly builds
//! omit.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(all(not(loom), feature = "std"))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

/// Pauses after a failed compare-and-swap, so that the successful thread can use the cache line before this thread
/// requests it again. Without the pause, the combined rate of two threads that share an atomic word is only a third of
/// the rate of one thread.
#[inline]
pub(crate) fn back_off() {
    #[cfg(not(loom))]
    for _ in 0..64 {
        core::hint::spin_loop();
    }
}

pub(crate) use native::{HAS_NATIVE_PARTS, NativeOnly};

#[cfg(any(feature = "whole", not(all(target_family = "wasm", target_os = "unknown"))))]
mod native {
    use alloc::boxed::Box;

    /// Whether a [`NativeOnly`] can contain a value. If the constant is `false`, the compiler omits the code that uses
    /// the value.
    pub(crate) const HAS_NATIVE_PARTS: bool = true;

    /// An optional part of a generator. On `wasm32-unknown-unknown`, a value of this type is always empty without the
    /// feature `whole`, so that web pages do not download the code for the part.
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

#[cfg(all(not(feature = "whole"), target_family = "wasm", target_os = "unknown"))]
mod native {
    pub(crate) const HAS_NATIVE_PARTS: bool = false;

    pub(crate) struct NativeOnly<T>(core::marker::PhantomData<T>);

    impl<T> NativeOnly<T> {
        pub(crate) fn new(_make: impl FnOnce() -> Option<T>) -> Self {
            Self(core::marker::PhantomData)
        }

        #[expect(clippy::unused_self, reason = "the signature is the same on other targets")]
        pub(crate) const fn get(&self) -> Option<&T> {
            None
        }
    }
}
