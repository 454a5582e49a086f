//! Detects and ends a process in which only flakeid's own threads are still running.
//!
//! A thread that calls `fork` becomes the main thread of the child process. When this main thread ends, the child
//! continues to run until its other threads end. Without this module, the thread of a lease's keeper would never end,
//! and the child would hold a node forever while its parent waits for the child to exit. SIGTERM would have no effect,
//! because flakeid's threads block signals.

use flakeid_core::internal::spawn_background;
use std::io;

/// The name of a thread that runs a lease's keeper.
const KEEPER: &str = "flakeid-lease";
/// The name of a keeper's thread after the keeper has released its node.
#[cfg(target_os = "linux")]
const ENDED_KEEPER: &str = "flakeid-ended";
/// The prefix of the name of every thread that flakeid starts.
#[cfg(target_os = "linux")]
const OWN: &str = "flakeid-";

/// Starts the thread of a lease's keeper.
pub(crate) fn spawn_keeper(run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    spawn_background(KEEPER, run).map(drop)
}

/// Whether the main thread has ended and all other threads belong to flakeid. A thread of the program without a name of
/// its own may have inherited such a name from the program, but does not block signals. Always `false` on systems that
/// do not report the states of threads.
pub(crate) fn has_ended() -> bool {
    #[cfg(target_os = "linux")]
    return linux::main_thread_has_ended() == Some(true)
        && linux::threads().is_some_and(|threads| {
            threads.iter().all(|(name, blocks)| name.starts_with(OWN) && *blocks)
        });
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// Exits this process, unless another lease's keeper must still release its node. A keeper calls this function after
/// releasing its own node, if [`has_ended`] returns true. The exit status is 0, as when the last thread of a process
/// ends.
pub(crate) fn exit() {
    #[cfg(target_os = "linux")]
    if linux::rename_this_thread(ENDED_KEEPER).is_ok()
        && linux::threads().is_some_and(|threads| threads.iter().all(|(name, _)| name != KEEPER))
    {
        std::process::exit(0);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{fs, io};

    /// The number of the signal, on all processors.
    const SIGTERM: u32 = 15;

    /// Returns whether the main thread has ended, or `None` if its state cannot be read. According to
    /// `proc_pid_stat(5)`, the state follows the command name, which is in parentheses and can contain any byte.
    pub(super) fn main_thread_has_ended() -> Option<bool> {
        let stat = fs::read("/proc/self/stat").ok()?;
        let end_of_command = stat.iter().rposition(|byte| *byte == b')')?;
        stat.get(end_of_command + 2).map(|state| *state == b'Z')
    }

    /// Returns the name of each thread except the main thread, and whether the thread blocks SIGTERM.
    pub(super) fn threads() -> Option<Vec<(String, bool)>> {
        let main = std::process::id().to_string();
        let threads = fs::read_dir("/proc/self/task").ok()?;
        let others = threads.filter_map(Result::ok).filter(|thread| *thread.file_name() != *main);
        // Threads whose status cannot be read are skipped, because a thread can end during the iteration.
        let statuses =
            others.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok());
        Some(statuses.map(|status| name_and_block(&status)).collect())
    }

    fn name_and_block(status: &str) -> (String, bool) {
        let field = |name| {
            status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim()
        };
        let blocked = u64::from_str_radix(field("SigBlk:"), 16).unwrap_or_default();
        (field("Name:").to_owned(), blocked >> (SIGTERM - 1) & 1 == 1)
    }

    pub(super) fn rename_this_thread(name: &str) -> io::Result<()> {
        fs::write("/proc/thread-self/comm", name)
    }
}
