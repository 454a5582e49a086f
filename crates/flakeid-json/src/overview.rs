//! The statistics of many IDs in brief: the nodes that made most, and as many periods as a picture has room for.

use std::cmp::Reverse;

use flakeid_core::{Layout, Statistics};
use serde::Serialize;

/// The nodes that made most IDs.
#[derive(Serialize)]
pub struct TopNodes {
    /// How many nodes there were. If there were more than can be told apart, so many can.
    pub count: u64,
    /// How many IDs are of nodes that were not told apart.
    pub other_ids: u64,
    /// (node, how many IDs it made), the one with most first.
    pub top: Vec<(u64, u64)>,
}

impl TopNodes {
    /// At most `most` of them.
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

/// How many IDs were made in each of several periods of equal length.
#[derive(Serialize)]
pub struct Bars {
    /// How long each period is.
    pub seconds: u64,
    /// (its beginning in RFC 3339, how many IDs).
    pub bars: Vec<(String, u64)>,
}

impl Bars {
    /// At most `most` of them, from the first to the last ID.
    #[must_use]
    pub fn new(statistics: &Statistics, layout: &Layout, most: usize) -> Self {
        let periods: Vec<_> = statistics.periods().collect();
        // Several periods in a bar, so that all have room.
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

    /// IDs of `plain`: of the node, and so many milliseconds after an instant.
    fn statistics(ids: &[(u64, u64)]) -> Statistics {
        let mut statistics = Statistics::new(Layout::PLAIN);
        for (node, ms) in ids {
            let id = (1_700_000_000_000 + ms) << 22 | node << 12;
            statistics.add(Id::from_u64(id)).unwrap();
        }
        statistics
    }

    #[test]
    fn top_nodes_are_sorted_by_their_number_of_ids() {
        let statistics = statistics(&[(5, 0), (3, 0), (3, 1), (9, 0), (1, 0), (9, 1), (9, 2)]);
        let top = |most| TopNodes::new(&statistics, most);
        assert_eq!(top(3).top, [(9, 3), (3, 2), (1, 1)]);
        assert_eq!((top(3).count, top(3).other_ids), (4, 0));
        assert_eq!(top(9).top, [(9, 3), (3, 2), (1, 1), (5, 1)]);
        assert!(top(0).top.is_empty());
    }

    #[test]
    fn bars_join_periods_to_stay_within_the_limit() {
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
    fn periods_beyond_javascript_dates_get_a_label() {
        let layout: Layout = "t53.n10@0/1s".parse().unwrap();
        let mut statistics = Statistics::new(layout);
        // In the year 278,000 or so, which JavaScript's dates do not reach.
        statistics.add(Id::from_u64(8_700_000_000_000 << 10)).unwrap();
        let bars = Bars::new(&statistics, &layout, 2).bars;
        assert_eq!(bars.len(), 1);
        assert!(bars[0].0.contains("27"), "{bars:?}");
    }
}
