//! The grants that brokers make to their clients, as the store's history keeps them: what of them a
//! broker hands over, and whose an ID was by what is kept.

use super::{Namespace, Owner, Record, Row, Token};

/// One grant that a broker made: a node of its block, in a window inside its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SubGrant {
    /// The node.
    pub node: u64,
    /// Its first tick.
    pub start: u64,
    /// Which of the block's grants it was made under. The store fills this in.
    pub block_grant: u64,
    /// Which of the node's grants under that one, counted from 1.
    pub grant: u64,
    /// Who got it.
    pub owner: Owner,
    /// When, in Unix milliseconds of the broker's clock.
    pub acquired: i64,
}

/// What a broker hands over to the store's history, together with a renewal or a release of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Handover {
    /// Grants that the history lacks.
    pub sub_grants: Vec<SubGrant>,
    /// Up to this tick the history is complete with them and those that the store has confirmed. The broker
    /// grants nothing any more that starts below. 0 if it does not know what the store has.
    pub until: u64,
}

/// Why a sub-grant is not taken into the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOfBlock {
    /// Its node.
    pub node: u64,
    /// Its first tick.
    pub start: u64,
}

/// What is to be written of a handover, given a block's row as it was and as a renewal or a release
/// leaves it. Only the block's holder gets that far, by its token, `held`. A renewal that was applied
/// before has handed its grants over then.
///
/// Grants are handed over together with a new token. So if the row has another one than the holder, the
/// store was put back and may lack some: nothing is complete then, and the broker hands all of them over
/// again.
///
/// # Errors
/// [`NotOfBlock`] for a grant outside the block or its window (I11, I12); nothing is to be written then.
pub fn hand_over(
    namespace: &Namespace,
    before: &Row,
    after: Row,
    held: Token,
    handover: &Handover,
) -> Result<(Row, Vec<SubGrant>), NotOfBlock> {
    if !namespace.keeps_history || after.token == before.token {
        return Ok((after, Vec::new()));
    }
    // A store that was put back may have a lower fence than it confirmed to the broker.
    let fence = before.fence.max(after.fence);
    let of_block = |sub: &SubGrant| {
        let is_inside =
            namespace.row_of(sub.node) == before.node && (before.start..fence).contains(&sub.start);
        let stamped = SubGrant { block_grant: before.grant, ..sub.clone() };
        let (node, start) = (sub.node, sub.start);
        is_inside.then_some(stamped).ok_or(NotOfBlock { node, start })
    };
    let sub_grants: Vec<_> = handover.sub_grants.iter().map(of_block).collect::<Result<_, _>>()?;
    let history_until = if before.token == Some(held) {
        before.history_until.max(handover.until.min(after.fence))
    } else {
        0
    };
    Ok((Row { history_until, ..after }, sub_grants))
}

/// The client of a broker that had a node at some tick.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// Nobody else had the node from the grant's first tick to `fence`, exclusive. The client's own
    /// window may have ended before.
    Known {
        /// What was granted to it.
        sub_grant: SubGrant,
        /// The first tick that may be another's, or of which the history does not tell.
        fence: u64,
    },
    /// The broker had granted the node to nobody.
    Nobody,
    /// The broker's grants of that time are not in the history.
    Unrecorded,
}

/// Who had a node at a tick, of which a broker's grant of the block is known: `record`, which ends at
/// `fence` and whose sub-grants the history has up to `history_until`. `found` is the node's last sub-grant
/// that starts at or before the tick, and `next` the one after it.
#[must_use]
pub fn client_at(
    tick: u64,
    (record, fence): (&Record, u64),
    history_until: u64,
    (found, next): (Option<SubGrant>, Option<SubGrant>),
) -> Client {
    let is_under_it = |sub: &SubGrant| sub.block_grant == record.grant;
    let is_complete = tick < history_until;
    match (found.filter(is_under_it), next.filter(is_under_it)) {
        // The numbers show whether one between them is missing.
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
    fn a_client_is_named_where_no_other_can_have_been() {
        let (first, second) = (sub(4, 1, 200), sub(4, 2, 300));
        let known =
            |sub_grant: &SubGrant, fence| Client::Known { sub_grant: sub_grant.clone(), fence };
        let (one, two) = (Some(first.clone()), Some(second.clone()));
        assert_eq!(at(250, one.clone(), two.clone()), known(&first, 300));
        assert_eq!(at(499, two.clone(), None), known(&second, 500));
        assert_eq!(at(500, two, None), Client::Unrecorded, "beyond what was handed over");
        assert_eq!(
            at(250, one.clone(), Some(sub(4, 3, 400))),
            Client::Unrecorded,
            "one is missing"
        );
        assert_eq!(at(250, None, Some(sub(4, 2, 300))), Client::Unrecorded, "the first is missing");
        assert_eq!(at(150, None, one), Client::Nobody);
        assert_eq!(at(499, None, None), Client::Nobody);
        assert_eq!(at(500, None, None), Client::Unrecorded);
        // The node's grants under other grants of the block say nothing about this one.
        assert_eq!(at(250, Some(sub(3, 9, 90)), Some(sub(5, 1, 901))), Client::Nobody);
        assert_eq!(at(600, Some(sub(3, 9, 90)), Some(sub(5, 1, 901))), Client::Unrecorded);
    }
}
