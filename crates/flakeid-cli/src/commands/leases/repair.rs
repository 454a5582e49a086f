//! `flakeid leases release` and `flakeid leases quarantine`

use flakeid_lease::protocol::Row;
use flakeid_lease::store::operations::{Listing, Repair};

use super::args::{QuarantineArgs, ReleaseArgs};
use super::json::Standing;
use crate::args::confirm::Consent;
use crate::failure::Outcome;
use crate::format::duration;
use crate::format::number;
use crate::store::StoreArgs;
use crate::terminal::output::{self, sanitize};

pub(super) fn release(args: &ReleaseArgs) -> Outcome {
    repair(&args.node, Repair::Release, &args.store, &args.consent)
}

pub(super) fn quarantine(args: &QuarantineArgs) -> Outcome {
    let kind = if args.lift { Repair::Lift } else { Repair::Quarantine };
    repair(&args.node, kind, &args.store, &args.consent)
}

fn repair(node: &str, kind: Repair, store: &StoreArgs, consent: &Consent) -> Outcome {
    let mut connection = store.connect()?;
    let listing = connection.list()?;
    let node = number::parse("node", node, 0, listing.namespace.layout.max_node())?;
    let row = listing.rows.iter().find(|row| row.node == node);
    let subject = format!("node {node} in {}", connection.name());
    let standing = row.map(|row| Standing::of(row, listing.now));
    let done = match (kind, standing) {
        (Repair::Release, Some(Standing::Held | Standing::Expired)) => "it is free now",
        (Repair::Quarantine, standing) if standing != Some(Standing::Quarantined) => {
            "it is quarantined now"
        }
        (Repair::Lift, Some(Standing::Quarantined)) => "it is in use again",
        (_, standing) => {
            let standing = standing.map_or("never used", Standing::name);
            return Ok(output::show(&format!("{subject} is {standing}: nothing to do\n"))?);
        }
    };
    let holder = holder(&listing, row);
    let effect = match kind {
        Repair::Release => "The next process that asks may have the node, from its fence on.",
        Repair::Quarantine => "Nobody gets the node until its quarantine is lifted.",
        Repair::Lift => "The next process that asks may have it, from its fence on.",
    };
    let verb = match kind {
        Repair::Release => "releases",
        Repair::Quarantine => "quarantines",
        Repair::Lift => "lifts the quarantine of",
    };
    consent.obtain(&format!("this {verb} {subject}. {holder}{effect}"))?;
    // Somebody may have been faster; then the store has nothing to change.
    if connection.repair(node, kind)?.is_none() {
        return Ok(output::show(&format!("{subject} has changed meanwhile: nothing to do\n"))?);
    }
    Ok(output::show(&format!("{subject}: {done}\n"))?)
}

/// Who has the node, and what becomes of its holder.
fn holder(listing: &Listing, row: Option<&Row>) -> String {
    let Some(row) = row else { return String::new() };
    let now = listing.now;
    let standing = Standing::of(row, now);
    if !matches!(standing, Standing::Held | Standing::Expired) {
        return String::new();
    }
    let (name, host) = (sanitize(&row.owner.name), sanitize(&row.owner.host));
    let who = if name.is_empty() { "process".to_owned() } else { format!("{name}, process") };
    let fence = listing.namespace.layout.unix_ms_at(row.fence);
    let end = if fence > now {
        format!(
            "may make IDs in its window for {} more and then loses the node",
            duration::shown(fence.abs_diff(now))
        )
    } else {
        format!("has a window that ended {} and cannot renew it", duration::relative(fence, now))
    };
    let renewed = duration::relative(row.renewed.min(now), now);
    format!("Its holder ({who} {} on {host}, last heard of {renewed}) {end}. ", row.owner.pid)
}
