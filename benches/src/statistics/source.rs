//! The IDs for the statistics, in three orders, as generators would issue them.

use clap::ValueEnum;
use flakeid_core::{Error, Id, Layout};

/// Time of the first ID, in milliseconds since the Unix epoch. Both layouts cover it.
const START: i64 = 1_700_000_000_000;

/// Number of nodes that take turns.
const NODES: u64 = 16;

/// IDs and their order.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Source {
    /// One node of the layout `twitter`, every tick full
    Ascending,
    /// Sixteen nodes of that layout in turn, and one repeated ID
    Interleaved,
    /// The same in the layout `baidu`
    Baidu,
}

impl Source {
    pub(crate) const ALL: [Self; 3] = [Self::Ascending, Self::Interleaved, Self::Baidu];

    /// Returns the name of the source in an argument.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ascending => "ascending",
            Self::Interleaved => "interleaved",
            Self::Baidu => "baidu",
        }
    }

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Ascending => "one generator, ascending",
            Self::Interleaved => "16 nodes in turn, one repeat",
            Self::Baidu => "layout `baidu`, 16 nodes in turn, one repeat",
        }
    }

    pub(crate) const fn layout(self) -> Layout {
        match self {
            Self::Ascending | Self::Interleaved => Layout::TWITTER,
            Self::Baidu => Layout::BAIDU,
        }
    }

    pub(crate) const fn layout_name(self) -> &'static str {
        match self {
            Self::Ascending | Self::Interleaved => "twitter",
            Self::Baidu => "baidu",
        }
    }

    /// Returns the number of repeated IDs.
    pub(crate) const fn repeats(self) -> u64 {
        match self {
            Self::Ascending => 0,
            Self::Interleaved | Self::Baidu => 1,
        }
    }

    /// Writes `count` IDs. In each tick the nodes take turns until all sequences are full. With several nodes, the last ID
    /// repeats the first.
    pub(crate) fn ids(self, count: usize, mut write: impl FnMut(Id)) -> Result<(), Error> {
        let layout = self.layout();
        let nodes = match self {
            Self::Ascending => 1,
            Self::Interleaved | Self::Baidu => NODES,
        };
        let first = layout.parts_at(START)?;
        let tick_length = layout.unit_ms().cast_signed();
        let in_a_tick = nodes * (layout.max_sequence() + 1);
        let unique = count as u64 - self.repeats().min(count as u64);
        let id = |number: u64| {
            let (node, sequence) = (number % nodes, number / nodes % (layout.max_sequence() + 1));
            let ticks = number / in_a_tick;
            let mut parts = first;
            parts.tick += ticks;
            parts.unix_ms += ticks.cast_signed() * tick_length;
            (parts.node, parts.sequence) = (node, sequence);
            layout.pack(&parts)
        };
        for number in 0..unique {
            write(id(number)?);
        }
        for number in 0..count as u64 - unique {
            write(id(number)?);
        }
        Ok(())
    }
}
