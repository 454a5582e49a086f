//! The grants of a block that the store's history lacks, until a renewal or a release has handed them
//! over.

use std::collections::{BTreeMap, VecDeque};

use crate::{Handover, Row, SubGrant};

/// How many grants one renewal hands over at most.
pub(super) const MOST_AT_ONCE: usize = 256;
/// How many grants are kept that are over, because their nodes were granted again since. Of the others
/// there is one for each node.
const MOST_SUPERSEDED: usize = 256;
/// How many grants a release hands over: there is no further one.
const MOST_AT_THE_END: usize = 1_024;

/// What the history lacks of one block's grants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Unrecorded {
    /// Grants of nodes that were granted again since, the oldest first.
    superseded: VecDeque<SubGrant>,
    /// The nodes whose latest grant the history lacks, with a tick at or below the starts of all their
    /// grants that it lacks, dropped ones too.
    latest: BTreeMap<u64, u64>,
    /// What was sent, until the store has answered with yes.
    sent: Option<Handover>,
    /// Up to which tick the store said that the history is complete.
    confirmed: u64,
    /// No grant starts below this tick any more, because the store was told so.
    floor: u64,
}

impl Unrecorded {
    /// Of a grant of a block that begins here.
    pub(super) fn new(start: u64) -> Self {
        Self { floor: start, ..Self::default() }
    }

    /// The tick below which no grant starts any more.
    pub(super) fn floor(&self) -> u64 {
        self.floor
    }

    /// Notes a grant, and how the node's row was before it. Returns how many grants had to be dropped.
    pub(super) fn note(&mut self, before: Option<&Row>, granted: &Row) -> u64 {
        let mut dropped = 0;
        if let Some(before) = before.filter(|row| self.latest.contains_key(&row.node)) {
            if self.superseded.len() == MOST_SUPERSEDED {
                self.superseded.pop_front();
                dropped = 1;
            }
            self.superseded.push_back(sub_grant_of(before));
        }
        // An earlier one has a lower start: until then the history is not complete.
        self.latest.entry(granted.node).or_insert(granted.start);
        dropped
    }

    /// What to hand over with a renewal: what was sent and not confirmed, as it was, because the renewal
    /// may be sent again; else `most` of what there is. The history can be complete up to `until`, the
    /// broker's clock. `row` knows the latest grant of a node.
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

    /// What to hand over with the release: `most` of what there is. Nothing is granted any more.
    pub(super) fn hand_over_last<'a>(
        &mut self,
        most: usize,
        row: impl Fn(u64) -> Option<&'a Row>,
    ) -> Handover {
        let sent = self.sent.take();
        // The answer to what was sent would have told whether the store was put back.
        let is_known = sent.is_none();
        // If the store has it already, it stays as it is.
        let mut sub_grants = sent.unwrap_or_default().sub_grants;
        sub_grants.extend(self.take(most.min(MOST_AT_THE_END), row));
        let lacking = self.latest.values().min().copied().unwrap_or(u64::MAX);
        Handover { sub_grants, until: if is_known { lacking } else { 0 } }
    }

    /// The store has taken what was sent, and has everything up to a tick. Returns whether it has forgotten
    /// something: then the latest grants of all nodes are to be handed over [again](Self::note_again).
    pub(super) fn confirm(&mut self, history_until: u64) -> bool {
        self.sent = None;
        history_until < std::mem::replace(&mut self.confirmed, history_until)
    }

    /// The history may lack grants of a node from the confirmed tick on.
    pub(super) fn note_again(&mut self, node: u64) {
        let lacking = self.latest.entry(node).or_insert(self.confirmed);
        *lacking = self.confirmed.min(*lacking);
    }

    /// How many grants are lost to the history together with the block.
    pub(super) fn len(&self) -> u64 {
        let sent = self.sent.as_ref().map_or(0, |sent| sent.sub_grants.len());
        (sent + self.superseded.len() + self.latest.len()) as u64
    }

    /// The oldest that there are. A node's latest grant comes after all others.
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

/// The grant that a row is of.
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
