use std::sync::Arc;

use flakeid_core::{Clock, SystemClock};

use crate::board::Board;

/// The clock of a group of workers, as the campaign sets it.
#[derive(Clone)]
pub(crate) struct GroupClock {
    board: Arc<Board>,
    group: usize,
}

impl GroupClock {
    pub(crate) fn new(board: Arc<Board>, group: usize) -> Self {
        Self { board, group }
    }
}

impl Clock for GroupClock {
    fn unix_ms(&self) -> i64 {
        SystemClock.unix_ms().saturating_add(self.board.clock_error(self.group))
    }
}
