//! A gate that delays `fork` until critical work has finished.
//!
//! A forked child has a copy of its parent's memory, but contains only the thread that called `fork`. Work in progress
//! on another thread, such as an `SQLite` transaction, would remain unfinished in the child forever. A thread therefore
//! holds the gate during critical work, and a `pthread_atfork` handler delays `fork` until the gate is free.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The ID of the process that holds the gate, or 0 if the gate is free. The value is a single atomic integer, so even a
/// child created by a raw `clone` reads either 0 or its parent's ID.
static HOLDER: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The guard that holds the gate while the current thread forks.
    static FORKING: RefCell<Option<Guard>> = const { RefCell::new(None) };
}

/// A guard that delays forks until it is dropped. Do not run user code while you hold the guard, because a fork in user
/// code would then wait forever.
#[must_use = "the gate is held only while the guard is alive"]
pub struct Guard(());

/// Waits until the gate is free, and then acquires the gate. Returns `None` in a child process that a raw `clone`
/// created while the parent held the gate. A raw `clone` bypasses the fork handlers, so it may interrupt work that the
/// child cannot continue.
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
                // The pause grows so that, even with hundreds of waiting threads, the thread that holds the gate gets
                // enough processor time.
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

/// The ID of the process that is registering the fork handlers, 0 before the registration, or `WATCHING` after the
/// registration. A `Once` is unsuitable: a child that was forked during the registration would wait forever for the
/// registering thread, which the child does not contain.
#[cfg(unix)]
static WATCHER: AtomicU32 = AtomicU32::new(0);

/// The value of [`WATCHER`] once the fork handlers are registered. No process has this ID.
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
        // Here, `watcher` is 0 or the ID of a parent process that forked during its own registration, so this process
        // must register the handlers.
        if WATCHER.compare_exchange(watcher, own, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            // SAFETY: the handlers are functions of this library, which is not unloaded while its code runs. The
            // handlers only acquire and release a lock, and registering the handlers twice does no harm.
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
    // `try_with` fails only on a terminating thread, which does not fork, so the error is ignored.
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
