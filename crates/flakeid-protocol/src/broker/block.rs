//! A block of nodes that a broker holds, with the nodes' rows.

use std::collections::BTreeSet;

use super::unrecorded::Unrecorded;
use crate::rules::Renewal;
use crate::{Grant, Handover, Row};

/// A block of nodes under one grant from the store. A later grant of the same nodes is represented by a new `Block`
/// with its own first tick and without rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Block {
    /// The first tick of the grant. No window in the block starts before this tick (I12).
    pub(super) start: u64,
    /// The latest fence that the store confirmed. No window in the block ends after this fence (I11).
    pub(super) fence: u64,
    /// The tick after the last tick that the broker has granted in this block. When the block is released, its fence
    /// must not fall below this tick (I13).
    pub(super) used_until: u64,
    /// The time at which the block became empty, in Unix milliseconds; `None` while a node is held.
    pub(super) empty_since: Option<i64>,
    /// The grants that are missing from the store's history; `None` if the store keeps no history.
    unrecorded: Option<Unrecorded>,
    first_node: u64,
    /// The row of each node; `None` until the node is granted.
    rows: Vec<Option<Box<Row>>>,
    /// The number of nodes that have been granted at least once. New nodes are granted in ascending order.
    touched: u64,
    /// The free nodes that have been granted before, as pairs of fence and node. The node with the lowest fence comes
    /// first.
    free: BTreeSet<(u64, u64)>,
}

impl Block {
    /// Creates a block of `2^bits` free nodes.
    pub(super) fn new(grant: &Grant, bits: u32, now: i64, is_recorded: bool) -> Self {
        let size = 1_usize << bits;
        Self {
            start: grant.start,
            fence: grant.fence,
            used_until: grant.start,
            empty_since: Some(now),
            unrecorded: is_recorded.then(|| Unrecorded::new(grant.start)),
            first_node: grant.node << bits,
            rows: vec![None; size],
            touched: 0,
            free: BTreeSet::new(),
        }
    }

    /// Returns the lowest tick at which a grant may start.
    pub(super) fn floor(&self) -> u64 {
        self.unrecorded.as_ref().map_or(self.start, Unrecorded::floor)
    }

    /// Returns the grants that the broker hands over to the store's history when it next renews the block; see
    /// [`Unrecorded::hand_over`].
    pub(super) fn hand_over(&mut self, until: u64, most: usize) -> Handover {
        let Self { rows, first_node, unrecorded, fence, .. } = self;
        let row = |node: u64| rows.get((node - *first_node) as usize)?.as_deref();
        let until = until.min(*fence);
        unrecorded.as_mut().map(|of| of.hand_over(until, most, row)).unwrap_or_default()
    }

    /// Returns the grants that the broker hands over to the store's history when it releases the block.
    pub(super) fn hand_over_last(&mut self, most: usize) -> Handover {
        let Self { rows, first_node, unrecorded, .. } = self;
        let row = |node: u64| rows.get((node - *first_node) as usize)?.as_deref();
        unrecorded.as_mut().map(|of| of.hand_over_last(most, row)).unwrap_or_default()
    }

    /// Records that the store has written the grants that were handed over. The store's history of the block is then
    /// complete up to the tick `history_until`.
    pub(super) fn confirm_history(&mut self, history_until: u64) {
        let Some(unrecorded) = &mut self.unrecorded else { return };
        if unrecorded.confirm(history_until) {
            let rows = self.rows.iter().filter_map(Option::as_deref);
            rows.for_each(|row| unrecorded.note_again(row.node));
        }
    }

    /// The number of grants that are missing from the store's history.
    pub(super) fn unrecorded(&self) -> u64 {
        self.unrecorded.as_ref().map_or(0, Unrecorded::len)
    }

    /// The number of free nodes in the block.
    pub(super) fn room(&self) -> u64 {
        self.rows.len() as u64 - self.touched + self.free.len() as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.room() == self.rows.len() as u64
    }

    /// Returns the free node with the lowest fence, unless the history must first receive the node's latest grant.
    pub(super) fn coldest(&self) -> Option<u64> {
        if self.touched < self.rows.len() as u64 {
            return Some(self.first_node + self.touched);
        }
        self.free.first().map(|(_, node)| *node).filter(|node| self.is_grantable(*node))
    }

    /// Whether a node is free, and the block can keep another grant of the node for the history.
    pub(super) fn is_grantable(&self, node: u64) -> bool {
        self.row(node).is_some_and(|row| self.free.contains(&(row.fence, node)))
            && self.unrecorded.as_ref().is_none_or(|unrecorded| unrecorded.has_room(node))
    }

    pub(super) fn row(&self, node: u64) -> Option<&Row> {
        self.rows.get((node - self.first_node) as usize)?.as_deref()
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter_map(Option::as_deref)
    }

    /// Writes the row of a granted or renewed node.
    pub(super) fn hold(&mut self, row: Row) {
        let node = row.node;
        if let Some(unrecorded) = &mut self.unrecorded {
            let before = self.rows.get((node - self.first_node) as usize);
            let before = before.and_then(Option::as_deref);
            if before.is_none_or(|before| before.grant != row.grant) {
                unrecorded.note(before, &row);
            }
        }
        match self.row(node).map(|before| before.fence) {
            Some(fence) => drop(self.free.remove(&(fence, node))),
            None => self.touched += 1,
        }
        self.used_until = self.used_until.max(row.fence);
        self.empty_since = None;
        self.write(row);
    }

    /// Renews the row of a node. The node is no longer free.
    pub(super) fn renew(&mut self, node: u64, renewal: &Renewal) {
        let place = self.rows.get_mut((node - self.first_node) as usize);
        let Some(row) = place.and_then(Option::as_deref_mut) else { return };
        self.free.remove(&(row.fence, node));
        renewal.apply(row);
        self.used_until = self.used_until.max(row.fence);
        self.empty_since = None;
    }

    /// Writes the row of a node that has become free.
    pub(super) fn free(&mut self, row: Row, now: i64) {
        let node = row.node;
        if let Some(fence) = self.row(node).map(|before| before.fence) {
            self.free.remove(&(fence, node));
        }
        self.free.insert((row.fence, node));
        self.write(row);
        if self.is_empty() {
            self.empty_since.get_or_insert(now);
        }
    }

    fn write(&mut self, row: Row) {
        if let Some(place) = self.rows.get_mut((row.node - self.first_node) as usize) {
            match place {
                Some(place) => **place = row,
                None => *place = Some(Box::new(row)),
            }
        }
    }
}
