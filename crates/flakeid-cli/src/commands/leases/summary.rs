//! How many nodes of a namespace are held, expired, free and quarantined.

use std::fmt;

use flakeid_lease::store::operations::Listing;

use super::json::LeaseStatus;
use crate::format::number::grouped;

/// How many nodes of a namespace have which status.
#[derive(Default)]
pub(super) struct Summary {
    held: u64,
    expired: u64,
    free: u64,
    quarantined: u64,
    rows: u64,
    /// What a row is: a node, or a block of nodes.
    of: &'static str,
}

impl Summary {
    pub(super) fn new(listing: &Listing) -> Self {
        let of = if listing.namespace.block_bits == 0 { "node" } else { "block" };
        let mut summary = Self { rows: listing.namespace.max_row() + 1, of, ..Self::default() };
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

/// `3 held, 2 free, 1 quarantined of 1,024 nodes`; the rest were never used.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} held, ", grouped(self.held))?;
        if self.expired > 0 {
            write!(f, "{} expired, ", grouped(self.expired))?;
        }
        let (free, quarantined) = (grouped(self.free), grouped(self.quarantined));
        let (rows, of) = (grouped(self.rows), self.of);
        let s = if self.rows == 1 { "" } else { "s" };
        write!(f, "{free} free, {quarantined} quarantined of {rows} {of}{s}")
    }
}

#[cfg(test)]
mod tests {
    use flakeid_core::Layout;
    use flakeid_lease::protocol::{Namespace, Owner, Row, State};
    use flakeid_lease::store::Continuity;

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
    fn what_has_expired_is_not_counted_as_held() {
        let mut listing = Listing {
            namespace: Namespace::new("default", Layout::TWITTER),
            rows: vec![
                row(0, State::Held, NOW + 1),
                row(1, State::Free, 0),
                row(2, State::Quarantined, 0),
            ],
            now: NOW,
            continuity: Continuity::Same,
        };
        let text = Summary::new(&listing).to_string();
        assert_eq!(text, "1 held, 1 free, 1 quarantined of 1,024 nodes");
        listing.now += 1;
        let text = Summary::new(&listing).to_string();
        assert_eq!(text, "0 held, 1 expired, 1 free, 1 quarantined of 1,024 nodes");
        listing.rows.clear();
        let text = Summary::new(&listing).to_string();
        assert_eq!(text, "0 held, 0 free, 0 quarantined of 1,024 nodes");
    }
}
