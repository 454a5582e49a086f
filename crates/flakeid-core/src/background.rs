//! The library's background threads, which do not run the program's signal handlers.

use std::io;
use std::thread::{self, JoinHandle};

/// Starts a thread that blocks all process-directed signals, except the signals for faults and for profiling. The
/// program's signal handlers expect to interrupt the program's own threads, and may wait for other threads. For
/// example, uWSGI's handler waited for one of this library's threads, so uWSGI's workers never ended. Threads and
/// processes that this thread starts inherit the blocked signals.
///
/// # Errors
/// Returns an error if the system cannot start another thread.
pub fn spawn_background(
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    // A new thread inherits the blocked signals of the thread that creates it. Miri does not support signals, so no
    // signals are blocked under Miri.
    #[cfg(all(unix, not(miri)))]
    let _blocked = unix::BlockedSignals::new();
    thread::Builder::new().name(name.into()).spawn(run)
}

#[cfg(all(unix, not(miri)))]
mod unix {
    #![allow(unsafe_code)]

    use std::mem::MaybeUninit;
    use std::ptr;

    /// The signals that stay unblocked: signals that a thread itself causes, and signals that are sent to individual
    /// threads.
    const LEFT: [i32; 8] = [
        libc::SIGABRT,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGPROF,
        libc::SIGSEGV,
        libc::SIGSYS,
        libc::SIGTRAP,
    ];

    /// A guard that blocks the calling thread's signals, and restores the previously blocked signals when it is dropped.
    pub(super) struct BlockedSignals(Option<libc::sigset_t>);

    impl BlockedSignals {
        pub(super) fn new() -> Self {
            let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
            // SAFETY: `sigfillset` initialises `all` before `all` is changed and read, and `before` is read only if
            // `pthread_sigmask` has written it. All signal numbers and pointers that are passed to these functions
            // are valid.
            unsafe {
                libc::sigfillset(all.as_mut_ptr());
                for signal in LEFT {
                    libc::sigdelset(all.as_mut_ptr(), signal);
                }
                let failed =
                    libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
                Self((failed == 0).then(|| before.assume_init()))
            }
        }
    }

    impl Drop for BlockedSignals {
        fn drop(&mut self) {
            if let Some(before) = &self.0 {
                // SAFETY: `pthread_sigmask` initialised `before`, and the pointer to the old set may be null.
                unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, ptr::null_mut()) };
            }
        }
    }
}
