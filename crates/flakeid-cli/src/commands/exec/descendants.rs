//! All processes that the command has started, directly or through others, whatever session or group they
//! are in.
//!
//! This process is a *subreaper*: a process below it becomes its child when the parent of that process
//! ends. So nothing is left of the command when this process has no child any more, which the kernel
//! reports (`waitpid` fails with `ECHILD`). `/proc` is read only to find the processes to signal: it can
//! miss a process that forks meanwhile, so it is read again until it shows no new process.
//!
//! A shell that became this process by `exec` may have had children. They count as the command's, because
//! their orphans cannot be distinguished from those of the command.

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

/// The longest time to search for new processes before the lease is looked at again.
const LONGEST_SEARCH: Duration = Duration::from_millis(50);
/// The number of processes that a message names.
const MOST_NAMED: usize = 8;

/// The processes below this one.
pub(super) struct Descendants {
    /// The processes that the last signal could not be sent to.
    refused: Vec<(Pid, Errno)>,
    /// The refused processes that were reported.
    noted: HashSet<Pid>,
    /// Whether it was reported that the processes cannot be found.
    is_blind: bool,
}

impl Descendants {
    /// Makes this process the parent of every orphan below it.
    pub(super) fn adopt() -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        Ok(Self { refused: Vec::new(), noted: HashSet::new(), is_blind: false })
    }

    /// Sends a signal to each process once. Returns whether the processes could be found.
    pub(super) fn signal(&mut self, signal: Signal) -> bool {
        self.refused.clear();
        let (end, mut signalled) = (Instant::now() + LONGEST_SEARCH, HashSet::new());
        loop {
            let mut found = match found() {
                Ok(found) => found,
                Err(error) => {
                    self.note_blindness(&error);
                    return false;
                }
            };
            found.retain(|process| signalled.insert(*process));
            if found.is_empty() || Instant::now() > end {
                return true;
            }
            for process in found {
                // The kernel assigns numbers in a circle, so a number seen just now has no other owner yet.
                match kill_process(process, signal) {
                    Ok(()) | Err(Errno::SRCH) => {}
                    Err(error) => self.refused.push((process, error)),
                }
            }
        }
    }

    /// Reports the processes that could not be signalled, which keep the node.
    pub(super) fn note_refused(&mut self, node: u64) {
        for (process, error) in &self.refused {
            if self.noted.insert(*process) {
                terminal::note(&format!(
                    "flakeid: process {} cannot be ended: {}; node {node} is not released before it ends",
                    name(*process),
                    io::Error::from(*error)
                ));
            }
        }
    }

    fn note_blindness(&mut self, error: &io::Error) {
        if !self.is_blind {
            self.is_blind = true;
            terminal::note(&format!(
                "flakeid: the processes that the command started cannot be found: {error}; the node is not \
                 released before they end"
            ));
        }
    }
}

/// Reaps the children that have ended, except the command, whose status is read elsewhere.
pub(super) fn reap_all_but(command: Pid) {
    let looking = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // This call costs less than the search, and mostly nothing has ended.
    if let Ok(Some(_)) = waitid(WaitId::All, looking) {
        // If /proc cannot be read, they are reaped when the command has ended.
        for child in children("self").unwrap_or_default() {
            if child != command {
                let _ = waitpid(Some(child), WaitOptions::NOHANG);
            }
        }
    }
}

/// Whether no process is left. The status of the command must be known, because every child that has ended
/// is reaped.
pub(super) fn have_ended() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(None) => return false,
            Ok(Some(_)) | Err(Errno::INTR) => {}
            // There is no child.
            Err(_) => return true,
        }
    }
}

/// Reports the processes that the command left behind.
pub(super) fn note_rest() {
    let rest = found().unwrap_or_default();
    if rest.is_empty() {
        return;
    }
    let mut names: Vec<String> = rest.iter().take(MOST_NAMED).map(|pid| name(*pid)).collect();
    if rest.len() > MOST_NAMED {
        names.push("…".to_owned());
    }
    terminal::note(&format!(
        "flakeid: the command has ended and left processes behind, which are ended now: {}; run a \
         service in the foreground",
        names.join(", ")
    ));
}

/// Finds all processes below this one that do not fork or end meanwhile.
fn found() -> io::Result<Vec<Pid>> {
    // The numbers in the /proc of another PID namespace are other processes here.
    let own = getpid().as_raw_nonzero().to_string();
    if fs::read_link("/proc/self")? != Path::new(&own) {
        return Err(io::Error::other("/proc is of another PID namespace"));
    }
    let (mut found, mut at) = (children("self")?, 0);
    while let Some(process) = found.get(at) {
        // A process that has ended has no children any more.
        found.extend(children(process.as_raw_nonzero()).unwrap_or_default());
        at += 1;
    }
    Ok(found)
}

/// Returns the children of all threads of a process.
fn children(process: impl Display) -> io::Result<Vec<Pid>> {
    let mut found = Vec::new();
    let mut outcome = Err(io::ErrorKind::NotFound.into());
    for task in fs::read_dir(format!("/proc/{process}/task"))? {
        match fs::read_to_string(task?.path().join("children")) {
            Ok(text) => {
                let numbers = text.split_whitespace().filter_map(|number| number.parse().ok());
                found.extend(numbers.filter_map(Pid::from_raw));
                outcome = Ok(());
            }
            // A thread may end. If none can be read, the kernel lacks CONFIG_PROC_CHILDREN.
            Err(error) if outcome.is_err() => outcome = Err(error),
            Err(_) => {}
        }
    }
    outcome.map(|()| found)
}

/// Returns the number of a process with its name.
fn name(process: Pid) -> String {
    let number = process.as_raw_nonzero();
    let name = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
    format!("{number} ({})", sanitize(name.trim_end()))
}
