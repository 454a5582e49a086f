//! The gate that delays a fork while work that it must not interrupt is in progress.
//!
//! A forked child has a copy of its parent's memory and only the thread that forked. Work that another thread was doing
//! stays half done in the child forever: a locked list, an `SQLite` transaction. So such work holds this gate, and `fork`
//! waits for it (`pthread_atfork`).

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The process whose thread holds the gate; 0 if the gate is free. It is one word, so that a raw `clone` at any moment leaves
/// its child either a free gate or a gate that is marked as its parent's.
static HOLDER: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The gate that a forking thread holds during the fork.
    static FORKING: RefCell<Option<Guard>> = const { RefCell::new(None) };
}

/// A guard that delays forks while it is alive. Do not run user code while you hold it, because that code might fork.
#[must_use = "the gate is held while this lives"]
pub struct Guard(());

/// Waits until the gate is free and takes it. Returns `None` in a child that a raw `clone`, which bypasses `fork`, created
/// during such work: the interrupted work cannot be used there.
#[must_use]
pub fn hold() -> Option<Guard> {
    watch_forks();
    let own = std::process::id();
    let mut pause = Duration::from_micros(200);
    loop {
        match HOLDER.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => return Some(Guard(())),
            Err(holder) if holder == own => {
                std::thread::sleep(pause);
                // The pause grows, so that hundreds of waiting threads do not take the processor from the working one.
                pause = (pause * 2).min(Duration::from_millis(8));
            }
            Err(_) => return None,
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        HOLDER.store(0, Ordering::Release);
    }
}

/// The process whose thread is registering the handlers, then `WATCHING`. It is not a `Once`, because if another thread
/// forks in the meantime, the child would wait forever for a thread that it does not have.
#[cfg(unix)]
static WATCHER: AtomicU32 = AtomicU32::new(0);

/// The value after the handlers were registered; no process has this ID.
#[cfg(unix)]
const WATCHING: u32 = u32::MAX;

#[cfg(unix)]
#[allow(unsafe_code)]
fn watch_forks() {
    let own = std::process::id();
    loop {
        let watcher = WATCHER.load(Ordering::Acquire);
        if watcher == WATCHING {
            return;
        }
        if watcher == own {
            std::thread::sleep(Duration::from_micros(50));
            continue;
        }
        // No thread registers the handlers, or a thread of the parent did, which may not have finished.
        if WATCHER.compare_exchange(watcher, own, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            // SAFETY: the handlers are functions of this library, which is not unloaded while its code runs; they only take and
            // release a lock, and calling them twice does no harm.
            let _ = unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
            WATCHER.store(WATCHING, Ordering::Release);
            return;
        }
    }
}

#[cfg(not(unix))]
fn watch_forks() {}

#[cfg(unix)]
extern "C" fn before() {
    // A terminating thread has no thread-local storage any more; it does not fork either.
    let _ = FORKING.try_with(|forking| {
        let mut forking = forking.borrow_mut();
        if forking.is_none() {
            *forking = hold();
        }
    });
}

/// Releases the gate in the parent and in the child, on the thread that forked.
#[cfg(unix)]
extern "C" fn after() {
    let _ = FORKING.try_with(|forking| drop(forking.borrow_mut().take()));
}
