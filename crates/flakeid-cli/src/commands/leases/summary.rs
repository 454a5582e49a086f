//! Counts the held, expired, free and quarantined nodes of a namespace.

use std::fmt;

use super::json::LeaseStatus;
use crate::format::number::grouped;
use crate::store::Leases;

/// The number of nodes with each status in a namespace.
#[derive(Default)]
pub(super) struct Summary {
    held: u64,
    expired: u64,
    free: u64,
    quarantined: u64,
    rows: u64,
    /// The name of the unit that each row describes: `node` or `block`.
    of: &'static str,
    /// Whether the summary describes the nodes of a broker. If so, `rows` is the number of nodes in
    /// the broker's blocks.
    of_broker: bool,
}

impl Summary {
    pub(super) fn new(Leases { listing, of_broker }: &Leases) -> Self {
        let namespace = &listing.namespace;
        let (rows, of) = match of_broker {
            Some(nodes) => (*nodes, "node"),
            None if namespace.block_bits == 0 => (namespace.max_row() + 1, "node"),
            None => (namespace.max_row() + 1, "block"),
        };
        let of_broker = of_broker.is_some();
        let mut summary = Self { rows, of, of_broker, ..Self::default() };
        for row in &listing.rows {
            match LeaseStatus::new(row, listing.now) {
                LeaseStatus::Held => summary.held += 1,
                LeaseStatus::Expired => summary.expired += 1,
                LeaseStatus::Free => summary.free += 1,
                LeaseStatus::Quarantined => summary.quarantined += 1,
            }
        }
        summary
    }
}

/// Formats the summary as `3 held, 2 free, 1 quarantined of 1,024 nodes`. Nodes that have never
/// been used are counted only in the total.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} held, ", grouped(self.held))?;
        if self.expired > 0 {
            write!(f, "{} expired, ", grouped(self.expired))?;
        }
        let (free, quarantined) = (grouped(self.free), grouped(self.quarantined));
        let (rows, of) = (grouped(self.rows), self.of);
        let s = if self.rows == 1 { "" } else { "s" };
        if self.of_broker {
            return write!(f, "{free} free; this broker's blocks contain {rows} {of}{s}");
        }
        write!(f, "{free} free, {quarantined} quarantined of {rows} {of}{s}")
    }
}

#[cfg(test)]
mod tests {
    use flakeid_core::Layout;
    use flakeid_protocol::operations::Listing;
    use flakeid_protocol::store::Continuity;
    use flakeid_protocol::{Namespace, Owner, Row, State};

    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    fn row(node: u64, state: State, expires: i64) -> Row {
        Row {
            node,
            fence: 9,
            start: 1,
            token: None,
            grant: 1,
            state,
            owner: Owner::default(),
            acquired: NOW - 5_000,
            renewed: NOW - 1_000,
            expires,
            incarnation: String::new(),
            fixed: false,
            history_until: 0,
        }
    }

    #[test]
    fn summary_counts_expired_leases_separately_from_held_leases() {
        let listing = Listing {
            namespace: Namespace::new("default", Layout::TWITTER),
            rows: vec![
                row(0, State::Held, NOW + 1),
                row(1, State::Free, 0),
                row(2, State::Quarantined, 0),
            ],
            now: NOW,
            continuity: Continuity::Same,
        };
        let mut leases = Leases { listing, of_broker: None };
        let text = Summary::new(&leases).to_string();
        assert_eq!(text, "1 held, 1 free, 1 quarantined of 1,024 nodes");
        leases.listing.now += 1;
        let text = Summary::new(&leases).to_string();
        assert_eq!(text, "0 held, 1 expired, 1 free, 1 quarantined of 1,024 nodes");
        leases.listing.rows.clear();
        let text = Summary::new(&leases).to_string();
        assert_eq!(text, "0 held, 0 free, 0 quarantined of 1,024 nodes");
        leases.of_broker = Some(32);
        let text = Summary::new(&leases).to_string();
        assert_eq!(text, "0 held, 0 free; this broker's blocks contain 32 nodes");
    }
}
