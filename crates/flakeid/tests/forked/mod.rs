//! Forked children of a test.

/// Runs `child` in a forked child; fails if that panics, or has not ended after so many seconds. What the
/// child should not run to its end, it has to forget.
pub(crate) fn in_child(seconds: u32, child: impl FnOnce()) {
    // SAFETY: the child runs `child` and leaves without unwinding into the parent's code.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "{}", std::io::Error::last_os_error());
    if pid == 0 {
        // SAFETY: ends a child that hangs.
        unsafe { libc::alarm(seconds) };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
        // SAFETY: ends this process at once, as a forked child should.
        unsafe { libc::_exit(i32::from(result.is_err())) };
    }
    // What the child gives back is still the parent's here.
    std::mem::forget(child);
    let mut status = 0;
    // SAFETY: the child was not waited for yet.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert_eq!(status, 0, "the child failed");
}
