//! The grants of a block that the store's history lacks, until a renewal or a release has handed them
//! over.

use std::collections::{BTreeMap, VecDeque};

use crate::{Handover, Row, SubGrant};

/// The largest number of grants that one renewal hands over.
pub(super) const MOST_AT_ONCE: usize = 256;
/// The largest number of kept grants that have ended because their nodes were granted again. Of the other grants there is
/// one for each node.
const MOST_SUPERSEDED: usize = 256;
/// The largest number of grants that a release hands over, because no further request follows.
const MOST_AT_THE_END: usize = 1_024;

/// The grants of one block that the history lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Unrecorded {
    /// Grants of nodes that were granted again since, the oldest first.
    superseded: VecDeque<SubGrant>,
    /// The nodes whose latest grant the history lacks, with a tick at or below the starts of all their
    /// grants that it lacks, dropped ones too.
    latest: BTreeMap<u64, u64>,
    /// The grants that were sent, until the store has confirmed them.
    sent: Option<Handover>,
    /// The tick up to which the store has confirmed that the history is complete.
    confirmed: u64,
    /// The tick below which no grant starts any more, because the store recorded the history as complete up to it.
    floor: u64,
}

impl Unrecorded {
    /// Creates an empty list for a grant of a block that begins at `start`.
    pub(super) fn new(start: u64) -> Self {
        Self { floor: start, ..Self::default() }
    }

    /// The tick below which no grant starts any more.
    pub(super) fn floor(&self) -> u64 {
        self.floor
    }

    /// Notes a grant, with the previous row of the node. Returns the number of grants that had to be dropped.
    pub(super) fn note(&mut self, before: Option<&Row>, granted: &Row) -> u64 {
        let mut dropped = 0;
        if let Some(before) = before.filter(|row| self.latest.contains_key(&row.node)) {
            if self.superseded.len() == MOST_SUPERSEDED {
                self.superseded.pop_front();
                dropped = 1;
            }
            self.superseded.push_back(sub_grant_of(before));
        }
        // An earlier grant has a lower start, and the history is complete only up to it.
        self.latest.entry(granted.node).or_insert(granted.start);
        dropped
    }

    /// Returns the grants for a renewal: the grants that were sent and not confirmed, unchanged, because the renewal may be sent
    /// again; otherwise up to `most` new ones. The history can be complete up to `until`, the time of the broker's clock. `row`
    /// returns the latest row of a node.
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
        self.floor = self.floor.max(until);
        let handover = Handover { sub_grants, until };
        self.sent.insert(handover).clone()
    }

    /// Returns up to `most` grants for the release, after which the broker grants no more nodes of the block.
    pub(super) fn hand_over_last<'a>(
        &mut self,
        most: usize,
        row: impl Fn(u64) -> Option<&'a Row>,
    ) -> Handover {
        let sent = self.sent.take();
        // Without the response to the last renewal, it is unknown whether the store was restored.
        let is_known = sent.is_none();
        // The store ignores grants that it has already.
        let mut sub_grants = sent.unwrap_or_default().sub_grants;
        sub_grants.extend(self.take(most.min(MOST_AT_THE_END), row));
        let lacking = self.latest.values().min().copied().unwrap_or(u64::MAX);
        Handover { sub_grants, until: if is_known { lacking } else { 0 } }
    }

    /// Notes that the store has the grants that were sent, and all grants up to a tick. Returns whether the store has lost
    /// grants; the latest grants of all nodes must then be handed over [again](Self::note_again).
    pub(super) fn confirm(&mut self, history_until: u64) -> bool {
        self.sent = None;
        history_until < std::mem::replace(&mut self.confirmed, history_until)
    }

    /// Notes that the history may lack grants of a node from the confirmed tick on.
    pub(super) fn note_again(&mut self, node: u64) {
        let lacking = self.latest.entry(node).or_insert(self.confirmed);
        *lacking = self.confirmed.min(*lacking);
    }

    /// The number of grants that the history would lose with the block.
    pub(super) fn len(&self) -> u64 {
        let sent = self.sent.as_ref().map_or(0, |sent| sent.sub_grants.len());
        (sent + self.superseded.len() + self.latest.len()) as u64
    }

    /// Takes up to `most` of the oldest grants. The latest grant of a node comes after its other grants.
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

/// Returns the sub-grant that a row describes.
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
