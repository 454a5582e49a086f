//! Sub-grants, which are the grants of brokers to their clients, as recorded in the store's history. The functions in
//! this file prepare the handover of sub-grants to the store, and find the client that held an ID's node.

use super::{Namespace, Owner, Record, Row, Token};

/// A broker's grant of a node in its block, for a window inside the broker's own window.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_protocol::{Namespace, Owner, SubGrant};
///
/// let owner = Owner { name: "cart".into(), host: "web-1".into(), pid: 4711 };
/// let acquired = 1_800_000_000_000;
/// let sub_grant = SubGrant { node: 37, start: 1_000, block_grant: 1, grant: 1, owner, acquired };
/// let namespace = Namespace { block_bits: 4, ..Namespace::new("orders", Layout::TWITTER) };
/// assert_eq!(namespace.row_of(sub_grant.node), 2, "the block of the node");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SubGrant {
    /// The node that was granted to the client.
    pub node: u64,
    /// The first tick of the sub-grant.
    pub start: u64,
    /// The number of the block's grant under which the sub-grant was made. The store sets this field.
    pub block_grant: u64,
    /// The number of the sub-grant, counted from 1 for each node under each grant of the block.
    pub grant: u64,
    /// The client to which the node was granted.
    pub owner: Owner,
    /// The time of the sub-grant, in Unix milliseconds according to the broker's clock.
    pub acquired: i64,
}

/// The sub-grants that a broker hands over to the store's history, together with a renewal or a release of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Handover {
    /// The sub-grants that are missing from the history.
    pub sub_grants: Vec<SubGrant>,
    /// The tick up to which the history is complete once these sub-grants are added to the confirmed sub-grants. Until the
    /// store responds, the broker makes no grants that start below this tick. With a renewal, the store records at most
    /// the tick that is `max_skew` ahead of its own clock. The tick is 0 if the broker does not know which sub-grants
    /// the store has.
    pub until: u64,
}

/// The error for a sub-grant that does not belong to the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotOfBlock {
    /// The node of the sub-grant.
    pub(crate) node: u64,
    /// The first tick of the sub-grant.
    pub(crate) start: u64,
}

/// Returns the part of a handover that must be written, given a block's row before and after a renewal or a release.
/// Only the block's holder, with the token `held`, can hand over sub-grants. A renewal that was already applied has
/// already handed over its sub-grants.
///
/// Sub-grants are handed over together with a new token. Therefore, if the row's token differs from the holder's
/// token, the store was restored and may lack some sub-grants. The history is then incomplete, and the broker hands
/// over all its sub-grants again.
///
/// # Errors
/// [`NotOfBlock`] if a sub-grant is outside the block or its window (I11, I12). The caller must not write anything in
/// that case.
pub(crate) fn hand_over(
    namespace: &Namespace,
    before: &Row,
    after: Row,
    held: Token,
    handover: &Handover,
) -> Result<(Row, Vec<SubGrant>), NotOfBlock> {
    if !namespace.keeps_history || after.token == before.token {
        return Ok((after, Vec::new()));
    }
    // A restored store's fence may be lower than the fence that the store confirmed to the broker.
    let fence = before.fence.max(after.fence);
    let of_block = |sub: &SubGrant| {
        let is_inside =
            namespace.row_of(sub.node) == before.node && (before.start..fence).contains(&sub.start);
        let stamped = SubGrant { block_grant: before.grant, ..sub.clone() };
        let (node, start) = (sub.node, sub.start);
        is_inside.then_some(stamped).ok_or(NotOfBlock { node, start })
    };
    let sub_grants: Vec<_> = handover.sub_grants.iter().map(of_block).collect::<Result<_, _>>()?;
    // A broker whose clock is ahead declares the history complete up to ticks in which it will still grant nodes once its
    // clock is correct. After a release, the broker grants nothing more.
    let latest = match after.token {
        Some(_) => {
            let latest = after.renewed.saturating_add_unsigned(namespace.bounds.max_skew_ms);
            namespace.layout.tick_at(latest).unwrap_or(0)
        }
        None => u64::MAX,
    };
    let history_until = if before.token == Some(held) {
        before.history_until.max(handover.until.min(after.fence).min(latest))
    } else {
        0
    };
    Ok((Row { history_until, ..after }, sub_grants))
}

