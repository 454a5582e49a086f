//! The bit fields of the IDs, defined a second time, so that the audit shares no code with the
//! generators that it checks.

use flakeid_core::Layout;

pub(crate) const LAYOUT: Layout = Layout::TWITTER;
const NODE_BITS: u32 = 10;
const SEQUENCE_BITS: u32 = 12;

/// The highest sequence in a tick.
pub(crate) const MAX_SEQUENCE: u64 = (1 << SEQUENCE_BITS) - 1;

pub(crate) fn id_of(tick: u64, node: u64, sequence: u64) -> u64 {
    (tick << NODE_BITS | node) << SEQUENCE_BITS | sequence
}

pub(crate) fn node_of(id: u64) -> u64 {
    id >> SEQUENCE_BITS & ((1 << NODE_BITS) - 1)
}

pub(crate) fn tick_of(id: u64) -> u64 {
    id >> (SEQUENCE_BITS + NODE_BITS)
}

pub(crate) fn sequence_of(id: u64) -> u64 {
    id & MAX_SEQUENCE
}
