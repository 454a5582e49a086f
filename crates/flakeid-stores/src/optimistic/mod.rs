//! Optimistic transactions, for stores that do not support transactions themselves. A transaction reads rows together
//! with their versions, and delays its writes. The commit then compares all versions and writes all changes in one
//! atomic step.
//!
//! The store's clock is read first, so that decisions use a slightly earlier time. An earlier time is safe, because it
//! only makes every bound stricter.

mod text;
mod transaction;
mod versioned_store;

pub(super) use text::row_of;
pub(super) use versioned_store::NewRow;
pub(super) use versioned_store::{Head, ReadRow, VersionedStore, WriteSet};

use std::time::Duration;

use super::retry::retry_conflicts;
use crate::random;
use flakeid_protocol::Namespace;
use flakeid_protocol::store::{Fault, Ledger};
use transaction::Transaction;

/// The total time limit for all attempts of a transaction: no attempt begins after this time. The client reads its own
/// clock only once, before the first attempt. If that reading became too old, the store would conclude that the
/// client's clock is wrong.
const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(3);

/// The maximum number of candidate nodes from which a transaction chooses after many conflicts.
const WIDEST: u64 = 256;

/// Runs `work` and commits its changes. If another client has meanwhile changed the data that `work` read, runs `work`
/// again.
pub(super) fn transact<S: VersionedStore>(
    store: &mut S,
    shown: &str,
    namespace: &str,
    work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
) -> Result<(), Fault> {
    Namespace::check_name(namespace).map_err(|error| Fault::Rejected(error.to_string()))?;
    retry_conflicts(shown, namespace, TRANSACTION_TIMEOUT, |conflicts| {
        // Clients that had a conflict must choose different nodes. If 200 clients all chose the coldest node, they
        // would need 200 rounds of attempts.
        let among = 4_u64.saturating_pow(conflicts).min(WIDEST);
        let mut transaction = Transaction::new(store, namespace, random::below(among));
        work(&mut transaction)?;
        transaction.commit()
    })
}
