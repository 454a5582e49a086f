#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;

/// The signals that end a program, held back so that it can clean up.
pub(super) struct Ending(libc::sigset_t);

impl Ending {
    /// Holds them back, in this thread and those that it starts; programs that it starts get them.
    pub(super) fn new() -> io::Result<Self> {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the set is written by the first call and read by the others.
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

    /// Waits for one.
    pub(super) fn wait(&self) -> io::Result<()> {
        let mut signal = 0;
        // SAFETY: both pointers are valid.
        match unsafe { libc::sigwait(&raw const self.0, &raw mut signal) } {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}
