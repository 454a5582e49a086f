//! Statistics of many IDs: their nodes, their times, and signs of errors.

mod history;
mod kept;

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::{Error, Id, Layout};
use history::History;
use kept::Kept;

/// Statistics of many IDs, computed in a single pass.
///
/// Memory use does not grow with the number of IDs, with one exception: to detect repeated IDs, up to
/// [`MOST_KEPT`](Self::MOST_KEPT) IDs are kept, at 8 bytes each. If more IDs are added, no IDs are kept. While the
/// memory for the kept IDs is enlarged, its size may temporarily be 50 % larger.
///
/// ```
/// use flakeid_core::{Id, Layout, Statistics};
///
/// let mut statistics = Statistics::new(Layout::TWITTER);
/// for id in [910499571847892992, 910499571847892993, 910499571847892992] {
///     statistics.add(Id::from_u64(id))?;
/// }
/// assert_eq!(statistics.count(), 3);
/// assert_eq!(statistics.nodes().collect::<Vec<_>>(), [(569, 3)]);
/// assert_eq!(statistics.steps_back(), 1);
/// assert_eq!(statistics.repeats(), Some(1));
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Statistics {
    layout: Layout,
    count: u64,
    nodes: Nodes,
    history: History,
    kept: Kept,
    ascending: bool,
    last: Option<Id>,
    /// The smallest and the largest of the IDs that have been added so far.
    ends: Option<(Id, Id)>,
    steps_back: u64,
    longest_step_back_ms: u64,
    longest_gap: Option<Gap>,
    largest_sequence: u64,
    full_ticks: u64,
}

/// A period without an ID, provided that the IDs are added in the order of their creation.
///
/// ```
/// use flakeid_core::{Layout, Statistics};
///
/// let mut statistics = Statistics::new(Layout::PLAIN);
/// for unix_ms in [1_700_000_000_000, 1_700_000_060_000] {
///     statistics.add(Layout::PLAIN.lower_bound(unix_ms))?;
/// }
/// let gap = statistics.longest_gap().unwrap();
/// assert_eq!((gap.after, gap.ms), (Layout::PLAIN.lower_bound(1_700_000_000_000), 60_000));
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// The ID before the gap.
    pub after: Id,
    /// The length of the gap in milliseconds.
    pub ms: u64,
}

/// The number of IDs from each node.
#[derive(Clone, Debug)]
enum Nodes {
    /// The number of IDs from each node, indexed by node number.
    Few(Vec<u64>),
    /// The number of IDs from each of the first 65,536 nodes that occur, and the total number of IDs from all other
    /// nodes. Layouts with more than 65,536 nodes use this variant.
    Many(BTreeMap<u64, u64>, u64),
}

impl Nodes {
    const FEW: u64 = 1 << 16;

    fn of(layout: &Layout) -> Self {
        match layout.max_node() {
            // Every node has a counter.
            most @ 0..Self::FEW => Self::Few(vec![0; most as usize + 1]),
            _ => Self::Many(BTreeMap::new(), 0),
        }
    }

    #[inline]
    fn add(&mut self, node: u64) {
        match self {
            Self::Few(counts) => counts[node as usize] += 1,
            Self::Many(counts, others) => {
                if let Some(count) = counts.get_mut(&node) {
                    *count += 1;
                } else if (counts.len() as u64) < Self::FEW {
                    counts.insert(node, 1);
                } else {
                    *others += 1;
                }
            }
        }
    }
}

impl Statistics {
    /// The largest number of IDs that are kept to detect repeated IDs: 2^27 IDs, which take one gibibyte of memory.
    pub const MOST_KEPT: usize = 1 << 27;

