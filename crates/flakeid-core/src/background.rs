//! Threads of the library's own, on which none of the program's signal handlers runs.

use std::io;
use std::thread::{self, JoinHandle};

/// Starts a thread to which the system delivers no signal that is sent to the whole process: a handler of the
/// program's expects to interrupt one of the program's threads, and may wait for other threads, of which ours
/// would be one. uWSGI's does: its workers did not end at all. Signals for faults and for profiling still come.
/// What the thread starts, processes included, inherits this.
///
/// # Errors
/// When the system has no thread left.
pub fn spawn_background(
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    // A thread begins with the signals blocked that its creator blocks. Miri has no signals.
    #[cfg(all(unix, not(miri)))]
    let _blocked = unix::BlockedSignals::new();
    thread::Builder::new().name(name.into()).spawn(run)
}

#[cfg(all(unix, not(miri)))]
mod unix {
    #![allow(unsafe_code)]

    use std::mem::MaybeUninit;
    use std::ptr;

    /// The signals that a thread causes itself, or that are meant for each thread.
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

    /// While it lives the calling thread blocks signals; then it blocks those that it blocked before.
    pub(super) struct BlockedSignals(Option<libc::sigset_t>);

    impl BlockedSignals {
        pub(super) fn new() -> Self {
            let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
            // SAFETY: `sigfillset` initialises `all` before it is changed and read, and `before` is read only where
            // `pthread_sigmask` has written it. These signals exist, and the pointers are valid for each call.
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
                // SAFETY: a set that `pthread_sigmask` wrote; the old one is not asked for.
                unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, ptr::null_mut()) };
            }
        }
    }
}
