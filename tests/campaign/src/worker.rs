//! A process that leases a node, issues IDs, gives it back and begins anew, until it is told to end
//! or killed; some fork in the middle.

#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::process;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use flakeid_core::{Clock, Error, Id, SystemClock};
use flakeid_lease::protocol::Identity;
use flakeid_lease::{LeaseEvent, LeasedGenerator};

use crate::board::{Board, NODES, Tally};
use crate::clock::GroupClock;
use crate::dice::Dice;
use crate::notebook::Notebook;
use crate::shape::LAYOUT;
use crate::{controls, terms};

/// What a worker is told.
#[derive(Args, Clone)]
pub(crate) struct Worker {
    #[arg(long)]
    pub(crate) folder: PathBuf,
    #[arg(long)]
    pub(crate) url: String,
    #[arg(long)]
    pub(crate) slot: usize,
    /// Which of the slot's processes.
    #[arg(long)]
    pub(crate) run: u64,
    #[arg(long)]
    pub(crate) group: usize,
    #[arg(long)]
    pub(crate) seed: u64,
    /// IDs per second.
    #[arg(long)]
    pub(crate) rate: u64,
}

const MOST_IDS: u64 = 8192;
/// A generator that gave nothing so often in a row is closed and another one opened.
const PATIENCE: u32 = 4;
const DEEPEST: u32 = 2;

/// One process: a worker, its child, or its grandchild.
struct Life {
    worker: Worker,
    board: Arc<Board>,
    parent: libc::pid_t,
    dice: Dice,
    /// How many forks lie between it and the worker.
    depth: u32,
    notebooks: u64,
    ends: Option<Instant>,
}

impl Worker {
    /// Runs until the board says so.
    pub(crate) fn run(&self) -> io::Result<()> {
        let board = Arc::new(Board::open(&self.folder.join("board"))?);
        // SAFETY: children that ended are nobody's concern.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        let clock = GroupClock::new(Arc::clone(&board), self.group);
        let name = format!("{:02}-{}", self.slot, self.run);
        let (worker, shared) = (self.clone(), Arc::clone(&board));
        thread::spawn(move || {
            let done = controls::run(&shared, &clock, &worker.folder, &name, worker.slot);
            // A control that cannot write proves nothing.
            if let Err(error) = done {
                eprintln!("control {name}: {error}");
                process::exit(3);
            }
        });
        let dice = Dice::for_part(self.seed, (self.slot as u64) << 32 | self.run);
        // SAFETY: always succeeds.
        let parent = unsafe { libc::getppid() };
        let worker = self.clone();
        Life { worker, board, parent, dice, depth: 0, notebooks: 0, ends: None }.live()
    }

    fn identity(&self) -> Identity {
        match self.slot % 12 {
            6..=8 => Identity::Name(format!("worker-{}", self.slot)),
            9 | 10 => Identity::Node(0),
            11 => Identity::Node(5),
            _ => Identity::Any,
        }
    }

    /// A fixed node is its parent's for ever, so those do not fork.
    fn forks(&self) -> bool {
        !matches!(self.identity(), Identity::Node(_)) && self.slot % 3 == 2
    }
}

impl Life {
    fn live(mut self) -> io::Result<()> {
        while !self.is_over() {
            match self.open() {
                Ok(generator) => {
                    self.board.count(self.worker.slot, Tally::Opened, 1);
                    self.hold(&generator, 0)?;
                    drop(generator);
                    // Otherwise it would often get the same node again before anybody else.
                    self.rest(200..1000);
                }
                Err(error) => {
                    self.failed(&error)?;
                    self.rest(5..60);
                }
            }
        }
        Ok(())
    }

    fn rest(&mut self, ms: Range<u64>) {
        thread::sleep(Duration::from_millis(self.dice.among(ms)));
    }

    fn is_over(&self) -> bool {
        let told = self.depth == 0 && self.board.tally(self.worker.slot, Tally::Leave) != 0;
        // SAFETY: always succeeds. A worker does not outlive the campaign; children are orphans
        // often, and end by themselves.
        let orphaned = self.depth == 0 && unsafe { libc::getppid() } != self.parent;
        let late = self.ends.is_some_and(|end| Instant::now() >= end);
        self.board.is_over() || told || orphaned || late
    }

