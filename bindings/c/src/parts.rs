//! The decoded parts of an ID.

use flakeid_core::Parts as CoreParts;

use crate::flags::{FLAKEID_HAS_DATACENTER, FLAKEID_HAS_WORKER};

/// The decoded parts of an ID. `unix_ms` is derived from `tick`, and `datacenter` and `worker` are
/// the two parts of `node`. This struct never grows, so it has no struct_size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Parts {
    /// The number of whole time units since the layout's epoch.
    pub tick: u64,
    /// The instant at which the ID's tick begins, in Unix milliseconds.
    pub unix_ms: i64,
    /// The whole node number, including datacenter and worker; 0 if the layout has no node field.
    pub node: u64,
    /// The high part of the node, if `has` contains FLAKEID_HAS_DATACENTER.
    pub datacenter: u64,
    /// The low part of the node, if `has` contains FLAKEID_HAS_WORKER.
    pub worker: u64,
    /// The value of the clock sequence; 0 if the layout has no clock sequence.
    pub clock_sequence: u64,
    /// The sequence number within the tick; 0 if the layout has no sequence.
    pub sequence: u64,
    /// The flags FLAKEID_HAS_DATACENTER and FLAKEID_HAS_WORKER, if the layout splits its node.
    /// Parts for flakeid_pack() may omit both flags.
    pub has: u32,
    /// Reserved; always 0.
    pub reserved: u32,
}

impl From<CoreParts> for Parts {
    fn from(parts: CoreParts) -> Self {
        let flag = |part: Option<u64>, flag| if part.is_some() { flag } else { 0 };
        Self {
            tick: parts.tick,
            unix_ms: parts.unix_ms,
            node: parts.node,
            datacenter: parts.datacenter.unwrap_or_default(),
            worker: parts.worker.unwrap_or_default(),
            clock_sequence: parts.clock_sequence,
            sequence: parts.sequence,
            has: flag(parts.datacenter, FLAKEID_HAS_DATACENTER)
                | flag(parts.worker, FLAKEID_HAS_WORKER),
            reserved: 0,
        }
    }
}

impl From<&Parts> for CoreParts {
    fn from(parts: &Parts) -> Self {
        let given = |flag, part| (parts.has & flag != 0).then_some(part);
        let mut core = Self::default();
        core.tick = parts.tick;
        core.unix_ms = parts.unix_ms;
        core.node = parts.node;
        core.datacenter = given(FLAKEID_HAS_DATACENTER, parts.datacenter);
        core.worker = given(FLAKEID_HAS_WORKER, parts.worker);
        core.clock_sequence = parts.clock_sequence;
        core.sequence = parts.sequence;
        core
    }
}
