//! The operations on leases: each is one transaction, and all stores use the same code. This file has their common
//! beginning: the transaction and the namespace.

mod lease;
mod operator;
mod whois;

pub use lease::{
    acquire, acquire_read_at, release, release_block, renew, renew_block, renew_read_at,
};
pub use operator::{Listing, Repair, adopt, describe, fast_forward, init, init_lost, list, repair};
pub use whois::{PastHolder, whois};

use crate::store::{Continuity, Fault, Ledger, Store};
use crate::{Namespace, Refusal, rules};

/// Runs work as one transaction. A refusal is a normal response: writes before it, such as the floor of a restored store,
/// are committed. Any other fault rolls the transaction back.
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
    answer.unwrap_or_else(|| Err(Fault::Rejected("the store did not run the transaction".into())))
}

/// Reads the namespace from the store.
fn read_namespace(ledger: &mut dyn Ledger) -> Result<Namespace, Fault> {
    ledger.namespace()?.ok_or_else(|| Refusal::MissingNamespace.into())
}

/// Reads the namespace. If the store's run has changed, records the change first.
fn open_namespace(ledger: &mut dyn Ledger, now: i64) -> Result<Namespace, Fault> {
    match record_run(ledger, now)? {
        (kept, Continuity::Same) => Ok(kept),
        (restored, _) => {
            let retry_after_ms = rules::wait_to_grant(&restored, now);
            Err(Refusal::Restored { retry_after_ms }.into())
        }
    }
}

/// Reads the namespace, and records a change of the store's run, if there is one.
fn record_run(ledger: &mut dyn Ledger, now: i64) -> Result<(Namespace, Continuity), Fault> {
    let kept = read_namespace(ledger)?;
    match ledger.continuity(kept.run())? {
        Continuity::Same => Ok((kept, Continuity::Same)),
        Continuity::Foreign => Err(Refusal::Foreign.into()),
        Continuity::Restored => {
            let restored = rules::restored(&kept, ledger.incarnation()?, now);
            ledger.put_namespace(&restored)?;
            Ok((restored, Continuity::Restored))
        }
    }
}

/// Writes a new namespace. If the store may have lost a namespace of that name, nothing is granted below the ticks that the
/// lost one can have granted.
fn create_namespace(ledger: &mut dyn Ledger, wanted: &Namespace) -> Result<Namespace, Fault> {
    let incarnation = ledger.incarnation()?;
    let new = match ledger.forgotten()? {
        // The windows of the lost namespace may have been longer than those of the new one.
        Some(lost) => Namespace { incarnation, ..rules::recreated(wanted, &lost.bounds, lost.at) },
        None => Namespace { incarnation, ..wanted.clone() },
    };
    ledger.put_namespace(&new)?;
    Ok(new)
}
