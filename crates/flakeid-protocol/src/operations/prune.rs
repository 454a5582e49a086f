//! Removes old grants from the history.

use flakeid_core::Layout;

use super::{Listing, list, read_namespace, run};
use crate::store::{Fault, Ledger, Store};
use crate::{Namespace, Record, SubGrant};

/// The largest number of records or sub-grants that one transaction reads.
const PAGE: usize = 500;

/// The largest number of nodes whose sub-grants one transaction removes. Each of these nodes requires a statement of
/// its own, and etcd limits the number of operations in a transaction.
const MOST_NODES: usize = 50;

/// The numbers of grants that [`prune`] removed.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_protocol::operations::{self, Pruned};
/// use flakeid_protocol::{MemoryStore, Namespace};
///
/// let mut store = MemoryStore::new();
/// operations::init(&mut store, &Namespace::new("orders", Layout::TWITTER))?;
/// let pruned = operations::prune(&mut store, "orders", 1_800_000_000_000)?;
/// assert_eq!(pruned, Pruned { records: 0, sub_grants: 0 }, "no node was ever granted");
/// # Ok::<(), flakeid_protocol::store::Fault>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The number of removed records. A record describes a grant by the store.
    pub records: u64,
    /// The number of removed sub-grants. A sub-grant describes a grant by a broker.
    pub sub_grants: u64,
}

/// Removes old grants from the history of a namespace. A grant is old if it was no longer in force at the instant
/// `before`, which is in Unix milliseconds according to the store's clock.
///
/// A grant is removed only if its node, or the block that contains the node, was granted again before the instant, and
/// the window of that later grant had begun by the instant. Therefore, the store's latest grant of a node or a block
/// always remains in the history. [`whois`](super::whois) returns the same holders as before for all ticks from the
/// first remaining grant on, and no holder for earlier ticks.
///
/// Each transaction removes at most a few hundred grants of one row, so that other transactions do not have to wait.
/// If this function fails, the transactions before the failure remain in effect.
///
/// # Errors
/// [`Refusal::MissingNamespace`](crate::Refusal::MissingNamespace) if the namespace does not exist; another [`Fault`]
/// if the store fails.
pub fn prune(store: &mut dyn Store, namespace: &str, before: i64) -> Result<Pruned, Fault> {
    let listing = list(store, namespace)?;
    prune_listed(store, listing, before)
}

/// Removes grants from the history like [`prune`], but those that ended more than `keep_ms` milliseconds ago. The
/// store's clock determines their age. If the clock of this host were used instead and were ahead, recent grants would
/// be permanently removed.
///
/// # Errors
/// The errors of [`prune`].
pub fn prune_older(store: &mut dyn Store, namespace: &str, keep_ms: i64) -> Result<Pruned, Fault> {
    let listing = list(store, namespace)?;
    let before = listing.now.saturating_sub(keep_ms);
    prune_listed(store, listing, before)
}

fn prune_listed(store: &mut dyn Store, listing: Listing, before: i64) -> Result<Pruned, Fault> {
    let Listing { namespace: kept, rows, .. } = listing;
    let mut pruned = Pruned::default();
    if !kept.keeps_history {
        return Ok(pruned);
    }
    let cut = Cut { layout: kept.layout, before };
    for row in &rows {
        // The records are removed before their sub-grants, because `whois` would otherwise report that a node had no
        // client.
        pruned.records += prune_records(store, &kept, row.node, &cut)?;
        if kept.block_bits > 0 {
            pruned.sub_grants += prune_sub_grants(store, &kept, row.node, &cut)?;
        }
    }
    Ok(pruned)
}

/// The instant by which a grant must have ended to be removed from the history.
struct Cut {
    layout: Layout,
    before: i64,
}

impl Cut {
    /// Whether a grant had ended all earlier grants of its node by the instant `before`. A window may begin some time
    /// after it was granted. Until the window begins, the node's previous window is in force.
    fn is_after(&self, start: u64, acquired: i64) -> bool {
        acquired < self.before && self.layout.unix_ms_at(start) <= self.before
    }
}

/// Removes the row's records of grants that were no longer in force at the instant `cut.before`. Returns the number of
/// removed records.
fn prune_records(
    store: &mut dyn Store,
    kept: &Namespace,
    row: u64,
    cut: &Cut,
) -> Result<u64, Fault> {
    let mut pruned = 0;
    // Two records are enough to determine whether a row has old records. Most rows have no old records.
    let mut limit = 2;
    loop {
        let removed = run(store, &kept.name, |ledger| {
            read_namespace(ledger)?;
            let page = ledger.oldest_records(row, limit)?;
            let ended = page.windows(2).take_while(|pair| {
                let next = &pair[1];
                cut.is_after(next.start, next.acquired)
            });
            let removed = ended.count();
            if let Some(last) = page[..removed].last() {
                ledger.remove_records_through(last)?;
            }
            Ok(removed)
        })?;
        pruned += removed as u64;
        if removed + 1 < limit {
            return Ok(pruned);
        }
        limit = PAGE;
    }
}