    fn open(&self) -> Result<LeasedGenerator, Error> {
        let (window, ttl) = terms::window_and_ttl(self.worker.slot);
        let (board, slot) = (Arc::clone(&self.board), self.worker.slot);
        let log = self.log().ok();
        let log = move |event: &LeaseEvent| {
            let tally = match event {
                LeaseEvent::Acquired { .. } => Some(Tally::Grants),
                LeaseEvent::Renewed { .. } => Some(Tally::Renewals),
                LeaseEvent::FencedOff { .. } => Some(Tally::FencedOff),
                LeaseEvent::StoreLost { .. } => Some(Tally::StoreLost),
                LeaseEvent::Released { .. } => Some(Tally::Released),
                _ => None,
            };
            if let Some(tally) = tally {
                board.count(slot, tally, 1);
            }
            if let Some(log) = &log {
                note(log, &format!("{event:?}"));
            }
        };
        LeasedGenerator::builder(&self.worker.url, LAYOUT)?
            .namespace(terms::NAMESPACE)
            .identity(self.worker.identity())
            .nodes(0, NODES as u64 - 1)
            .window(window)
            .ttl(ttl)
            .max_wait(terms::MAX_WAIT)
            .clock(GroupClock::new(Arc::clone(&self.board), self.worker.group))
            .observer(log)
            .open()
    }

    fn log(&self) -> io::Result<File> {
        let name = format!("{:02}.log", self.worker.slot);
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.worker.folder.join("events").join(name))
    }

    fn failed(&self, error: &Error) -> io::Result<()> {
        self.board.count(self.worker.slot, Tally::Failures, 1);
        note(&self.log()?, &format!("{:?}: {error}", error.kind()));
        Ok(())
    }

    /// Issues IDs above `last` for a while.
    fn hold(&mut self, generator: &LeasedGenerator, mut last: u64) -> io::Result<()> {
        let Worker { slot, run, rate, .. } = self.worker;
        self.notebooks += 1;
        let name = format!("{slot:02}-{run}-{}-{}", process::id(), self.notebooks);
        let mut notebook = Notebook::begin(&self.worker.folder.join("leased"), &name)?;
        let until = Instant::now() + Duration::from_millis(self.dice.among(300..2500));
        let (mut failures, mut ids) = (0, vec![Id::from_u64(0); MOST_IDS as usize]);
        while !self.is_over() && Instant::now() < until && failures < PATIENCE {
            let wanted = self.dice.among(1..MOST_IDS) as usize;
            let began = Instant::now();
            match self.issue(generator, &mut ids[..wanted]) {
                Ok(count) => {
                    failures = 0;
                    notebook.write_ids(&ids[..count])?;
                    self.board.count(slot, Tally::Ids, count as u64);
                    for id in &ids[..count] {
                        if id.to_u64() <= last {
                            self.board.count(slot, Tally::Disorder, 1);
                        }
                        last = id.to_u64();
                    }
                    let due = Duration::from_nanos(count as u64 * 1_000_000_000 / rate);
                    thread::sleep(due.saturating_sub(began.elapsed()));
                }
                Err(error) => {
                    failures += 1;
                    self.failed(&error)?;
                    // One that has ended for good says so at once, again and again.
                    self.rest(1..20);
                }
            }
            if self.worker.forks() && self.depth < DEEPEST && self.dice.percent(3) {
                self.fork(generator, last)?;
            }
        }
        Ok(())
    }

    /// By every way there is.
    fn issue(&mut self, generator: &LeasedGenerator, ids: &mut [Id]) -> Result<usize, Error> {
        match self.dice.among(0..10) {
            0 => generator.try_fill(ids),
            1 => generator.next_ids(ids.len()).map(|made| {
                ids[..made.len()].copy_from_slice(&made);
                made.len()
            }),
            2 => {
                let few = ids.len().min(50);
                for (count, id) in ids[..few].iter_mut().enumerate() {
                    match generator.next_id() {
                        Ok(next) => *id = next,
                        Err(error) if count == 0 => return Err(error),
                        Err(_) => return Ok(count),
                    }
                }
                Ok(few)
            }
            _ => generator.fill(ids),
        }
    }

    /// The child goes on with its parent's generator, for a while.
    fn fork(&mut self, generator: &LeasedGenerator, last: u64) -> io::Result<()> {
        self.board.count(self.worker.slot, Tally::Forks, 1);
        let life = Duration::from_millis(self.dice.among(100..2500));
        // SAFETY: the child allocates, which the C library allows, and uses of what other threads
        // had nothing but what the library under test is made to stand.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                self.depth += 1;
                self.ends = Some(Instant::now() + life);
                self.dice = Dice::for_part(self.dice.next(), u64::from(process::id()));
                let gives_back = self.dice.percent(50);
                let done = self.hold(generator, last);
                if gives_back && done.is_ok() {
                    // SAFETY: the parent's value, of which this process has a copy of its own; it
                    // ends without coming back to it.
                    drop(unsafe { std::ptr::read(generator) });
                }
                // SAFETY: ends this process, without running what its parent registered.
                unsafe { libc::_exit(if done.is_ok() { 0 } else { 4 }) }
            }
            _ => Ok(()),
        }
    }
}

/// One line, whole even when several processes write.
fn note(mut log: &File, what: &str) {
    let line = format!("{} {} {what}\n", SystemClock.unix_ms(), process::id());
    // Only for people who look for the cause of something.
    let _ = log.write_all(line.as_bytes());
}
