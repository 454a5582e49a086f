//! The search for nodes without rows. Counting rows costs a store much less than looking for the gap behind each row, so
//! whole ranges are counted until one is not full.

use flakeid_protocol::store::Fault;

/// A source of the nodes with rows, by ranges.
pub(super) trait UsedNodes {
    /// Returns the number of nodes from `low` to `high` that have rows.
    fn count(&mut self, low: u64, high: u64) -> Result<u64, Fault>;

    /// Returns the nodes from `low` to `high` that have rows, in order; the range is small.
    fn nodes(&mut self, low: u64, high: u64) -> Result<Vec<u64>, Fault>;
}

/// The largest range whose nodes are listed instead of counted.
const LISTED: u64 = 64;

/// The factor by which each full range enlarges the next one.
const GROWTH: u64 = 32;

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// This node has no row.
    Free(u64),
    /// All free nodes were skipped: there are only this many.
    Only(u64),
}

/// Returns the first node without a row from `first` to `to` and then from `from` to `first`, after skipping `skip` of them,
/// or fewer if there are not as many.
pub(super) fn unused(
    used: &mut impl UsedNodes,
    (from, to): (u64, u64),
    first: u64,
    skip: u64,
) -> Result<Option<u64>, Fault> {
    let mut around = |skip: u64| -> Result<Found, Fault> {
        let above = search(used, first, to, skip)?;
        let Found::Only(free) = above else { return Ok(above) };
        if first == from {
            return Ok(above);
        }
        let below = search(used, from, first - 1, skip - free)?;
        let Found::Only(more) = below else { return Ok(below) };
        Ok(Found::Only(free + more))
    };
    let found = match around(skip)? {
        Found::Only(free) if free > 0 => around(skip % free)?,
        found => found,
    };
    Ok(match found {
        Found::Free(node) => Some(node),
        Found::Only(_) => None,
    })
}

/// Does the same as [`unused`] from `low` to `high`. If rows are added between the counts, the result may not be the first
/// free node, or may have a row by now.
pub(super) fn search(
    used: &mut impl UsedNodes,
    mut low: u64,
    high: u64,
    skip: u64,
) -> Result<Found, Fault> {
    let mut left = skip;
    let mut width = LISTED;
    // The upper bound of the first remaining free node.
    let mut bound = None;
    while low <= high {
        let end = low.saturating_add(width - 1).min(high);
        let nodes = end - low + 1;
        let rows = if nodes <= LISTED {
            let rows = used.nodes(low, end)?;
            if let Some(node) = nth_free(&rows, low, end, left) {
                return Ok(Found::Free(node));
            }
            rows.len() as u64
        } else {
            used.count(low, end)?
        };
        let free = nodes.saturating_sub(rows);
        if nodes > LISTED && free > left {
            // The rows and the skipped nodes together fill no more nodes than this.
            let last = end.min(low + rows + left);
            // Rows usually begin without gaps and then end, so the search tries that place before the middle.
            width = if bound.is_none() { (last - low).max(1) } else { half(low, last) };
            bound = Some(last);
        } else {
            left = left.saturating_sub(free);
            low = end + 1;
            if bound == Some(low) && left == 0 {
                return Ok(Found::Free(low));
            }
            width = match bound {
                Some(last) if low <= last => half(low, last),
                _ => {
                    bound = None;
                    width.saturating_mul(GROWTH)
                }
            };
        }
    }
    Ok(Found::Only(skip - left))
}

/// Returns half of these nodes, or all of them if they can be listed.
fn half(low: u64, last: u64) -> u64 {
    let nodes = last - low + 1;
    if nodes <= LISTED { nodes } else { nodes.div_ceil(2) }
}

/// Returns the free node with `skip` free nodes before it.
fn nth_free(rows: &[u64], low: u64, end: u64, skip: u64) -> Option<u64> {
    let mut left = skip;
    let mut at = low;
    for &row in rows {
        let free = row.saturating_sub(at);
        if left < free {
            break;
        }
        left -= free;
        at = row + 1;
    }
    let node = at.saturating_add(left);
    (node <= end).then_some(node)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Rows, with a counter of the queries.
    struct Rows {
        rows: BTreeSet<u64>,
        asked: u32,
    }

    impl Rows {
        fn of(rows: impl IntoIterator<Item = u64>) -> Self {
            Self { rows: rows.into_iter().collect(), asked: 0 }
        }
    }

    impl UsedNodes for Rows {
        fn count(&mut self, low: u64, high: u64) -> Result<u64, Fault> {
            self.asked += 1;
            Ok(self.rows.range(low..=high).count() as u64)
        }

        fn nodes(&mut self, low: u64, high: u64) -> Result<Vec<u64>, Fault> {
            assert!(high - low < LISTED);
            self.asked += 1;
            Ok(self.rows.range(low..=high).copied().collect())
        }
    }

    fn by_looking(rows: &BTreeSet<u64>, range: (u64, u64), first: u64, skip: u64) -> Option<u64> {
        let order = (first..=range.1).chain(range.0..first);
        let free: Vec<u64> = order.filter(|node| !rows.contains(node)).collect();
        let at = skip.checked_rem(free.len() as u64)?;
        Some(free[at as usize])
    }

    proptest! {
        #[test]
        fn search_finds_the_same_nodes_as_a_full_scan(
            runs in prop::collection::vec((0_u64..6_000, 1_u64..3_000), 0..6),
            holes in prop::collection::btree_set(0_u64..6_000, 0..20),
            (one, other, first) in (0_u64..6_000, 0_u64..6_000, any::<u64>()),
            skip in prop_oneof![Just(0), 0_u64..300, 0_u64..10_000],
        ) {
            let (from, to) = (one.min(other), one.max(other));
            let first = from + first % (to - from + 1);
            let taken = runs.iter().flat_map(|(low, long)| *low..low + long);
            let mut rows = Rows::of(taken.filter(|node| !holes.contains(node)));
            let expected = by_looking(&rows.rows, (from, to), first, skip);
            prop_assert_eq!(unused(&mut rows, (from, to), first, skip).unwrap(), expected);
            prop_assert!(rows.asked < 100, "{} questions", rows.asked);
        }
    }

    #[test]
    fn search_needs_few_queries_in_common_cases() {
        let nodes = 1 << 20;
        for (taken, first, expected, asked) in [
            // The common cases: no rows, a free place, many rows without a gap.
            (0..0, 0, Some(0), 1),
            (0..10_000, 500_000, Some(500_000), 1),
            (0..1_000, 0, Some(1_000), 3),
            (0..10_000, 0, Some(10_000), 4),
            (0..100_000, 0, Some(100_000), 5),
            (0..nodes, 0, None, 4),
            (1..nodes, nodes / 2, Some(0), 5),
        ] {
            let mut rows = Rows::of(taken.clone());
            assert_eq!(unused(&mut rows, (0, nodes - 1), first, 0), Ok(expected));
            assert!(rows.asked <= asked, "{taken:?} from {first}: {} questions", rows.asked);
        }
    }

    #[test]
    fn search_ends_while_rows_are_added() {
        /// A source that counts one node less than it lists.
        struct FilledMeanwhile;

        impl UsedNodes for FilledMeanwhile {
            fn count(&mut self, low: u64, high: u64) -> Result<u64, Fault> {
                Ok(high - low)
            }

            fn nodes(&mut self, low: u64, high: u64) -> Result<Vec<u64>, Fault> {
                Ok((low..=high).collect())
            }
        }

        assert_eq!(search(&mut FilledMeanwhile, 0, 1_000, 0), Ok(Found::Only(0)));
    }
}
