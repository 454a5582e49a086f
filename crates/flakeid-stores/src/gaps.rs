//! A search for nodes that have no row in the store. Counting the rows in a range is much cheaper for a store than
//! looking for a gap after each row. The search therefore counts the rows in one range after another until a range
//! contains a node without a row.

use flakeid_protocol::store::Fault;

/// A source that counts or lists the nodes that have rows in a range.
pub(super) trait UsedNodes {
    /// Returns the number of nodes that have rows, from `low` to `high` inclusive.
    fn count(&mut self, low: u64, high: u64) -> Result<u64, Fault>;

    /// Returns the nodes that have rows, from `low` to `high` inclusive, in increasing order. The range must contain at
    /// most `LISTED` nodes.
    fn nodes(&mut self, low: u64, high: u64) -> Result<Vec<u64>, Fault>;
}

/// The size of the largest range whose nodes are listed rather than counted.
const LISTED: u64 = 64;

/// The factor by which the search widens its range if the current range contains no suitable node.
const GROWTH: u64 = 32;

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// This node has no row.
    Free(u64),
    /// The range contains only this number of free nodes, and the search skipped all of them.
    Only(u64),
}

/// Returns a node without a row, or `None` if every node from `from` to `to` has a row. The search begins at `first`
/// and, after `to`, continues at `from`. The search skips the first `skip` nodes without rows, wrapping round as often
/// as necessary.
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

/// Skips the first `skip` free nodes in the inclusive range from `low` to `high`, and returns the next free node in this
/// range. If rows are added during the search, the returned node may already have a row, or an earlier node may be
/// suitable.
pub(super) fn search(
    used: &mut impl UsedNodes,
    mut low: u64,
    high: u64,
    skip: u64,
) -> Result<Found, Fault> {
    let mut left = skip;
    let mut width = LISTED;
    // An upper bound on the result, or `None` until the search has found a range that contains the result.
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
            // Of the first `rows + left + 1` nodes in the range, at least one is free and is not skipped.
            let last = end.min(low + rows + left);
            // Usually, the rows from the start of the range have no gaps, and the result is then `last`. The search
            // therefore tests `last` first, and bisects the range only if that test fails.
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

/// Returns half the number of nodes from `low` to `last`, or the full number if it is at most `LISTED`.
fn half(low: u64, last: u64) -> u64 {
    let nodes = last - low + 1;
    if nodes <= LISTED { nodes } else { nodes.div_ceil(2) }
}

/// Skips the first `skip` free nodes in the inclusive range from `low` to `end`, and returns the next free node in this
/// range.
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

    /// A set of rows that counts the queries made to it.
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
        fn node_search_finds_the_same_nodes_as_a_full_scan(
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
    fn node_search_requires_few_queries_in_common_cases() {
        let nodes = 1 << 20;
        for (taken, first, expected, asked) in [
            // The common cases: no rows, a single free node, and many rows without a gap.
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
    fn node_search_terminates_while_rows_are_being_added() {
        /// A source that lists a row for every node but counts one row fewer, as if a row were added between the two
        /// queries.
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
