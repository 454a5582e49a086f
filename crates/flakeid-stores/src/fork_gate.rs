//! What a fork must not cut in two.
//!
//! A forked child has a copy of its parent's memory and only the thread that forked. What another
//! thread was in the middle of stays half done in the child for ever: a locked list, an `SQLite`
//! transaction. So such work holds this gate, and `fork` waits for it (`pthread_atfork`).

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The process whose thread holds the gate; 0 if nobody does. One word, so that a raw `clone` at
/// any moment leaves its child either a free gate or one that is plainly its parent's.
static HOLDER: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// What a thread that forks holds while it does.
    static FORKING: RefCell<Option<Guard>> = const { RefCell::new(None) };
}

/// While it lives no child is forked. Never run a user's code meanwhile: it might fork.
#[must_use = "the gate is held while this lives"]
pub struct Guard(());

/// Waits until nobody else holds the gate. `None` in a child that was made by a raw `clone` in
/// mid-work, past `fork`: what was cut in two there cannot be used.
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
                // Hundreds of waiting threads must not take the processor from the one that works.
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

/// The process whose thread is registering the handlers, then `WATCHING`. Not a `Once`: if another
/// thread forks meanwhile, the child would wait for ever for a thread that it does not have.
#[cfg(unix)]
static WATCHER: AtomicU32 = AtomicU32::new(0);

/// No process has this number.
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
        // Nobody, or a thread of the parent's, which may have registered them or not.
        if WATCHER.compare_exchange(watcher, own, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            // SAFETY: the handlers are functions of this library, which is never unloaded while its
            // code runs; they only take and let go a lock, and being called twice does no harm.
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
    // A thread that is ending has no place for it any more; it does not fork either.
    let _ = FORKING.try_with(|forking| {
        let mut forking = forking.borrow_mut();
        if forking.is_none() {
            *forking = hold();
        }
    });
}

/// In the parent and in the child, by the thread that forked.
#[cfg(unix)]
extern "C" fn after() {
    let _ = FORKING.try_with(|forking| drop(forking.borrow_mut().take()));
}
