//! Keeps a block's grants until the broker hands them over to the store's history, with a renewal or a release of the
//! block.

use std::collections::{BTreeMap, VecDeque};

use crate::{Handover, Row, SubGrant};

/// The maximum number of grants that a broker hands over with one renewal.
pub(super) const MOST_AT_ONCE: usize = 256;
/// The maximum number of kept grants whose nodes have been granted again. At this limit, the broker grants no node whose
/// latest grant is missing from the history. Otherwise, a client could hide its grants behind a burst of later ones.
/// The nodes' latest grants do not require a limit, because each node has only one latest grant.
const MOST_SUPERSEDED: usize = 256;
/// The maximum number of new grants that a broker hands over with a release. The limit is higher than for a renewal,
/// because the release is the last request for the block.
const MOST_AT_THE_END: usize = 1_024;

/// The grants of one block that are missing from the history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Unrecorded {
    /// The grants whose nodes have been granted again, from the oldest to the newest.
    superseded: VecDeque<SubGrant>,
    /// The nodes whose latest grant is missing from the history. Each node is mapped to a tick at or before the start
    /// of its first missing grant.
    latest: BTreeMap<u64, u64>,
    /// The grants that were sent but that the store has not confirmed yet.
    sent: Option<Handover>,
    /// The tick up to which the store has confirmed that the history is complete.
    confirmed: u64,
    /// The tick below which no new grant starts, because the store has recorded the history as complete up to this tick.
    /// A handover that the store has not confirmed may raise the tick.
    floor: u64,
}

impl Unrecorded {
    /// Creates an empty list for a block whose grant begins at `start`.
    pub(super) fn new(start: u64) -> Self {
        Self { floor: start, ..Self::default() }
    }

    /// The tick below which no new grant starts.
    pub(super) fn floor(&self) -> u64 {
        self.sent.as_ref().map_or(self.floor, |sent| self.floor.max(sent.until))
    }

    /// Whether another grant of a node can be kept.
    pub(super) fn has_room(&self, node: u64) -> bool {
        self.superseded.len() < MOST_SUPERSEDED || !self.latest.contains_key(&node)
    }

    /// Adds the grant in the row `granted`. `before` is the node's previous row.
    pub(super) fn note(&mut self, before: Option<&Row>, granted: &Row) {
        if let Some(before) = before.filter(|row| self.latest.contains_key(&row.node)) {
            self.superseded.push_back(sub_grant_of(before));
        }
        // If an earlier grant of the node is also missing, the entry keeps that grant's start, because the history is
        // complete only up to the first missing grant.
        self.latest.entry(granted.node).or_insert(granted.start);
    }

    /// Returns up to `most` grants for a renewal. Returns the same grants until they are confirmed, because the renewal
    /// may be sent again. `until` is the tick up to which the history can become complete, and `row` returns a node's
    /// latest row.
    pub(super) fn hand_over<'a>(
        &mut self,
        until: u64,
        most: usize,
        row: impl Fn(u64) -> Option<&'a Row>,
    ) -> Handover {
        if let Some(sent) = &self.sent {
            return sent.clone();
        }
        let sub_grants = self.take(most.min(MOST_AT_ONCE), row);
        let lacking = self.latest.values().min().copied().unwrap_or(u64::MAX);
        let until = until.max(self.floor).min(lacking);
        let handover = Handover { sub_grants, until };
        self.sent.insert(handover).clone()
    }

    /// Returns the grants for the block's release: all unconfirmed grants and up to `most` further grants.
    pub(super) fn hand_over_last<'a>(
        &mut self,
        most: usize,
        row: impl Fn(u64) -> Option<&'a Row>,
    ) -> Handover {
        let sent = self.sent.take();
        // If the last renewal has received no response, it is unknown whether the store was restored from a backup.
        let is_known = sent.is_none();
        // Unconfirmed grants are sent again, because the store ignores grants that it already has.
        let mut sub_grants = sent.unwrap_or_default().sub_grants;
        sub_grants.extend(self.take(most.min(MOST_AT_THE_END), row));
        let lacking = self.latest.values().min().copied().unwrap_or(u64::MAX);
        Handover { sub_grants, until: if is_known { lacking } else { 0 } }
    }

    /// Records that the store has written the grants that were sent, and that its history is complete up to the tick
    /// `history_until`. Returns `true` if the store has lost grants. The caller must then call
    /// [`note_again`](Self::note_again) for each node.
    pub(super) fn confirm(&mut self, history_until: u64) -> bool {
        // If the store was restored since the last renewal, the store reports 0 as `history_until`. The confirmed tick
        // alone would not reveal a second restore, because that tick is already 0 after the first restore.
        let is_rejected = self.sent.take().is_some_and(|sent| sent.until > 0) && history_until == 0;
        let is_lower = history_until < std::mem::replace(&mut self.confirmed, history_until);
        // The store records less than the broker has declared if the broker's clock was ahead.
        self.floor = self.floor.max(history_until);
        is_rejected || is_lower
    }

    /// Records that grants of a node may be missing from the history, starting at the confirmed tick.
    pub(super) fn note_again(&mut self, node: u64) {
        let lacking = self.latest.entry(node).or_insert(self.confirmed);
        *lacking = self.confirmed.min(*lacking);
    }

    /// The number of grants that the history would lose if the block were lost.
    pub(super) fn len(&self) -> u64 {
        let sent = self.sent.as_ref().map_or(0, |sent| sent.sub_grants.len());
        (sent + self.superseded.len() + self.latest.len()) as u64
    }

    /// Removes and returns up to `most` grants. Older grants of a node come before the node's latest grant.
    fn take<'a>(&mut self, most: usize, row: impl Fn(u64) -> Option<&'a Row>) -> Vec<SubGrant> {
        let superseded = self.superseded.len().min(most);
        let mut taken: Vec<_> = self.superseded.drain(..superseded).collect();
        while self.superseded.is_empty()
            && taken.len() < most
            && let Some((node, _)) = self.latest.pop_first()
        {
            taken.extend(row(node).map(sub_grant_of));
        }
        taken
    }
}

/// Returns the sub-grant that records a row's grant in the store's history.
#[must_use]
pub fn sub_grant_of(row: &Row) -> SubGrant {
    SubGrant {
        node: row.node,
        start: row.start,
        block_grant: 0,
        grant: row.grant,
        owner: row.owner.clone(),
        acquired: row.acquired,
    }
}