/// The client of a broker that held a node at a tick.
///
/// ```
/// use flakeid_protocol::Client;
///
/// fn describe(client: &Client) -> String {
///     match client {
///         Client::Known { sub_grant, fence } => format!("{} until {fence}", sub_grant.owner.host),
///         Client::Nobody => "no client".into(),
///         Client::Unrecorded => "an unknown client".into(),
///     }
/// }
/// assert_eq!(describe(&Client::Nobody), "no client");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// The client is known. No other client had the node from the first tick of the sub-grant to `fence`, exclusive.
    /// The client's own window may have ended earlier.
    Known {
        /// The sub-grant of the client.
        sub_grant: SubGrant,
        /// The first tick that may belong to another client or that the history does not cover.
        fence: u64,
    },
    /// No client held the node at the tick.
    Nobody,
    /// The client is unknown, because the history may lack the broker's grants for the tick.
    Unrecorded,
}

/// Returns the client that held a node at a tick. `record` is the grant of the block to the broker. The block's grant
/// ends at `fence`, and the history contains the sub-grants of that grant up to the tick `history_until`. `found` is
/// the node's last sub-grant that starts at or before the tick, and `next` is the node's first sub-grant after the
/// tick.
#[must_use]
pub(crate) fn client_at(
    tick: u64,
    (record, fence): (&Record, u64),
    history_until: u64,
    (found, next): (Option<SubGrant>, Option<SubGrant>),
) -> Client {
    let is_under_it = |sub: &SubGrant| sub.block_grant == record.grant;
    let is_complete = tick < history_until;
    match (found.filter(is_under_it), next.filter(is_under_it)) {
        // The sub-grants' numbers show whether a sub-grant between `found` and `next` is missing.
        (Some(found), Some(next)) if next.grant == found.grant.saturating_add(1) => {
            Client::Known { fence: next.start, sub_grant: found }
        }
        (Some(found), None) if is_complete => {
            Client::Known { fence: history_until.min(fence), sub_grant: found }
        }
        (None, Some(next)) if next.grant == 1 => Client::Nobody,
        (None, None) if is_complete => Client::Nobody,
        _ => Client::Unrecorded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sub(block_grant: u64, grant: u64, start: u64) -> SubGrant {
        SubGrant { node: 17, start, block_grant, grant, owner: Owner::default(), acquired: 0 }
    }

    fn at(tick: u64, found: Option<SubGrant>, next: Option<SubGrant>) -> Client {
        let owner = Owner::default();
        let record =
            Record { node: 1, grant: 4, start: 100, owner, acquired: 0, previous_until: 0 };
        client_at(tick, (&record, 900), 500, (found, next))
    }

    #[test]
    fn client_is_known_only_if_no_sub_grant_is_missing() {
        let (first, second) = (sub(4, 1, 200), sub(4, 2, 300));
        let known =
            |sub_grant: &SubGrant, fence| Client::Known { sub_grant: sub_grant.clone(), fence };
        let (one, two) = (Some(first.clone()), Some(second.clone()));
        assert_eq!(at(250, one.clone(), two.clone()), known(&first, 300));
        assert_eq!(at(499, two.clone(), None), known(&second, 500));
        assert_eq!(
            at(500, two, None),
            Client::Unrecorded,
            "the history is incomplete at this tick"
        );
        assert_eq!(
            at(250, one.clone(), Some(sub(4, 3, 400))),
            Client::Unrecorded,
            "one is missing"
        );
        assert_eq!(at(250, None, Some(sub(4, 2, 300))), Client::Unrecorded, "the first is missing");
        assert_eq!(at(150, None, one), Client::Nobody);
        assert_eq!(at(499, None, None), Client::Nobody);
        assert_eq!(at(500, None, None), Client::Unrecorded);
        // Sub-grants under other grants of the block are irrelevant to this grant.
        assert_eq!(at(250, Some(sub(3, 9, 90)), Some(sub(5, 1, 901))), Client::Nobody);
        assert_eq!(at(600, Some(sub(3, 9, 90)), Some(sub(5, 1, 901))), Client::Unrecorded);
    }
}
