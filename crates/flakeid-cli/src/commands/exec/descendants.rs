//! Finds, signals and reaps all processes that the command has started directly or indirectly, in
//! any session or process group.
//!
//! This process is a *subreaper*: when the parent of any descendant ends, the descendant becomes a
//! child of this process. All processes of the command have therefore ended when this process has
//! no children left. The kernel reports this state: `waitpid` fails with `ECHILD`. `/proc` serves
//! only to find the processes to signal. A single scan of `/proc` can miss processes that are
//! started during the scan, so the scan is repeated until it finds no new process.
//!
//! If a shell replaced itself with this process by `exec`, this process may already have children
//! of the shell. These children are treated like processes of the command, because their orphans
//! cannot be distinguished from the orphans of the command.
//!
//! Programs that print credentials for the store are children of this process, too, but of another
//! thread. The command, its orphans and the children of a shell are children of the main thread,
//! so this module searches only for children of that thread.

use std::collections::HashSet;
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, set_child_subreaper,
    wait, waitid, waitpid,
};

use crate::format::sanitize;
use crate::terminal;

/// The maximum duration of a search for new processes. After this time, the lease is checked again.
const LONGEST_SEARCH: Duration = Duration::from_millis(50);
/// The option of `wait` that excludes the children of other threads: `__WNOTHREAD` of Linux.
const OF_THIS_THREAD: u32 = 0x2000_0000;
/// The maximum number of processes named in a message.
const MOST_NAMED: usize = 8;

/// The descendants of this process.
pub(super) struct Descendants {
    /// The processes to which the last signal could not be sent, each with the error that occurred.
    refused: Vec<(Pid, Errno)>,
    /// The processes that could not be signalled and have already been reported.
    reported: HashSet<Pid>,
    /// Whether a failed search for the processes has been reported.
    is_failure_reported: bool,
}

impl Descendants {
    /// Makes this process a subreaper, which becomes the parent of every descendant whose own
    /// parent ends.
    ///
    /// # Errors
    /// Fails outside the main thread, because orphans become children of the main thread.
    pub(super) fn adopt() -> io::Result<Self> {
        // The link is `PROCESS/task/THREAD`, and the first thread has the ID of its process.
        let thread = fs::read_link("/proc/thread-self")?;
        if thread.iter().next() != thread.file_name() {
            return Err(io::Error::other("this is not the main thread of the process"));
        }
        set_child_subreaper(Some(getpid()))?;
        Ok(Self { refused: Vec::new(), reported: HashSet::new(), is_failure_reported: false })
    }

    /// Sends a signal to each descendant once. Returns `false` if the search for the descendants
    /// failed.
    pub(super) fn signal(&mut self, signal: Signal) -> bool {
        self.refused.clear();
        let (end, mut signalled) = (Instant::now() + LONGEST_SEARCH, HashSet::new());
        loop {
            let mut found = match found() {
                Ok(found) => found,
                Err(error) => {
                    self.report_search_failure(&error);
                    return false;
                }
            };
            found.retain(|process| signalled.insert(*process));
            if found.is_empty() || Instant::now() > end {
                return true;
            }
            for process in found {
                // The kernel assigns process IDs cyclically, so a process ID that was just read has
                // not been reused yet.
                match kill_process(process, signal) {
                    Ok(()) | Err(Errno::SRCH) => {}
                    Err(error) => self.refused.push((process, error)),
                }
            }
        }
    }

    /// Reports each process that could not be signalled, because the node is not released until
    /// that process ends.
    pub(super) fn report_refused(&mut self, node: u64) {
        for (process, error) in &self.refused {
            if self.reported.insert(*process) {
                terminal::note(&format!(
                    "flakeid: cannot terminate process {}, so node {node} will be released only after the process exits: {}",
                    name(*process),
                    io::Error::from(*error)
                ));
            }
        }
    }

