//! The atomics of every lock-free structure, and the locks of those that wait: the real ones, or
//! loom's, which try every interleaving.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(all(
    not(loom),
    feature = "std",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
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
