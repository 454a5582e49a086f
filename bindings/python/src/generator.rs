//! The class Generator, without the methods that Python sees.

use flakeid_core::{Error, ErrorKind, Id};
use flakeid_lease::AnyGenerator;
use pyo3::prelude::*;

use crate::error::raise;
use crate::layout::Layout;

/// How many IDs are made before other Python threads get a turn: this takes some tens of
/// microseconds.
pub(crate) const MOST_AT_ONCE: usize = 1 << 16;

/// Makes the IDs of one node: unique, strictly increasing, from any number of threads.
///
/// `node`, or `datacenter` and `worker`, has no default: it must be different for every generator
/// of this layout that may run at the same time anywhere. Generators of one node in one process
/// share their position. In a forked child every call is ForkedError: build one with a node of its
/// own there. flakeid.lease and flakeid.auto return Generators that need no node and may be used in
/// a forked child. Durations are seconds (int or float) or timedeltas.
///
/// Args:
///     node: The node, 0 to the layout's max_node.
///     datacenter: The high part of the node, in layouts that split it; requires worker.
///     worker: The low part of the node, in layouts that split it; requires datacenter.
///     nodes: Several nodes instead of one, for as many times the IDs per second; their number must
///         be a power of two. Cannot be combined with sequence_mask or clock sequences.
///     layout: A Layout, a preset's name or a descriptor.
///     epoch: Unix milliseconds, instead of the layout's epoch.
///     sequence_mask: The largest sequence number to use, 2**k - 1 (default: the layout's).
///     sequence_start: Begin each tick at a random sequence number of at most this many bits
///         (default: 0).
///     overflow: When a tick is full: 'wait' (default), 'error', or 'borrow' (with a window).
///     rollback: When the clock goes back: 'continue' (default), 'error', 'wait' or
///         'clock-sequence'.
///     max_ahead: How far ahead of the clock a window may be used (default: 20 s).
///     max_wait: How long a call waits without issuing an ID (default: 1 s or two ticks, whichever
///         is longer).
///     clock: 'system' (default), which is exact; 'coarse', which is faster and a few milliseconds
///         late; 'gated', which is exact, and faster to read where the processor allows it; or a
///         ManualClock.
///     window: (start, fence), the ticks that may be used, fence exclusive (default: all).
///
/// Raises:
///     FieldOutOfRangeError, InvalidOptionError, InvalidLayoutError: An argument is wrong.
///     HorizonReachedError: The layout's ticks have run out.
///     ForkedError: The parent process used this node.
#[pyclass(frozen, module = "flakeid", name = "Generator")]
pub(crate) struct Generator(pub(crate) AnyGenerator);

impl Drop for Generator {
    /// Giving a node back takes up to a second and may call Python, so it is done without the GIL.
    fn drop(&mut self) {
        if let AnyGenerator::Leased(leased) = &self.0 {
            // An interpreter that is gone has no observers that could wait for the GIL.
            let _ = Python::try_attach(|py| py.detach(|| leased.close()));
        }
    }
}

impl Generator {
    /// What stopped `try_next_id` may be over soon, and the core knows how long to wait for that.
    #[cold]
    pub(crate) fn next_id_waiting(&self, py: Python<'_>, error: Error) -> PyResult<u64> {
        if !self.may_pass(&error) {
            return Err(raise(error));
        }
        py.detach(|| self.0.next_id()).map(Id::to_u64).map_err(raise)
    }

    /// Whether a waiting call may get past what stopped one that does not wait.
    pub(crate) fn may_pass(&self, error: &Error) -> bool {
        match &self.0 {
            AnyGenerator::Fixed(_) => {
                matches!(error.kind(), ErrorKind::SequenceExhausted | ErrorKind::ClockRollback)
            }
            // The store may answer meanwhile.
            AnyGenerator::Leased(_) => error.kind().is_retryable(),
        }
    }

    /// Fills with the GIL held as long as that takes no time, and then without it. Python handles
    /// its signals between pieces, so that Ctrl-C can end a fill that takes an hour.
    pub(crate) fn fill_waiting(&self, py: Python<'_>, ids: &mut [Id]) -> PyResult<usize> {
        let mut have = 0;
        if ids.len() <= MOST_AT_ONCE {
            match self.0.try_fill(ids) {
                Ok(filled) if filled == ids.len() => return Ok(filled),
                Ok(filled) => have = filled,
                Err(error) if self.may_pass(&error) => {}
                Err(error) => return Err(raise(error)),
            }
        }
        for piece in ids[have..].chunks_mut(MOST_AT_ONCE) {
            match py.detach(|| self.0.fill(piece)) {
                Ok(filled) => {
                    have += filled;
                    if filled < piece.len() {
                        break;
                    }
                }
                Err(error) if have == 0 => return Err(raise(error)),
                Err(_) => break,
            }
            py.check_signals()?;
        }
        Ok(have)
    }

    pub(crate) fn repr(&self) -> String {
        let (node, layout) = (self.0.node(), Layout(*self.0.layout()).short_name());
        match self.0 {
            AnyGenerator::Fixed(_) => format!("<Generator node={node} layout={layout}>"),
            AnyGenerator::Leased(_) => format!("<Generator node={node} layout={layout} leased>"),
        }
    }
}
