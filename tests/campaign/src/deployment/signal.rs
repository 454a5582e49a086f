//! Waiting for Ctrl-C.

#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;

/// The signals that end a program, blocked so that it can clean up first.
pub(super) struct TerminationSignals(libc::sigset_t);

impl TerminationSignals {
    /// Blocks the signals in this thread and in the threads that it starts later.
    pub(super) fn new() -> io::Result<Self> {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the first call initialises the set, and the others read it.
        let (set, done) = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGINT);
            libc::sigaddset(set.as_mut_ptr(), libc::SIGTERM);
            let set = set.assume_init();
            let done = libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            (set, done)
        };
        if done == 0 { Ok(Self(set)) } else { Err(io::Error::from_raw_os_error(done)) }
    }

    /// Waits for one of the signals.
    pub(super) fn wait(&self) -> io::Result<()> {
        let mut signal = 0;
        // SAFETY: both pointers are valid.
        match unsafe { libc::sigwait(&raw const self.0, &raw mut signal) } {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}
