//! What an ID says.

use flakeid_core::Parts as CoreParts;

use crate::config::{FLAKEID_HAS_DATACENTER, FLAKEID_HAS_WORKER};

/// What an ID says, field by field. `unix_ms` repeats `tick`, and `datacenter` with `worker` repeat
/// `node`. This struct is final, so it has no struct_size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Parts {
    /// Whole units since the layout's epoch.
    pub tick: u64,
    /// The instant at which that tick begins, in Unix milliseconds.
    pub unix_ms: i64,
    /// The whole machine field; 0 where the layout has none.
    pub node: u64,
    /// The node's high part (FLAKEID_HAS_DATACENTER).
    pub datacenter: u64,
    /// The node's low part (FLAKEID_HAS_WORKER).
    pub worker: u64,
    /// The clock sequence; 0 where the layout has none.
    pub clock_sequence: u64,
    /// The counter within the tick; 0 where the layout has none.
    pub sequence: u64,
    /// FLAKEID_HAS_DATACENTER and FLAKEID_HAS_WORKER where the layout splits its node. For packing
    /// they may be left out.
    pub has: u32,
    /// 0.
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
        let told = |flag, part| (parts.has & flag != 0).then_some(part);
        let mut core = Self::default();
        core.tick = parts.tick;
        core.unix_ms = parts.unix_ms;
        core.node = parts.node;
        core.datacenter = told(FLAKEID_HAS_DATACENTER, parts.datacenter);
        core.worker = told(FLAKEID_HAS_WORKER, parts.worker);
        core.clock_sequence = parts.clock_sequence;
        core.sequence = parts.sequence;
        core
    }
}
