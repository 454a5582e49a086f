#![allow(unsafe_code)]

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::board::{Board, Tally};

/// How workers are started.
pub(crate) struct Recipe {
    pub(crate) folder: PathBuf,
    pub(crate) seed: u64,
    pub(crate) rate: u64,
    /// The store's URL for each slot, and its group.
    pub(crate) places: Vec<(String, usize)>,
    /// The interpreter and the script of the last slots' workers, and how many those are.
    pub(crate) python: Option<(PathBuf, PathBuf, usize)>,
}

/// The worker processes, one for each slot, each leading a process group of its own.
pub(crate) struct Crew {
    recipe: Recipe,
    board: Arc<Board>,
    members: Vec<Member>,
    /// Workers that ended though nobody told them to.
    pub(crate) deserters: Vec<String>,
}

#[derive(Default)]
struct Member {
    child: Option<Child>,
    runs: u64,
    /// Until when it is stopped.
    stopped: Option<Instant>,
    /// When it is to be started.
    due: Option<Instant>,
}

impl Crew {
    pub(crate) fn new(recipe: Recipe, board: Arc<Board>) -> Self {
        let members = recipe.places.iter().map(|_| Member::default()).collect();
        Self { recipe, board, members, deserters: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn start_all(&mut self) -> io::Result<()> {
        (0..self.members.len()).try_for_each(|slot| self.start(slot))
    }

    fn start(&mut self, slot: usize) -> io::Result<()> {
        let Recipe { folder, seed, rate, places, python } = &self.recipe;
        let (url, group) = &places[slot];
        let mut command = match python {
            Some((interpreter, script, count)) if slot + count >= places.len() => {
                let mut command = Command::new(interpreter);
                command.arg(script);
                command
            }
            _ => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg("worker");
                command
            }
        };
        let member = &mut self.members[slot];
        member.runs += 1;
        self.board.set(slot, Tally::Leave, 0);
        command.arg("--folder").arg(folder).args(["--url", url]);
        for (name, value) in [
            ("--slot", slot as u64),
            ("--run", member.runs),
            ("--group", *group as u64),
            ("--seed", *seed),
            ("--rate", *rate),
        ] {
            command.args([name, &value.to_string()]);
        }
        command.stdin(Stdio::null()).process_group(0);
        member.child = Some(command.spawn()?);
        (member.stopped, member.due) = (None, None);
        Ok(())
    }

    /// Whether a slot's worker runs and nothing is being done to it.
    pub(crate) fn is_at_work(&self, slot: usize) -> bool {
        let member = &self.members[slot];
        member.child.is_some() && member.stopped.is_none() && member.due.is_none()
    }

    /// Kills a worker, and its forked children too or not; `false` if there is none. One that is
    /// stopped never finds out.
    pub(crate) fn kill(&mut self, slot: usize, children: bool, rest: Duration) -> io::Result<bool> {
        let member = &mut self.members[slot];
        let Some(mut child) = member.child.take() else { return Ok(false) };
        child.kill()?;
        // Its children were stopped with it; it is not waited for yet, so the group is its own.
        signal_group(&child, if children { libc::SIGKILL } else { libc::SIGCONT });
        child.wait()?;
        member.due = Some(Instant::now() + rest);
        member.stopped = None;
        Ok(true)
    }

    /// Stops a worker and its children for a while.
    pub(crate) fn stop(&mut self, slot: usize, pause: Duration) {
        let member = &mut self.members[slot];
        if let Some(child) = &member.child {
            signal_group(child, libc::SIGSTOP);
            member.stopped = Some(Instant::now() + pause);
        }
    }

    /// Tells a worker to end; another is started `rest` after it has.
    pub(crate) fn dismiss(&mut self, slot: usize, rest: Duration) {
        self.board.set(slot, Tally::Leave, 1);
        self.members[slot].due = Some(Instant::now() + rest);
    }

    /// Does what has come due: lets go on what was stopped, starts what is missing.
    pub(crate) fn tend(&mut self) -> io::Result<()> {
        let now = Instant::now();
        for slot in 0..self.members.len() {
            let member = &mut self.members[slot];
            if let (Some(child), Some(until)) = (&member.child, member.stopped)
                && now >= until
            {
                signal_group(child, libc::SIGCONT);
                member.stopped = None;
            }
            if let Some(child) = &mut member.child
                && let Some(status) = child.try_wait()?
            {
                member.child = None;
                if member.due.is_none() || !status.success() {
                    let how = status.signal().map_or_else(
                        || status.to_string(),
                        |signal| format!("{status}, signal {signal}"),
                    );
                    self.deserters.push(format!("worker {slot:02}, run {}: {how}", member.runs));
                    member.due.get_or_insert(now);
                }
            }
            if member.child.is_none() && member.due.is_some_and(|due| now >= due) {
                self.start(slot)?;
            }
        }
        Ok(())
    }

    /// Lets everything go on and everybody be there.
    pub(crate) fn gather(&mut self) -> io::Result<()> {
        for member in &mut self.members {
            let now = Instant::now();
            member.stopped = member.stopped.map(|_| now);
            member.due = member.due.map(|_| now);
        }
        self.tend()
    }

    /// Waits for all to end after the board said so, and kills those that do not, naming them.
    pub(crate) fn disband(&mut self, patience: Duration) -> io::Result<()> {
        let deadline = Instant::now() + patience;
        for (slot, member) in self.members.iter_mut().enumerate() {
            let Some(mut child) = member.child.take() else { continue };
            signal_group(&child, libc::SIGCONT);
            while child.try_wait()?.is_none() {
                if Instant::now() >= deadline {
                    self.deserters.push(format!("worker {slot:02} did not end"));
                    child.kill()?;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Ok(())
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.board.end();
        for child in self.members.iter_mut().filter_map(|member| member.child.as_mut()) {
            signal_group(child, libc::SIGKILL);
            // It fails only if it has ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Signals a worker that was not waited for yet, and its children.
fn signal_group(child: &Child, signal: libc::c_int) {
    let Ok(group) = libc::pid_t::try_from(child.id()) else { return };
    // SAFETY: the group's leader was not waited for, so its ID is still its own.
    unsafe { libc::killpg(group, signal) };
}
