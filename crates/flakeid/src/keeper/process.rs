//! Detects a process in which only flakeid's own threads are left.
//!
//! If a thread forks and then returns in the child, it was the child's main thread. The process then lasts until its
//! other threads end, and the keeper of a lease would never end. The child would hold a node forever, while its
//! parent waits for it and SIGTERM does not reach it, because flakeid's threads block signals.

use flakeid_core::internal::spawn_background;
use std::io;

/// The name of threads that keep a lease.
const KEEPER: &str = "flakeid-lease";
/// The name of such a thread once it has nothing to release.
#[cfg(target_os = "linux")]
const ENDED_KEEPER: &str = "flakeid-ended";
/// The prefix of the names of flakeid's threads.
#[cfg(target_os = "linux")]
const OWN: &str = "flakeid-";

/// Starts the thread of a lease's keeper.
pub(crate) fn spawn_keeper(run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    spawn_background(KEEPER, run).map(drop)
}

/// Whether the main thread has ended and all others are flakeid's. Always `false` on systems that do not report it.
pub(crate) fn has_ended() -> bool {
    #[cfg(target_os = "linux")]
    return linux::main_thread_has_ended() == Some(true)
        && linux::thread_names()
            .is_some_and(|names| names.iter().all(|name| name.starts_with(OWN)));
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// Ends the process after a keeper released its node in a process that [has ended](has_ended). Exits with status 0,
/// like the C library when the last thread ends, unless the keeper of another lease must still release its node.
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

    /// Reads the state of the main thread. By `proc_pid_stat(5)` it follows the command, which is in parentheses and
    /// can contain any byte.
    pub(super) fn main_thread_has_ended() -> Option<bool> {
        let stat = fs::read("/proc/self/stat").ok()?;
        let end_of_command = stat.iter().rposition(|byte| *byte == b')')?;
        stat.get(end_of_command + 2).map(|state| *state == b'Z')
    }

    /// Returns the names of all threads except the main one.
    pub(super) fn thread_names() -> Option<Vec<String>> {
        let main = std::process::id().to_string();
        let threads = fs::read_dir("/proc/self/task").ok()?;
        let others = threads.filter_map(Result::ok).filter(|thread| *thread.file_name() != *main);
        // A thread can end during the search.
        let names = others.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
        Some(names.map(|name| name.trim_end().to_owned()).collect())
    }

    pub(super) fn rename_this_thread(name: &str) -> io::Result<()> {
        fs::write("/proc/thread-self/comm", name)
    }
}
