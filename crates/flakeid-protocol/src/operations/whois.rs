//! Looks up the holder of a node at a tick in the history.

use super::{read_namespace, run};
use crate::store::{Fault, Store};
use crate::sub_grants::client_at;
use crate::{Client, Record};

/// The process that held a node at a tick.
///
/// ```
/// use flakeid_core::Layout;
/// use flakeid_protocol::operations::{self, PastHolder};
/// use flakeid_protocol::{MemoryStore, Namespace};
///
/// let mut store = MemoryStore::new();
/// operations::init(&mut store, &Namespace::new("orders", Layout::TWITTER))?;
/// match operations::whois(&mut store, "orders", 7, 1_000)? {
///     Some(PastHolder { record, fence, .. }) => println!("{:?} until {fence}", record.owner),
///     None => println!("the node had no holder"),
/// }
/// # Ok::<(), flakeid_protocol::store::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastHolder {
    /// The record of the grant by the store. In a namespace of blocks, the store granted the node's block to a
    /// broker.
    pub record: Record,
    /// The end of the grant: the first tick that the grant does not cover.
    pub fence: u64,
    /// The client to which a broker granted the node, or `None` in a namespace of single nodes.
    pub client: Option<Client>,
}

/// Returns the holder of a node at a tick. Returns `None` if the node had no holder or if the grant is missing from
/// the history, for example because [`prune`](super::prune) has removed the grant. The result is unambiguous, because
/// the windows of a node never overlap.
///
/// # Errors
/// [`Refusal::MissingNamespace`](crate::Refusal::MissingNamespace) if the namespace does not exist; another [`Fault`]
/// if the store fails.
pub fn whois(
    store: &mut dyn Store,
    namespace: &str,
    node: u64,
    tick: u64,
) -> Result<Option<PastHolder>, Fault> {
    run(store, namespace, |ledger| {
        let kept = read_namespace(ledger)?;
        let number = kept.row_of(node);
        // The history of a row grows only when the row changes. The row is read first, so that the transaction fails if
        // the row changes before the whole history has been read.
        let row = ledger.row(number)?;
        // `prune` removes a record before its sub-grants, so the sub-grants are read before the record. Otherwise,
        // `prune` could remove the sub-grants after the record was read.
        let around = match kept.block_bits {
            0 => None,
            _ => Some(ledger.sub_grants_around(node, tick)?),
        };
        let (Some(record), next) = ledger.records_around(number, tick)? else { return Ok(None) };
        let (fence, history_until) = match (next, row) {
            (Some(next), _) => (next.start, next.previous_until),
            (None, Some(row)) => (row.fence, row.history_until),
            (None, None) => (record.start, 0),
        };
        if tick >= fence {
            return Ok(None);
        }
        let client = around.map(|around| client_at(tick, (&record, fence), history_until, around));
        Ok(Some(PastHolder { record, fence, client }))
    })
}