/// Removes each sub-grant of a row's nodes if the sub-grant was no longer in force at the instant `cut.before`. Returns
/// the number of removed sub-grants.
fn prune_sub_grants(
    store: &mut dyn Store,
    kept: &Namespace,
    row: u64,
    cut: &Cut,
) -> Result<u64, Fault> {
    let to = (row << kept.block_bits) | ((1 << kept.block_bits) - 1);
    let mut from = row << kept.block_bits;
    let mut pruned = 0;
    loop {
        let (removed, next) = run(store, &kept.name, |ledger| {
            read_namespace(ledger)?;
            let Some(first) = ledger.oldest_records(row, 1)?.pop() else { return Ok((0, None)) };
            prune_page(ledger, (from, to), &first, cut)
        })?;
        pruned += removed as u64;
        match next {
            Some(next) if next <= to => from = next,
            _ => return Ok(pruned),
        }
    }
}

/// Removes sub-grants of the nodes in a range. `first` is the row's first record that remains in the history. Returns
/// the number of removed sub-grants, and the node from which another call must continue.
fn prune_page(
    ledger: &mut dyn Ledger,
    (from, to): (u64, u64),
    first: &Record,
    cut: &Cut,
) -> Result<(usize, Option<u64>), Fault> {
    let page = ledger.oldest_sub_grants(from, to, PAGE)?;
    let is_full = page.len() == PAGE;
    let last_node = page.last().map(|sub| sub.node);
    let (mut removed, mut nodes) = (0, 0);
    for of_node in page.chunk_by(|one, other| one.node == other.node) {
        let node = of_node[0].node;
        // A full page may lack some sub-grants of its last node, so another page begins with this node.
        let is_cut_off = is_full && Some(node) == last_node;
        if nodes == MOST_NODES || is_cut_off && of_node.len() < PAGE {
            return Ok((removed, Some(node)));
        }
        let ended = ended_sub_grants(of_node, first, cut);
        if let Some(last) = of_node[..ended].last() {
            ledger.remove_sub_grants_through(last)?;
            removed += ended;
            nodes += 1;
        }
        if is_cut_off {
            // All sub-grants on the page belong to one node. If one of them must remain, all later sub-grants of the
            // node must remain, too.
            let next = if ended + 1 < PAGE { node.checked_add(1) } else { Some(node) };
            return Ok((removed, next));
        }
    }
    Ok((removed, None))
}

/// Returns how many of a node's oldest sub-grants can be removed, because they were no longer in force at the instant
/// `cut.before`.
fn ended_sub_grants(of_node: &[SubGrant], first: &Record, cut: &Cut) -> usize {
    let has_ended = |place: &usize| {
        let sub = &of_node[*place];
        // The block's grant that contains this sub-grant has already been removed from the history.
        if sub.block_grant < first.grant || sub.start < first.start {
            return true;
        }
        // If the next sub-grant belongs to the same grant of the block, the next sub-grant's number reveals that
        // earlier sub-grants were removed. Otherwise, this sub-grant must remain.
        let next = of_node.get(place + 1).filter(|next| next.block_grant == sub.block_grant);
        sub.block_grant == first.grant
            && next.is_some_and(|next| cut.is_after(next.start, next.acquired))
    };
    (0..of_node.len()).take_while(has_ended).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Owner;

    fn sub(block_grant: u64, grant: u64, start: u64) -> SubGrant {
        SubGrant { node: 17, start, block_grant, grant, owner: Owner::default(), acquired: 0 }
    }

    #[test]
    fn sub_grant_ends_when_the_next_sub_grant_of_its_block_grant_starts() {
        let (layout, owner) = (Layout::TWITTER, Owner::default());
        let first = Record { node: 1, grant: 4, start: 100, owner, acquired: 0, previous_until: 0 };
        let cut = Cut { layout, before: layout.unix_ms_at(150) };
        let late = SubGrant { acquired: cut.before, ..sub(4, 2, 120) };
        for (of_node, expected) in [
            (vec![sub(3, 9, 90), sub(4, 1, 100), sub(4, 2, 120), sub(4, 3, 200)], 2),
            (vec![sub(3, 1, 90), sub(3, 2, 95)], 2),
            (vec![sub(4, 1, 100), sub(4, 2, 150)], 1),
            (vec![sub(4, 1, 100), sub(4, 2, 151)], 0),
            (vec![sub(4, 1, 100), late], 0),
            // The first sub-grant must remain. The second sub-grant is under another grant of the block, so its number
            // could not reveal that the first sub-grant was removed.
            (vec![sub(4, 1, 100), sub(5, 1, 120)], 0),
            // Both sub-grants must remain, because the history still contains their grant of the block, and that grant
            // may still be in force.
            (vec![sub(5, 1, 120), sub(5, 2, 130)], 0),
            (vec![sub(4, 1, 100)], 0),
            (Vec::new(), 0),
        ] {
            assert_eq!(ended_sub_grants(&of_node, &first, &cut), expected, "{of_node:?}");
        }
    }
}
