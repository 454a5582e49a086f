//! Transactions for stores that have none: rows are read together with their versions, writes are
//! held back, and one atomic step compares all versions and writes everything.
//!
//! The store's clock is read first, so a decision rests on a time that is a little old. That is
//! sound, because it only makes every bound stricter.

mod json;
mod transaction;
mod versioned_store;

#[cfg(feature = "etcd")]
pub(super) use json::row_of;
#[cfg(feature = "etcd")]
pub(super) use versioned_store::NewRow;
pub(super) use versioned_store::{Head, ReadRow, VersionedStore, WriteSet};

use std::time::Duration;

use super::retry::retry_conflicts;
use crate::random;
use flakeid_protocol::Namespace;
use flakeid_protocol::store::{Fault, Ledger};
use transaction::Transaction;

/// How long all attempts together may take; one more may begin just before. The client's reading of
/// its clock, made before them, must not grow so old that the clock is taken for a wrong one.
const PATIENCE: Duration = Duration::from_secs(3);

/// Among how many candidates a transaction that lost often chooses at most.
const WIDEST: u64 = 256;

/// Runs work until nothing that it read has changed meanwhile.
pub(super) fn transact<S: VersionedStore>(
    store: &mut S,
    shown: &str,
    namespace: &str,
    work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
) -> Result<(), Fault> {
    Namespace::check_name(namespace).map_err(|error| Fault::Rejected(error.to_string()))?;
    retry_conflicts(shown, namespace, PATIENCE, |conflicts| {
        // Clients that lost to each other must choose different nodes: 200 that all want the coldest
        // one would otherwise need 200 rounds.
        let among = 4_u64.saturating_pow(conflicts).min(WIDEST);
        let mut transaction = Transaction::new(store, namespace, random::below(among));
        work(&mut transaction)?;
        transaction.commit()
    })
}
