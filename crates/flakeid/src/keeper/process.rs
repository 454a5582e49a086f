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

/// Whether the main thread has ended and all other threads belong to flakeid. Always `false` on systems that do not
/// report the states of threads.
pub(crate) fn has_ended() -> bool {
    #[cfg(target_os = "linux")]
    return linux::main_thread_has_ended() == Some(true)
        && linux::thread_names()
            .is_some_and(|names| names.iter().all(|name| name.starts_with(OWN)));
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// Exits this process, unless another lease's keeper must still release its node. A keeper calls this function after
/// releasing its own node, if [`has_ended`] returns true. The exit status is 0, as when the last thread of a process
/// ends.
pub(crate) fn exit() {
    #[cfg(target_os = "linux")]
    if linux::rename_this_thread(ENDED_KEEPER).is_ok()
        && linux::thread_names().is_some_and(|names| names.iter().all(|name| name != KEEPER))
    {
        std::process::exit(0);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{fs, io};

    /// Returns whether the main thread has ended, or `None` if its state cannot be read. According to
    /// `proc_pid_stat(5)`, the state follows the command name, which is in parentheses and can contain any byte.
    pub(super) fn main_thread_has_ended() -> Option<bool> {
        let stat = fs::read("/proc/self/stat").ok()?;
        let end_of_command = stat.iter().rposition(|byte| *byte == b')')?;
        stat.get(end_of_command + 2).map(|state| *state == b'Z')
    }

    /// Returns the names of all threads except the main thread.
    pub(super) fn thread_names() -> Option<Vec<String>> {
        let main = std::process::id().to_string();
        let threads = fs::read_dir("/proc/self/task").ok()?;
        let others = threads.filter_map(Result::ok).filter(|thread| *thread.file_name() != *main);
        // Threads whose names cannot be read are skipped, because a thread can end during the iteration.
        let names = others.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
        Some(names.map(|name| name.trim_end().to_owned()).collect())
    }

    pub(super) fn rename_this_thread(name: &str) -> io::Result<()> {
        fs::write("/proc/thread-self/comm", name)
    }
}
