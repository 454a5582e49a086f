//! Positions and their conversion to IDs.

use super::several::Several;
use super::steps::write_steps;
use crate::layout::Layout;
use crate::sync::NativeOnly;
use crate::{Error, Id};

/// A range of positions within one tick that a call has taken: from `first` to `first + count - 1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) first: u64,
    pub(super) count: u64,
    pub(super) clock_sequence: u64,
}

impl Run {
    /// The position after the last position of the range.
    #[inline]
    pub(super) const fn end(&self) -> u64 {
        self.first + self.count
    }
}

/// The conversion of positions to IDs: the shifts and masks for a layout and one or several nodes.
///
/// If a generator has several nodes, a position also contains the index of a node. One word therefore covers all nodes,
/// and IDs increase with positions. If the layout has the node above the sequence, a tick uses all sequence numbers of
/// one node before those of the next node. If the layout has the sequence above the node, a tick uses one sequence
/// number for all nodes before the next sequence number.
pub(super) struct Shape {
    /// The number of bits below the tick in a position. These bits contain the sequence number and the index of the
    /// node.
    width: u8,
    time_shift: u8,
    sequence_shift: u8,
    clock_sequence_shift: u8,
    /// The number of the first node, shifted to the bit position of the node field in an ID.
    node_bits: u64,
    several: NativeOnly<Several>,
}

impl Shape {
    /// Computes the shape. `nodes` must be in increasing order, and the number of nodes must be a power of two.
    pub(super) fn new(layout: &Layout, nodes: &[u64]) -> Result<Self, Error> {
        for node in nodes {
            crate::layout::check("node", *node, layout.max_node())?;
        }
        let (time, node_span, clock_sequence, sequence) = layout.spans();
        let node_bits = nodes.first().map_or(0, |node| node_span.place(*node));
        let several = Several::new(layout, nodes);
        let more = several.get().map_or(0, Several::width);
        Ok(Self {
            width: sequence.width + more,
            time_shift: time.shift,
            sequence_shift: sequence.shift,
            clock_sequence_shift: clock_sequence.shift,
            node_bits,
            several,
        })
    }

    #[inline]
    pub(super) fn position(&self, tick: u64) -> u64 {
        tick << self.width
    }

    #[inline]
    pub(super) fn tick(&self, position: u64) -> u64 {
        position >> self.width
    }

    /// Returns the offset of a position within its tick.
    #[inline]
    pub(super) fn sequence(&self, position: u64) -> u64 {
        position & self.max_sequence()
    }

    /// The largest offset that a position can have within its tick.
    #[inline]
    pub(super) fn max_sequence(&self) -> u64 {
        (1 << self.width) - 1
    }

    /// Returns the ID of the first position of a range.
    #[inline]
    pub(super) fn id(&self, run: &Run) -> Id {
        let (sequence, node_bits) = match self.several.get() {
            None => (self.sequence(run.first), self.node_bits),
            Some(several) => several.split(self.sequence(run.first)),
        };
        Id::from_u64(
            self.tick(run.first) << self.time_shift
                | sequence << self.sequence_shift
                | run.clock_sequence << self.clock_sequence_shift
                | node_bits,
        )
    }

    /// The number of bits below the tick in a position.
    #[cfg(feature = "std")]
    pub(super) fn width(&self) -> u8 {
        self.width
    }

    /// The bit positions of the time field and of the sequence field in an ID.
    #[cfg(feature = "std")]
    pub(super) fn shifts(&self) -> (u8, u8) {
        (self.time_shift, self.sequence_shift)
    }

    /// The number of the first node, shifted to the bit position of the node field in an ID.
    #[cfg(feature = "std")]
    pub(super) fn node_bits(&self) -> u64 {
        self.node_bits
    }

    /// Returns the difference between the IDs of neighbouring positions within a tick, if the difference is constant.
    pub(super) fn step(&self) -> Option<u64> {
        self.several.get().is_none().then_some(1 << self.sequence_shift)
    }

    /// Writes all IDs of a range to `ids`. The range lies within one tick.
    #[inline]
    pub(super) fn write(&self, run: &Run, ids: &mut [Id]) {
        match self.several.get() {
            None => write_steps(self.id(run).to_u64(), self.sequence_shift, ids),
            Some(several) => self.write_several(several, run, ids),
        }
    }

    #[inline(never)]
    fn write_several(&self, several: &Several, run: &Run, ids: &mut [Id]) {
        let mut rest = Run { first: run.first, ..*run };
        let mut filled = 0;
        while filled < ids.len() {
            let count = several.ids_in_a_row(self.sequence(rest.first), ids.len() - filled);
            let piece = &mut ids[filled..filled + count];
            write_steps(self.id(&rest).to_u64(), self.sequence_shift, piece);
            rest.first += count as u64;
            filled += count;
        }
    }
}

/// Returns the exclusive upper bound of positions: the fence or the end of the layout, whichever comes first.
pub(super) fn limit_of(layout: &Layout, shape: &Shape, fence: u64) -> u64 {
    shape.position(fence.min(layout.max_tick() + 1))
}
