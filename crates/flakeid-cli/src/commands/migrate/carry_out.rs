//! The changes that `flakeid migrate` makes to a store.

use std::collections::BTreeSet;

use flakeid_core::{Clock, Error, SystemClock};
use flakeid_protocol::operations::Repair;
use flakeid_protocol::{Namespace, Row, rules};

use super::plan::Plan;
use crate::failure::Failure;
use crate::store::Connection;

/// The result of a migration.
pub(super) struct Done {
    pub(super) created: bool,
    /// The time, in milliseconds, until the store can grant nodes.
    pub(super) wait_ms: u64,
    /// The rows of the quarantined nodes that the store had granted before the migration.
    pub(super) granted: Vec<Row>,
}

/// Creates the namespace or raises its floor, and quarantines the nodes that the other library
/// still uses.
pub(super) fn carry_out(
    connection: &mut Connection,
    plan: &Plan,
    in_use: &BTreeSet<u64>,
    fresh: bool,
) -> Result<Done, Failure> {
    let found = connection.find()?;
    if found.is_none() && !fresh && !connection.detects_its_losses() {
        return Err(undecided(&connection.name()));
    }
    let mut wanted = Namespace::new(&connection.namespace, plan.layout);
    // The transaction that creates the namespace also sets the floor, so no window can start below
    // the floor.
    wanted.floor = plan.floor;
    if let Some(listing) = &found {
        wanted.block_bits = listing.namespace.block_bits;
    }
    let mut namespace = connection.init(&wanted)?;
    if namespace.floor < plan.floor {
        namespace = connection.fast_forward(plan.floor)?;
    }
    // In a namespace that leases nodes to brokers, each row describes a block of nodes.
    let rows: BTreeSet<u64> = in_use.iter().map(|node| node >> namespace.block_bits).collect();
    let mut granted = Vec::new();
    for row in rows {
        let changed = connection.repair(row, Repair::Quarantine)?;
        granted.extend(changed.filter(|row| row.fence > 0));
    }
    let wait_ms = rules::wait_to_grant(&namespace, SystemClock.unix_ms());
    Ok(Done { created: found.is_none(), wait_ms, granted })
}

/// Returns the error that is reported if a namespace does not exist on a server and the user has not
/// specified `--fresh`.
fn undecided(name: &str) -> Failure {
    let reason = format!("{name} does not exist, and the store cannot detect whether it was lost");
    let hint = "if this store never had a namespace of this name, add --fresh; if it did, or to choose \
                other bounds, create it with `flakeid leases init` and run this command again";
    Failure::hinted(Error::invalid_option("--fresh", &reason), hint)
}
