//! Whether this process has ended but for flakeid's own threads.
//!
//! Where a thread forks and returns in the child, it was the child's main thread. The process then lasts until its
//! other threads end, and the keeper of a lease never would: the child would hold a node for ever, as a zombie that its
//! parent waits for and that SIGTERM does not reach, because flakeid's threads block signals.

use flakeid_core::internal::spawn_background;
use std::io;

/// The name of threads that keep a lease.
const KEEPER: &str = "flakeid-lease";
/// The name of such a thread once it has nothing to release.
#[cfg(target_os = "linux")]
const ENDED_KEEPER: &str = "flakeid-ended";
/// With what the names of flakeid's threads begin.
#[cfg(target_os = "linux")]
const OWN: &str = "flakeid-";

/// Starts the thread of a lease's keeper.
pub(crate) fn spawn_keeper(run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    spawn_background(KEEPER, run).map(drop)
}

/// Whether the main thread has ended and all others are flakeid's. Always `false` where the system does not say.
pub(crate) fn has_ended() -> bool {
    #[cfg(target_os = "linux")]
    return linux::main_thread_has_ended() == Some(true)
        && linux::thread_names()
            .is_some_and(|names| names.iter().all(|name| name.starts_with(OWN)));
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// Called by a keeper's thread that has released its node in a process that [has ended](has_ended). Exits with status
/// 0, as the C library does when the last thread ends, unless the keeper of another lease still has to release its node.
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

    /// From `proc_pid_stat(5)`: the state follows the command, which is in parentheses and may contain any byte.
    pub(super) fn main_thread_has_ended() -> Option<bool> {
        let stat = fs::read("/proc/self/stat").ok()?;
        let end_of_command = stat.iter().rposition(|byte| *byte == b')')?;
        stat.get(end_of_command + 2).map(|state| *state == b'Z')
    }

    /// The names of all threads but the main one.
    pub(super) fn thread_names() -> Option<Vec<String>> {
        let main = std::process::id().to_string();
        let threads = fs::read_dir("/proc/self/task").ok()?;
        let others = threads.filter_map(Result::ok).filter(|thread| *thread.file_name() != *main);
        // A thread may end while this looks.
        let names = others.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
        Some(names.map(|name| name.trim_end().to_owned()).collect())
    }

    pub(super) fn rename_this_thread(name: &str) -> io::Result<()> {
        fs::write("/proc/thread-self/comm", name)
    }
}
