//! What `flakeid migrate` does to a store.

use std::collections::BTreeSet;

use flakeid_core::{Clock, Error, SystemClock};
use flakeid_protocol::operations::Repair;
use flakeid_protocol::{Namespace, Row, rules};

use super::plan::Plan;
use crate::failure::Failure;
use crate::store::Connection;

/// What the store has now.
pub(super) struct Done {
    pub(super) created: bool,
    /// How long nothing is granted.
    pub(super) wait_ms: u64,
    /// Rows that were granted before they were quarantined.
    pub(super) granted: Vec<Row>,
}

/// Creates the namespace or raises its floor, and quarantines.
pub(super) fn carry_out(
    connection: &mut Connection,
    plan: &Plan,
    in_use: &BTreeSet<u64>,
    fresh: bool,
) -> Result<Done, Failure> {
    let found = connection.find()?;
    if found.is_none() && !fresh && !connection.knows_its_losses() {
        return Err(undecided(&connection.name()));
    }
    let mut wanted = Namespace::new(&connection.namespace, plan.layout);
    // In the same transaction that creates it, so nothing is granted below.
    wanted.floor = plan.floor;
    if let Some(listing) = &found {
        wanted.block_bits = listing.namespace.block_bits;
    }
    let mut kept = connection.init(&wanted, None)?;
    if kept.floor < plan.floor {
        kept = connection.fast_forward(plan.floor)?;
    }
    // What brokers lease is a block of nodes.
    let rows: BTreeSet<u64> = in_use.iter().map(|node| node >> kept.block_bits).collect();
    let mut granted = Vec::new();
    for row in rows {
        let changed = connection.repair(row, Repair::Quarantine)?;
        granted.extend(changed.filter(|row| row.fence > 0));
    }
    let wait_ms = rules::wait_to_grant(&kept, SystemClock.unix_ms());
    Ok(Done { created: found.is_none(), wait_ms, granted })
}

/// A server's namespace that does not exist, and nobody has said whether it ever did.
fn undecided(name: &str) -> Failure {
    let reason = format!("{name} does not exist, and the store cannot tell whether it was lost");
    let hint = "if this store never had a namespace of this name, add --fresh; if it did, or to choose \
                other bounds, create it with `flakeid leases init` and run this again";
    Failure::hinted(Error::invalid_option("--fresh", &reason), hint)
}
