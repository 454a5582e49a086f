//! Finds the holder of a node at a tick in the history.

use super::{read_namespace, run};
use crate::store::{Fault, Store};
use crate::sub_grants::client_at;
use crate::{Client, Record};

/// The process that held a node at a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastHolder {
    /// The grant; in a namespace of blocks, the grant of the node's block to the broker.
    pub record: Record,
    /// The first tick that the grant does not cover.
    pub fence: u64,
    /// The client to which the broker had granted the node, in a namespace of blocks.
    pub client: Option<Client>,
}

/// Returns the holder of a node at a tick; `None` if there was none, or if it is not in the history. Windows of one node are
/// disjoint, so the result is exact.
///
/// # Errors
/// [`Refusal::MissingNamespace`](crate::Refusal::MissingNamespace); the store's fault.
pub fn whois(
    store: &mut dyn Store,
    namespace: &str,
    node: u64,
    tick: u64,
) -> Result<Option<PastHolder>, Fault> {
    run(store, namespace, |ledger| {
        let kept = read_namespace(ledger)?;
        let number = kept.row_of(node);
        let Some((record, next)) = ledger.record_at(number, tick)? else { return Ok(None) };
        let (fence, history_until) = if let Some(next) = next {
            (next.start, next.previous_until)
        } else {
            let row = ledger.row(number)?;
            row.map_or((record.start, 0), |row| (row.fence, row.history_until))
        };
        if tick >= fence {
            return Ok(None);
        }
        let client = if kept.block_bits > 0 {
            let around = ledger.sub_grants_around(node, tick)?;
            Some(client_at(tick, (&record, fence), history_until, around))
        } else {
            None
        };
        Ok(Some(PastHolder { record, fence, client }))
    })
}