    fn report_search_failure(&mut self, error: &io::Error) {
        if !self.is_failure_reported {
            self.is_failure_reported = true;
            terminal::note(&format!(
                "flakeid: the processes that the command started cannot be found: {error}; the node is \
                 released only after they end"
            ));
        }
    }
}

/// Reaps all children that have ended, except the command, whose exit status another task reads.
pub(super) fn reap_all_except(command: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let options = options | WaitIdOptions::from_bits_retain(OF_THIS_THREAD);
    // In most cases, no child has ended. `waitid` detects this case faster than a search of
    // `/proc`.
    if let Ok(Some(_)) = waitid(WaitId::All, options) {
        // If `/proc` cannot be read, children that have ended are not reaped until the command
        // itself has ended.
        for child in own_children().unwrap_or_default() {
            if child != command {
                let _ = waitpid(Some(child), WaitOptions::NOHANG);
            }
        }
    }
}

/// Whether all descendants have ended. Call this function only after the command's exit status is
/// known, because the function reaps every child that has ended.
pub(super) fn have_ended() -> bool {
    loop {
        match wait(WaitOptions::NOHANG | WaitOptions::from_bits_retain(OF_THIS_THREAD)) {
            Ok(None) => return false,
            Ok(Some(_)) | Err(Errno::INTR) => {}
            // `ECHILD` means that this thread has no children.
            Err(_) => return true,
        }
    }
}

/// Reports the processes that are still running after the command has ended.
pub(super) fn report_remaining() {
    let rest = found().unwrap_or_default();
    if rest.is_empty() {
        return;
    }
    let mut names: Vec<String> = rest.iter().take(MOST_NAMED).map(|pid| name(*pid)).collect();
    if rest.len() > MOST_NAMED {
        names.push("…".to_owned());
    }
    terminal::note(&format!(
        "flakeid: the command has ended and left processes behind, which are now terminated: {}; run \
         services in the foreground",
        names.join(", ")
    ));
}

/// Returns all descendants of this process. Descendants that start, end or lose their parent during
/// the search may be missing.
fn found() -> io::Result<Vec<Pid>> {
    // If `/proc` belongs to another PID namespace, the process IDs in `/proc` identify different
    // processes in this namespace.
    let own = getpid().as_raw_nonzero().to_string();
    if fs::read_link("/proc/self")? != Path::new(&own) {
        return Err(io::Error::other(
            "/proc shows another PID namespace: mount /proc in this container",
        ));
    }
    let (mut found, mut at) = (own_children()?, 0);
    while let Some(process) = found.get(at) {
        // A process that ended during the search no longer has any children, so an error is
        // ignored.
        found.extend(children(process.as_raw_nonzero()).unwrap_or_default());
        at += 1;
    }
    Ok(found)
}

/// Returns the children of this thread.
fn own_children() -> io::Result<Vec<Pid>> {
    Ok(parse(&fs::read_to_string("/proc/thread-self/children")?).collect())
}

/// Parses a list of process IDs.
fn parse(children: &str) -> impl Iterator<Item = Pid> {
    let numbers = children.split_whitespace().filter_map(|number| number.parse().ok());
    numbers.filter_map(Pid::from_raw)
}

/// Returns the children of all threads of another process.
fn children(process: impl Display) -> io::Result<Vec<Pid>> {
    let mut found = Vec::new();
    let mut outcome = Err(io::ErrorKind::NotFound.into());
    for task in fs::read_dir(format!("/proc/{process}/task"))? {
        match fs::read_to_string(task?.path().join("children")) {
            Ok(text) => {
                found.extend(parse(&text));
                outcome = Ok(());
            }
            // A thread may end during the search, so an error is returned only if no file can be
            // read. In that case, the kernel may lack `CONFIG_PROC_CHILDREN`.
            Err(error) if outcome.is_err() => outcome = Err(error),
            Err(_) => {}
        }
    }
    outcome.map(|()| found)
}

/// Returns a process's ID and name.
fn name(process: Pid) -> String {
    let number = process.as_raw_nonzero();
    let name = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
    format!("{number} ({})", sanitize(name.trim_end()))
}
