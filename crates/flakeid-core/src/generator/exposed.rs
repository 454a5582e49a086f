//! The state of a generator for bindings that take positions without a call into this library.

use super::{Generator, Tenure};
use crate::Error;
use crate::clock::ClockSource;
use crate::sync::AtomicU64;

/// The addresses and numbers with which a binding repeats the fast path of a generator, `Tenure::take`, for one
/// position. The addresses are valid as long as the generator exists.
#[derive(Clone, Copy, Debug)]
pub struct Exposed {
    /// The atomic word that contains the next free position, or `u64::MAX` if the generator is closed.
    pub word: *const AtomicU64,
    /// The exclusive upper bound on positions; 0 if the generator is closed, or in a forked child.
    pub limit: *const AtomicU64,
    /// The start of tick 0, in Unix milliseconds.
    pub epoch: i64,
    /// The length of a tick, in milliseconds.
    pub unit_ms: u64,
    /// The number of milliseconds from the epoch to the horizon.
    pub span_ms: u64,
    /// The largest offset of a position within its tick.
    pub sequence_mask: u64,
    /// The node, shifted to the bit position of the node field in an ID.
    pub node_bits: u64,
    /// The number of bits below the tick in a position.
    pub width: u8,
    /// The bit position of the time field in an ID.
    pub time_shift: u8,
    /// The bit position of the sequence field in an ID.
    pub sequence_shift: u8,
    /// Whether the other fields suffice to take a position. They do not suffice for several nodes, clock sequences,
    /// ticks that start with a random sequence number, and clocks other than the exact system clock.
    pub suffices: bool,
    /// Whether the word belongs to the process and continues to exist after the generator.
    pub is_shared: bool,
}

impl Generator {
    /// Returns the addresses and numbers with which a binding repeats the fast path of the tenure that was used last.
    /// The addresses are valid as long as this generator exists.
    ///
    /// # Errors
    /// [`Closed`](crate::ErrorKind::Closed) if a leased generator was closed.
    #[doc(hidden)]
    pub fn exposed(&self) -> Result<Exposed, Error> {
        self.current().map(Tenure::exposed).ok_or_else(Self::ended)
    }
}

impl Tenure {
    fn exposed(&self) -> Exposed {
        let is_exact = matches!(self.clock, ClockSource::System | ClockSource::Gated);
        let (time_shift, sequence_shift) = self.shape.shifts();
        Exposed {
            word: self.cell.word(),
            limit: self.limit.address(),
            epoch: self.epoch,
            unit_ms: self.unit,
            span_ms: self.span,
            sequence_mask: self.sequence_mask,
            node_bits: self.shape.node_bits(),
            width: self.shape.width(),
            time_shift,
            sequence_shift,
            suffices: is_exact
                && self.shape.step().is_some()
                && !self.has_clock_sequences
                && self.start.mask == 0,
            is_shared: self.shared,
        }
    }
}
