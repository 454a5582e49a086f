//! A clock that the campaign can set.

use std::sync::Arc;

use flakeid_core::{Clock, SystemClock};

use crate::shared_memory::SharedMemory;

/// The clock of a group of workers: the system clock plus the error that the campaign set.
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
