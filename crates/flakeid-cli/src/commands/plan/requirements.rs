//! The requirements that a planned layout must meet.

use flakeid_core::{Error, Layout};
use flakeid_json::parse_instant;

use super::args::PlanArgs;
use super::fleet::Fleet;
use crate::format::instant;
use crate::format::number;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Requirements {
    /// The number of nodes that generate IDs at the same time.
    pub(crate) nodes: u64,
    /// The peak number of IDs per second on one node.
    pub(crate) rate: u64,
    /// The time at which the layout starts, in Unix milliseconds.
    pub(crate) epoch: i64,
    /// The first instant at which no more IDs are needed, in Unix milliseconds.
    pub(crate) until: i64,
    /// The largest number of bits in an ID.
    pub(crate) bits: u32,
}

/// The largest number of nodes in any layout. The time field requires at least one of the 64 bits.
const MOST_NODES: u64 = 1 << 63;

/// The largest supported peak rate, in IDs per second. An `f64` can represent every whole number up
/// to this rate exactly.
const MOST_RATE: u64 = 1 << 53;

impl Requirements {
    pub(crate) fn from_args(
        args: &PlanArgs,
        fleet: Option<&Fleet>,
        now: i64,
    ) -> Result<Self, Error> {
        let nodes = match (fleet, &args.nodes) {
            (Some(fleet), _) => fleet.nodes(),
            (None, Some(nodes)) => number::parse("nodes", nodes, 1, MOST_NODES)?,
            (None, None) => {
                return Err(Error::invalid_option("--nodes", "give --nodes or --processes"));
            }
        };
        let rate = number::parse("rate", &args.rate, 1, MOST_RATE)?;
        let bits = number::parse("bits", &args.bits, 1, 64)? as u32;
        let until = instant::parse_end("--until", &args.until)?;
        let epoch = match &args.epoch {
            Some(text) => parse_instant("--epoch", text)?,
            None => instant::start_of_day(now),
        };
        // This layout is built only to check that the epoch is in the supported range.
        Layout::builder().time(1).epoch(epoch).build()?;
        if until <= epoch {
            return Err(Error::invalid_option(
                "--until",
                &format!(
                    "{} ends before the epoch {}; give a later --until or an earlier --epoch",
                    args.until,
                    instant::exact(epoch)
                ),
            ));
        }
        Ok(Self { nodes, rate, epoch, until, bits })
    }

    /// Whether a layout meets all requirements, according to the limits that the layout's methods
    /// return.
    pub(crate) fn are_met_by(&self, layout: &Layout) -> bool {
        layout.width() <= self.bits
            && layout.can_generate()
            && layout.epoch() <= self.epoch
            && layout.horizon() >= self.until
            && layout.max_node() >= self.nodes - 1
            && layout.ids_per_second() >= self.rate as f64
    }

    /// Returns the required peak rate as a percentage of the highest rate that a node can reach
    /// with the layout.
    pub(crate) fn use_percent(&self, layout: &Layout) -> f64 {
        self.rate as f64 * 100.0 / layout.ids_per_second()
    }
}
