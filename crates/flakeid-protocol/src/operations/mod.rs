//! The operations on leases and namespaces. Each operation works with every store. Each operation except
//! [`prune`](prune()) is one transaction. This file contains the functions that all operations use to run a transaction
//! and to access a namespace.

mod lease;
mod operator;
mod prune;
mod whois;

#[doc(hidden)]
pub use lease::{
    BlockRenewal, BlockRenewed, MOST_RENEWED, acquire_read_at, release_block, renew_block,
    renew_blocks, renew_read_at,
};
pub use lease::{acquire, release, renew};
pub use operator::{
    Listing, Repair, adopt, create, describe, fast_forward, init, list, repair, touch,
};
pub use prune::{Pruned, prune, prune_older};
pub use whois::{PastHolder, whois};

use crate::store::{Continuity, Fault, Ledger, Store};
use crate::{Namespace, Refusal, rules};

/// Runs `work` as one transaction. If `work` returns a refusal, the transaction still commits the writes of `work`,
/// such as the raised floor of a restored store. Any other fault rolls back the transaction.
fn run<T>(
    store: &mut dyn Store,
    namespace: &str,
    mut work: impl FnMut(&mut dyn Ledger) -> Result<T, Fault>,
) -> Result<T, Fault> {
    Namespace::check_name(namespace).map_err(|error| Fault::Rejected(error.to_string()))?;
    let mut answer = None;
    store.transact(namespace, &mut |ledger| {
        answer = None;
        let outcome = work(ledger);
        match outcome {
            Ok(_) | Err(Fault::Refused(_)) => answer = Some(outcome),
            Err(fault) => return Err(fault),
        }
        Ok(())
    })?;
    answer.unwrap_or_else(|| Err(Fault::not_run()))
}

/// Reads the namespace. Returns [`Refusal::MissingNamespace`] if the namespace does not exist.
fn read_namespace(ledger: &mut dyn Ledger) -> Result<Namespace, Fault> {
    ledger.namespace()?.ok_or_else(|| Refusal::MissingNamespace.into())
}

/// Reads the namespace. If the store's run has changed, records the change and returns [`Refusal::Restored`].
fn open_namespace(ledger: &mut dyn Ledger, now: i64) -> Result<Namespace, Fault> {
    match record_run(ledger, now)? {
        (kept, Continuity::Same) => Ok(kept),
        (restored, _) => {
            let retry_after_ms = rules::wait_to_grant(&restored, now);
            Err(Refusal::Restored { retry_after_ms }.into())
        }
    }
}

/// Reads the namespace and, if the store's run has changed, records the change.
fn record_run(ledger: &mut dyn Ledger, now: i64) -> Result<(Namespace, Continuity), Fault> {
    let kept = read_namespace(ledger)?;
    match ledger.continuity(kept.run())? {
        Continuity::Same => Ok((kept, Continuity::Same)),
        Continuity::Foreign(why) => Err(Refusal::Foreign(why).into()),
        Continuity::Restored => {
            let restored = rules::restored(&kept, ledger.incarnation()?, now);
            ledger.put_namespace(&restored)?;
            Ok((restored, Continuity::Restored))
        }
    }
}

/// Writes a new namespace. If the store may have lost a namespace with this name, all grants start above the ticks
/// that could have been granted in the lost namespace.
fn create_namespace(ledger: &mut dyn Ledger, wanted: &Namespace) -> Result<Namespace, Fault> {
    let incarnation = ledger.incarnation()?;
    let new = match ledger.forgotten()? {
        // The bounds of the lost namespace also apply, because its windows may have been longer.
        Some(lost) => Namespace { incarnation, ..rules::recreated(wanted, &lost.bounds, lost.at) },
        None => Namespace { incarnation, ..wanted.clone() },
    };
    ledger.put_namespace(&new)?;
    Ok(new)
}
