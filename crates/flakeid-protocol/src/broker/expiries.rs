//! The times at which a broker checks whether leases have expired.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

/// The held nodes in the order of the times at which the broker checks their leases, in Unix milliseconds. A renewal
/// does not change the time of the check. If the lease has not expired at that time, the broker sets the time again.
#[derive(Clone, Debug, Default)]
pub(super) struct Expiries {
    by_time: BTreeSet<(i64, u64)>,
    times: BTreeMap<u64, i64>,
}

impl Expiries {
    /// Adds a node, or changes the time of its check.
    pub(super) fn set(&mut self, node: u64, at: i64) {
        self.remove(node);
        self.by_time.insert((at, node));
        self.times.insert(node, at);
    }

    pub(super) fn remove(&mut self, node: u64) {
        if let Some(at) = self.times.remove(&node) {
            self.by_time.remove(&(at, node));
        }
    }

    pub(super) fn contains(&self, node: u64) -> bool {
        self.times.contains_key(&node)
    }

    /// Returns a node whose check is due.
    pub(super) fn due(&self, now: i64) -> Option<u64> {
        self.by_time.first().filter(|(at, _)| *at <= now).map(|(_, node)| *node)
    }

    pub(super) fn len(&self) -> usize {
        self.times.len()
    }
}

/// All values are equal: two brokers with equal rows must compare equal, and the times of the checks have no effect on
/// a broker's responses.
impl PartialEq for Expiries {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Expiries {}

impl Hash for Expiries {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