    /// Creates empty statistics for a layout.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        Self {
            layout,
            count: 0,
            nodes: Nodes::of(&layout),
            history: History::new(),
            kept: Kept::new(Self::MOST_KEPT),
            ascending: true,
            last: None,
            ends: None,
            steps_back: 0,
            longest_step_back_ms: 0,
            longest_gap: None,
            largest_sequence: 0,
            full_ticks: 0,
        }
    }

    /// Adds the next ID.
    ///
    /// # Errors
    /// [`InvalidId`](crate::ErrorKind::InvalidId) if the ID does not belong to the layout. An invalid ID is not
    /// counted.
    #[inline]
    pub fn add(&mut self, id: Id) -> Result<(), Error> {
        let parts = self.layout.unpack(id)?;
        self.count += 1;
        self.nodes.add(parts.node);
        self.history.add(parts.unix_ms);
        self.largest_sequence = self.largest_sequence.max(parts.sequence);
        self.full_ticks += u64::from(parts.sequence == self.layout.max_sequence());
        if let Some(last) = self.last
            && last >= id
        {
            self.ascending = false;
            if last > id {
                self.step_back(last, parts.unix_ms);
            }
        }
        self.ends = match self.ends {
            None => Some((id, id)),
            Some((least, most)) if most < id => {
                self.note_gap(most, parts.unix_ms);
                Some((least, id))
            }
            Some((least, most)) => Some((least.min(id), most)),
        };
        self.last = Some(id);
        self.kept.add(id.to_u64());
        Ok(())
    }

    fn step_back(&mut self, last: Id, unix_ms: i64) {
        self.steps_back += 1;
        let back = self.unix_ms(last).saturating_sub(unix_ms).max(0).cast_unsigned();
        self.longest_step_back_ms = self.longest_step_back_ms.max(back);
    }

    #[inline]
    fn note_gap(&mut self, after: Id, unix_ms: i64) {
        let ms = unix_ms.saturating_sub(self.unix_ms(after)).max(0).cast_unsigned();
        if ms > self.longest_gap.map_or(0, |gap| gap.ms) {
            self.longest_gap = Some(Gap { after, ms });
        }
    }

    fn unix_ms(&self, id: Id) -> i64 {
        self.layout.unix_ms_at(self.layout.spans().0.extract(id.to_u64()))
    }

    /// The number of IDs.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The smallest (earliest) ID and the largest (latest) ID, or `None` if no ID was added.
    #[must_use]
    pub const fn ends(&self) -> Option<(Id, Id)> {
        self.ends
    }

    /// Returns each node with the number of its IDs, in order of node number.
    pub fn nodes(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (few, many) = match &self.nodes {
            Nodes::Few(counts) => (Some(counts), None),
            Nodes::Many(counts, _) => (None, Some(counts)),
        };
        let few = few.into_iter().flat_map(|counts| (0..).zip(counts.iter().copied()));
        let many = many.into_iter().flatten().map(|(node, count)| (*node, *count));
        few.chain(many).filter(|(_, count)| *count > 0)
    }

    /// The number of IDs from nodes that are not counted separately. For a layout with more than 65,536 node numbers,
    /// only 65,536 nodes are counted separately.
    #[must_use]
    pub const fn other_nodes(&self) -> u64 {
        match &self.nodes {
            Nodes::Few(_) => 0,
            Nodes::Many(_, others) => *others,
        }
    }

    /// Returns the periods from the first to the last non-empty period, at most 1,024 periods. Each item contains the
    /// beginning of a period, in Unix milliseconds, and the number of IDs in the period. Each period lasts
    /// [`period_ms`](Self::period_ms).
    pub fn periods(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        self.history.periods()
    }

    /// The length of a period in milliseconds. A period lasts one second, or 2, 4, 8 … seconds if the IDs cover a
    /// longer time. The result is 0 if there are no IDs.
    #[must_use]
    pub const fn period_ms(&self) -> i64 {
        self.history.period_ms()
    }

    /// The number of IDs that are smaller than the previous ID. Smaller IDs occur if several nodes or threads wrote the
    /// IDs, or if a clock was set back.
    #[must_use]
    pub const fn steps_back(&self) -> u64 {
        self.steps_back
    }

    /// The largest decrease in time from one ID to the next, in milliseconds.
    #[must_use]
    pub const fn longest_step_back_ms(&self) -> u64 {
        self.longest_step_back_ms
    }

    /// The longest period without an ID. An ID that is smaller than a previously added ID is ignored.
    #[must_use]
    pub const fn longest_gap(&self) -> Option<Gap> {
        self.longest_gap
    }

    /// The largest sequence number among the IDs.
    #[must_use]
    pub const fn largest_sequence(&self) -> u64 {
        self.largest_sequence
    }

    /// The number of full ticks, which is the number of IDs with the layout's largest sequence number.
    #[must_use]
    pub const fn full_ticks(&self) -> u64 {
        self.full_ticks
    }

    /// Returns the number of repeated IDs, which should be 0. If all IDs were added in increasing order, the result is
    /// always 0. Otherwise, sorts the kept IDs, or returns `None` if more than [`MOST_KEPT`](Self::MOST_KEPT) IDs were
    /// added.
    pub fn repeats(&mut self) -> Option<u64> {
        if self.ascending {
            return Some(0);
        }
        self.kept.repeats()
    }
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::Parts;

    fn id(layout: &Layout, unix_ms: i64, node: u64, sequence: u64) -> Id {
        let parts = layout.parts_at(unix_ms).unwrap();
        let parts = Parts { node, datacenter: None, worker: None, sequence, ..parts };
        layout.pack(&parts).unwrap()
    }

    #[test]
    fn statistics_count_repeated_ids_backward_steps_and_full_ticks() {
        let layout = Layout::PLAIN;
        let at = |ms: i64, node, sequence| id(&layout, 1_700_000_000_000 + ms, node, sequence);
        let mut statistics = Statistics::new(layout);
        let ids = [
            at(0, 1, 0),
            at(0, 1, 1),
            at(0, 2, 0),
            at(5_000, 1, 4_095),
            at(1_000, 2, 0),
            at(0, 1, 1),
            at(60_000, 3, 0),
        ];
        for id in ids {
            statistics.add(id).unwrap();
        }
        assert_eq!(statistics.count(), 7);
        assert_eq!(statistics.ends(), Some((ids[0], ids[6])));
        assert_eq!(statistics.nodes().collect::<Vec<_>>(), [(1, 4), (2, 2), (3, 1)]);
        assert_eq!((statistics.steps_back(), statistics.longest_step_back_ms()), (2, 4_000));
        assert_eq!(statistics.longest_gap(), Some(Gap { after: ids[3], ms: 55_000 }));
        assert_eq!((statistics.largest_sequence(), statistics.full_ticks()), (4_095, 1));
        assert_eq!(statistics.repeats(), Some(1));
        assert_eq!(statistics.repeats(), Some(1), "the second call returns the same");
        let seconds: Vec<_> = statistics.periods().filter(|(_, count)| *count > 0).collect();
        assert_eq!(
            seconds,
            [0, 1, 5, 60]
                .map(|s| 1_700_000_000_000 + s * 1_000)
                .into_iter()
                .zip([4, 1, 1, 1])
                .collect::<Vec<_>>()
        );
        assert!(statistics.add(Id::from_u64(u64::MAX)).is_err());
        assert_eq!(statistics.count(), 7);
    }

    #[test]
    fn statistics_count_at_most_65536_nodes_separately() {
        let mut statistics = Statistics::new(Layout::BAIDU);
        for node in [4_000_000, 3, 4_000_000] {
            statistics.add(id(&Layout::BAIDU, 1_700_000_000_000, node, 0)).unwrap();
        }
        assert_eq!(statistics.nodes().collect::<Vec<_>>(), [(3, 1), (4_000_000, 2)]);
        assert_eq!(statistics.other_nodes(), 0);
        assert_eq!(statistics.repeats(), Some(1));
        for node in 0..70_000 {
            statistics.add(id(&Layout::BAIDU, 1_700_000_001_000, node, 0)).unwrap();
        }
        assert_eq!(statistics.nodes().count(), 65_536);
        assert_eq!(
            statistics.nodes().map(|(_, count)| count).sum::<u64>() + statistics.other_nodes(),
            70_003
        );
    }

    #[test]
    fn statistics_discard_stored_ids_when_the_limit_is_exceeded() {
        const MOST: usize = 3_000;
        let add = |statistics: &mut Statistics, count: u64| {
            for sequence in 0..count {
                let (ms, sequence) = (sequence / 4_096, sequence % 4_096);
                let id = id(&Layout::PLAIN, 1_700_000_000_000 + ms as i64, 1, sequence);
                statistics.add(id).unwrap();
            }
        };
        let new = || Statistics { kept: Kept::new(MOST), ..Statistics::new(Layout::PLAIN) };
        let mut statistics = new();
        add(&mut statistics, 1_000);
        add(&mut statistics, 2_000);
        assert_eq!(statistics.repeats(), Some(1_000));
        assert_eq!(statistics.kept.capacity(), MOST, "memory is allocated only for the limit");
        add(&mut statistics, 1);
        assert_eq!(statistics.repeats(), None);
        assert_eq!(statistics.kept.capacity(), 0, "freed");
        add(&mut statistics, 5_000);
        assert_eq!((statistics.repeats(), statistics.count()), (None, 8_001));
        assert_eq!(statistics.kept.capacity(), 0);
        // IDs that are added in increasing order cannot repeat, so their number is not limited.
        let mut statistics = new();
        add(&mut statistics, 10_000);
        assert_eq!(statistics.repeats(), Some(0));
    }

    #[test]
    fn statistics_without_ids_are_empty() {
        let mut statistics = Statistics::new(Layout::TWITTER);
        assert_eq!((statistics.ends(), statistics.repeats()), (None, Some(0)));
        assert_eq!((statistics.nodes().count(), statistics.periods().count()), (0, 0));
    }
}
