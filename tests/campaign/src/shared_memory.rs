//! The memory that all processes of a campaign share: counters, and clock errors that the campaign
//! sets.

#![allow(unsafe_code)]

use std::fs::OpenOptions;
use std::io::{self, Error};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flakeid_core::{Clock, SystemClock};

/// The maximum number of workers.
pub(crate) const SLOTS: usize = 32;
/// The number of groups of workers, each with its own clock and network.
pub(crate) const GROUPS: usize = 4;
/// The number of nodes, which is smaller than the number of workers.
pub(crate) const NODES: usize = 8;

/// A counter of a worker, over all its processes and forked children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tally {
    /// The IDs that were logged.
    Ids,
    /// The generators that were opened.
    Opened,
    Grants,
    Renewals,
    FencedOff,
    StoreLost,
    Released,
    /// The calls that returned no ID.
    Failures,
    Forks,
    /// The IDs that are not above the previous ID of the same generator, including the IDs of the
    /// parent process (I8).
    Disorder,
    /// A request instead of a count: a nonzero value makes the worker end.
    Stop,
}

const TALLIES: usize = 16;
const CLOCKS: usize = 1;
const HEARTBEAT_ROWS: usize = CLOCKS + GROUPS;
const COUNTS: usize = HEARTBEAT_ROWS + NODES;
const WORDS: usize = COUNTS + SLOTS * TALLIES;

/// The shared memory of all processes of a campaign, which outlives each process.
pub(crate) struct SharedMemory {
    words: NonNull<AtomicU64>,
}

// SAFETY: the words are atomics and stay mapped until the process ends.
unsafe impl Send for SharedMemory {}
// SAFETY: the words are atomics and stay mapped until the process ends.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Maps the file `shared_memory` in a campaign's folder, and creates the file if it does not
    /// exist.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let bytes = WORDS * size_of::<u64>();
        let path = folder.join("shared_memory");
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        file.set_len(bytes as u64)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the mapping is new and not longer than the file; the result is checked below.
        let at = unsafe {
            libc::mmap(ptr::null_mut(), bytes, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if at == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        NonNull::new(at.cast()).map(|words| Self { words }).ok_or_else(Error::last_os_error)
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < WORDS, "word {index} does not exist");
        // SAFETY: the word is within the mapping, which is aligned to a page, accessed only through
        // atomics, and never unmapped.
        unsafe { &*self.words.as_ptr().add(index) }
    }

    /// Whether the campaign is over, so that every process has to end.
    pub(crate) fn is_over(&self) -> bool {
        self.word(0).load(Ordering::SeqCst) != 0
    }

    pub(crate) fn end(&self) {
        self.word(0).store(1, Ordering::SeqCst);
    }

    /// Returns the error of a group's clock, in milliseconds.
    pub(crate) fn clock_error(&self, group: usize) -> i64 {
        self.word(CLOCKS + group % GROUPS).load(Ordering::Relaxed).cast_signed()
    }

    pub(crate) fn set_clock_error(&self, group: usize, ms: i64) {
        self.word(CLOCKS + group % GROUPS).store(ms.cast_unsigned(), Ordering::SeqCst);
    }

    /// Returns the row of a node in the store of the heartbeat control.
    pub(crate) fn heartbeat_row(&self, node: usize) -> &AtomicU64 {
        self.word(HEARTBEAT_ROWS + node % NODES)
    }

    fn cell(&self, slot: usize, tally: Tally) -> &AtomicU64 {
        self.word(COUNTS + slot * TALLIES + tally as usize)
    }

    pub(crate) fn count(&self, slot: usize, tally: Tally, more: u64) {
        self.cell(slot, tally).fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn tally(&self, slot: usize, tally: Tally) -> u64 {
        self.cell(slot, tally).load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, slot: usize, tally: Tally, value: u64) {
        self.cell(slot, tally).store(value, Ordering::SeqCst);
    }

    pub(crate) fn total(&self, tally: Tally) -> u64 {
        (0..SLOTS).map(|slot| self.tally(slot, tally)).sum()
    }
}

/// The clock of a group of workers: the system clock plus the error that the campaign has set.
#[derive(Clone)]
pub(crate) struct GroupClock {
    shared: Arc<SharedMemory>,
    group: usize,
}

impl GroupClock {
    pub(crate) fn new(shared: Arc<SharedMemory>, group: usize) -> Self {
        Self { shared, group }
    }
}

impl Clock for GroupClock {
    fn unix_ms(&self) -> i64 {
        SystemClock.unix_ms().saturating_add(self.shared.clock_error(self.group))
    }
}
