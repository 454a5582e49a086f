//! Summaries of the statistics of many IDs: the nodes with the most IDs, and the number of IDs in each period.

use std::cmp::Reverse;

use flakeid_core::{Layout, Statistics};
use serde::Serialize;

/// The nodes that generated the most IDs.
///
/// ```
/// use flakeid_core::{Id, Layout, Statistics};
/// use flakeid_json::TopNodes;
///
/// let mut statistics = Statistics::new(Layout::TWITTER);
/// for id in [1_541_815_603_606_036_480, 1_541_815_603_606_036_481] {
///     statistics.add(Id::from_u64(id))?;
/// }
/// assert_eq!(TopNodes::new(&statistics, 10).top, [(378, 2)]);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Serialize)]
#[non_exhaustive]
pub struct TopNodes {
    /// The number of distinct nodes, excluding the nodes that the statistics could not count separately.
    pub count: u64,
    /// The number of IDs from nodes that the statistics could not count separately.
    pub other_ids: u64,
    /// The nodes with the most IDs, each with its number of IDs. Nodes with more IDs come first.
    pub top: Vec<(u64, u64)>,
}

impl TopNodes {
    /// Selects the nodes with the most IDs, up to `most` nodes.
    #[must_use]
    pub fn new(statistics: &Statistics, most: usize) -> Self {
        let mut top: Vec<_> = statistics.nodes().collect();
        let count = top.len() as u64;
        let order = |&(node, count): &(u64, u64)| (Reverse(count), node);
        if most < top.len() {
            top.select_nth_unstable_by_key(most, order);
            top.truncate(most);
        }
        top.sort_unstable_by_key(order);
        Self { count, other_ids: statistics.other_nodes(), top }
    }
}

/// The number of IDs that were generated in each of several periods of equal length.
///
/// ```
/// use flakeid_core::{Id, Layout, Statistics};
/// use flakeid_json::Bars;
///
/// let mut statistics = Statistics::new(Layout::TWITTER);
/// for id in [1_541_815_603_606_036_480, 1_541_815_603_606_036_481] {
///     statistics.add(Id::from_u64(id))?;
/// }
/// let bars = Bars::new(&statistics, &Layout::TWITTER, 40).bars;
/// assert_eq!(bars.iter().map(|(_, count)| count).sum::<u64>(), 2);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Serialize)]
#[non_exhaustive]
pub struct Bars {
    /// The length of each period in seconds.
    pub seconds: u64,
    /// The periods, each with its start as an RFC 3339 timestamp and with its number of IDs.
    pub bars: Vec<(String, u64)>,
}

impl Bars {
    /// Divides the time from the first to the last ID into at most `most` periods, and counts the IDs in each period.
    #[must_use]
    pub fn new(statistics: &Statistics, layout: &Layout, most: usize) -> Self {
        let periods: Vec<_> = statistics.periods().collect();
        // Each bar combines `each` periods, so that the number of bars does not exceed `most`.
        let each = periods.len().div_ceil(most.max(1)).max(1);
        let sum = |chunk: &[(i64, u64)]| chunk.iter().map(|(_, count)| count).sum();
        let begin = |chunk: &[(i64, u64)]| layout.timestamp(chunk[0].0).to_string();
        Self {
            seconds: statistics.period_ms().unsigned_abs() * each as u64 / 1000,
            bars: periods.chunks(each).map(|chunk| (begin(chunk), sum(chunk))).collect(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use flakeid_core::Id;

    use super::*;

    /// Builds the statistics of IDs with the layout `plain`. Each ID is specified by its node and by the number of
    /// milliseconds since a fixed instant.
    fn statistics(ids: &[(u64, u64)]) -> Statistics {
        let mut statistics = Statistics::new(Layout::PLAIN);
        for (node, ms) in ids {
            let id = (1_700_000_000_000 + ms) << 22 | node << 12;
            statistics.add(Id::from_u64(id)).unwrap();
        }
        statistics
    }

    #[test]
    fn top_nodes_are_sorted_by_id_count() {
        let statistics = statistics(&[(5, 0), (3, 0), (3, 1), (9, 0), (1, 0), (9, 1), (9, 2)]);
        let top = |most| TopNodes::new(&statistics, most);
        assert_eq!(top(3).top, [(9, 3), (3, 2), (1, 1)]);
        assert_eq!((top(3).count, top(3).other_ids), (4, 0));
        assert_eq!(top(9).top, [(9, 3), (3, 2), (1, 1), (5, 1)]);
        assert!(top(0).top.is_empty());
    }

    #[test]
    fn periods_are_merged_to_limit_the_number_of_bars() {
        let statistics = statistics(&[(1, 0), (1, 1_000), (1, 2_500), (1, 2_600), (1, 4_000)]);
        let all = Bars::new(&statistics, &Layout::PLAIN, 10);
        assert_eq!((all.seconds, all.bars.len()), (1, 5));
        let few = Bars::new(&statistics, &Layout::PLAIN, 2);
        let begin = |text: &str| text.to_owned();
        assert_eq!(few.seconds, 3);
        assert_eq!(
            few.bars,
            [(begin("2023-11-14T22:13:20.000Z"), 4), (begin("2023-11-14T22:13:23.000Z"), 1)]
        );
        let none = Bars::new(&Statistics::new(Layout::PLAIN), &Layout::PLAIN, 2);
        assert_eq!((none.seconds, none.bars.len()), (0, 0));
    }

    #[test]
    fn periods_beyond_the_javascript_date_range_get_labels() {
        let layout: Layout = "t53.n10@0/1s".parse().unwrap();
        let mut statistics = Statistics::new(layout);
        // The ID is from about the year 278,000, which JavaScript dates cannot represent.
        statistics.add(Id::from_u64(8_700_000_000_000 << 10)).unwrap();
        let bars = Bars::new(&statistics, &layout, 2).bars;
        assert_eq!(bars.len(), 1);
        assert!(bars[0].0.contains("27"), "{bars:?}");
    }
}
