//! A helper that runs code in a forked child.

/// Runs `child` in a forked child process, and fails if the child panics or runs for longer than `seconds`. The closure
/// must forget values that the child must not drop.
pub(crate) fn in_child(seconds: u32, child: impl FnOnce()) {
    // SAFETY: the forked process runs `child` and exits without unwinding into the parent's code.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "{}", std::io::Error::last_os_error());
    if pid == 0 {
        // SAFETY: `alarm` only sets a timer, which kills the child if the child hangs.
        unsafe { libc::alarm(seconds) };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
        // SAFETY: `_exit` ends only this process.
        unsafe { libc::_exit(i32::from(result.is_err())) };
    }
    // The closure is forgotten, because dropping it would also release the closure's resources in the parent.
    std::mem::forget(child);
    let mut status = 0;
    // SAFETY: the parent has not waited for the child yet, and `status` is a local variable.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert_eq!(status, 0, "the child failed");
}
