//! The atomics and locks of the lock-free structures and the queue: the standard library's, or loom's, which try every
//! interleaving. Also the parts of a generator that WebAssembly lacks.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(all(not(loom), feature = "std"))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

/// Pauses after a lost compare-and-swap, so that the winner can use the cache line before the loser requests it again.
/// Without the pause, two threads on one word reach a third of the rate of one thread.
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

    /// An optional part of a generator. On `wasm32-unknown-unknown` this type is always empty, so that a page downloads no
    /// code for the part.
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

        #[expect(clippy::unused_self, reason = "the signature is the same on other targets")]
        pub(crate) const fn get(&self) -> Option<&T> {
            None
        }
    }
}
