use alloc::boxed::Box;

use crate::Layout;
use crate::sync::NativeOnly;

/// The nodes of a generator that has more than one node. The number of nodes is a power of two.
pub(super) struct Several {
    /// The number of each node, shifted to the bit position of the node field in an ID. The list is in increasing
    /// order.
    node_bits: Box<[u64]>,
    /// The number of bits below the node index in a position.
    index_shift: u8,
    /// The number of bits below the sequence number in a position.
    sequence_from: u8,
    sequence_mask: u64,
}

impl Several {
    /// Stores the list of nodes if a generator has several nodes. For a single node, no list is stored.
    pub(super) fn new(layout: &Layout, nodes: &[u64]) -> NativeOnly<Self> {
        NativeOnly::new(|| (nodes.len() > 1).then(|| Self::of_several(layout, nodes)))
    }

    fn of_several(layout: &Layout, nodes: &[u64]) -> Self {
        let (_, node, _, sequence) = layout.spans();
        let is_node_above = node.shift > sequence.shift;
        let width = nodes.len().trailing_zeros() as u8;
        Self {
            node_bits: nodes.iter().map(|value| node.place(*value)).collect(),
            index_shift: if is_node_above { sequence.width } else { 0 },
            sequence_from: if is_node_above { 0 } else { width },
            sequence_mask: sequence.mask(),
        }
    }

    /// The number of bits that the node index occupies in a position.
    pub(super) fn width(&self) -> u8 {
        self.node_bits.len().trailing_zeros() as u8
    }

    /// Returns the sequence number and the node bits of the ID at the offset `place` within a tick.
    pub(super) fn split(&self, place: u64) -> (u64, u64) {
        let index = place >> self.index_shift & (self.node_bits.len() as u64 - 1);
        (place >> self.sequence_from & self.sequence_mask, self.node_bits[index as usize])
    }

    /// Returns how many IDs, starting at the offset `place`, have the same node and consecutive sequence numbers. The
    /// result is at most `wanted`.
    pub(super) fn ids_in_a_row(&self, place: u64, wanted: usize) -> usize {
        if self.sequence_from > 0 {
            return 1;
        }
        let left = self.sequence_mask - (place & self.sequence_mask) + 1;
        usize::try_from(left).map_or(wanted, |left| left.min(wanted))
    }
}
