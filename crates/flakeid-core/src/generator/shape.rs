use super::Run;
use super::steps::write_steps;
use crate::layout::Layout;
use crate::{Error, Id};

/// How positions of one node become IDs: a layout worked out into shifts and masks.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    sequence_width: u8,
    time_shift: u8,
    sequence_shift: u8,
    clock_sequence_shift: u8,
    node_bits: u64,
}

impl Shape {
    pub(super) fn new(layout: &Layout, node: u64) -> Result<Self, Error> {
        crate::layout::check("node", node, layout.max_node())?;
        let (time, node_span, clock_sequence, sequence) = layout.spans();
        Ok(Self {
            sequence_width: sequence.width,
            time_shift: time.shift,
            sequence_shift: sequence.shift,
            clock_sequence_shift: clock_sequence.shift,
            node_bits: node_span.place(node),
        })
    }

    #[inline]
    pub(super) fn position(&self, tick: u64) -> u64 {
        tick << self.sequence_width
    }

    #[inline]
    pub(super) fn tick(&self, position: u64) -> u64 {
        position >> self.sequence_width
    }

    #[inline]
    pub(super) fn sequence(&self, position: u64) -> u64 {
        position & ((1 << self.sequence_width) - 1)
    }

    /// The ID of a run's first position.
    #[inline]
    pub(super) fn id(&self, run: &Run) -> Id {
        Id::from_u64(
            self.tick(run.first) << self.time_shift
                | self.sequence(run.first) << self.sequence_shift
                | run.clock_sequence << self.clock_sequence_shift
                | self.node_bits,
        )
    }

    /// All IDs of a run, which lies within one tick.
    #[inline]
    pub(super) fn write(&self, run: &Run, ids: &mut [Id]) {
        write_steps(self.id(run).to_u64(), self.sequence_shift, ids);
    }
}
