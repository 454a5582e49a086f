//! `flakeid leases release` and `flakeid leases quarantine`, which change the row of one node.

use flakeid_core::Error;
use flakeid_protocol::Row;
use flakeid_protocol::operations::{Listing, Repair};

use super::args::{QuarantineArgs, ReleaseArgs};
use super::json::LeaseStatus;
use crate::args::Confirm;
use crate::commands::sql::DATABASE;
use crate::failure::Outcome;
use crate::format::{duration, number, sanitize};
use crate::store::StoreArgs;
use crate::terminal;

pub(super) fn release(args: &ReleaseArgs) -> Outcome {
    let kind = if args.now { Repair::ReleaseNow } else { Repair::Release };
    repair(&args.node, kind, None, &args.store, &args.confirm)
}

pub(super) fn quarantine(args: &QuarantineArgs) -> Outcome {
    let kind = if args.lift { Repair::Lift } else { Repair::Quarantine };
    repair(&args.node, kind, args.name.as_deref(), &args.store, &args.confirm)
}

/// Changes the row of a node. `database` is the name of the database whose node the user wants to put back into use.
fn repair(
    node: &str,
    kind: Repair,
    database: Option<&str>,
    store: &StoreArgs,
    confirm: &Confirm,
) -> Outcome {
    let mut connection = store.connect()?;
    let listing = connection.list()?;
    let node = number::parse("node", node, 0, listing.namespace.max_row())?;
    let row = listing.rows.iter().find(|row| row.node == node);
    let subject = format!("node {node} in {}", connection.name());
    let status = row.map(|row| LeaseStatus::new(row, listing.now));
    let left = row.map_or(0, |row| row.expires.saturating_sub(listing.now).max(0).unsigned_abs());
    let done = match (kind, status) {
        (Repair::Release, Some(LeaseStatus::Held)) if row.is_some_and(|row| !row.fixed) => {
            &format!("it can be leased in {}", duration::shown(left))
        }
        (Repair::Release | Repair::ReleaseNow, Some(LeaseStatus::Held | LeaseStatus::Expired)) => {
            "it can be leased now"
        }
        (Repair::ReleaseNow, Some(LeaseStatus::Free)) if left > 0 => "it can be leased now",
        (Repair::Quarantine, status) if status != Some(LeaseStatus::Quarantined) => {
            "it is now quarantined"
        }
        (Repair::Lift, Some(LeaseStatus::Quarantined)) => "it can be leased again",
        (_, status) => {
            let status = match status {
                Some(status) => format!("is {}", status.name()),
                None => "was never used".to_owned(),
            };
            return Ok(terminal::show(&format!("{subject} {status}: nothing to do\n"))?);
        }
    };
    let owner = row.and_then(|row| row.owner.name.strip_prefix(DATABASE));
    if kind == Repair::Lift && owner != database {
        return Err(Error::invalid_option("--name", &of_another_database(&subject, owner)).into());
    }
    let holder = holder(&listing, row);
    let effect = match kind {
        Repair::Release => {
            "After the lease has expired, another process can lease the node from the fence onward."
        }
        Repair::ReleaseNow => {
            "Another process can lease the node at once, starting at its fence. If the store is then \
             restored to an earlier state, both processes can generate the same IDs."
        }
        Repair::Quarantine => "No process can lease the node until its quarantine is lifted.",
        Repair::Lift => {
            "Once every earlier lease has ended, another process can lease the node from the fence onward."
        }
    };
    let verb = match kind {
        Repair::Release | Repair::ReleaseNow => "releases",
        Repair::Quarantine => "quarantines",
        Repair::Lift => "lifts the quarantine of",
    };
    confirm.ask(&format!("this {verb} {subject}. {holder}{effect}"))?;
    // The change no longer applies if another process has changed the node's status in the
    // meantime.
    if connection.repair(node, kind)?.is_none() {
        return Ok(terminal::show(&format!(
            "{subject} was modified by another process in the meantime; this command changed nothing\n"
        ))?);
    }
    Ok(terminal::show(&format!("{subject}: {done}\n"))?)
}

/// Returns the reason why the quarantine of a node is not lifted. `owner` is the database whose functions may generate
/// IDs on the node.
fn of_another_database(subject: &str, owner: Option<&str>) -> String {
    let Some(owner) = owner else { return format!("{subject} belongs to no database") };
    let owner = sanitize(owner);
    format!(
        "{subject} belongs to the SQL functions of the database {owner}, which may still generate IDs: drop the \
         functions, wait until the clocks of all hosts have passed the database's last ID, and then add --name {owner}"
    )
}

/// Describes the process that holds the node, and the effect of the change on that process.
fn holder(listing: &Listing, row: Option<&Row>) -> String {
    let Some(row) = row else { return String::new() };
    let now = listing.now;
    let status = LeaseStatus::new(row, now);
    if !matches!(status, LeaseStatus::Held | LeaseStatus::Expired) {
        return String::new();
    }
    let (name, host) = (sanitize(&row.owner.name), sanitize(&row.owner.host));
    let who = if name.is_empty() { "process".to_owned() } else { format!("{name}, process") };
    let fence = listing.namespace.layout.unix_ms_at(row.fence);
    let end = if fence > now {
        format!(
            "may continue to generate IDs for up to {} (until the end of its window), and then \
             loses the node",
            duration::shown(fence.abs_diff(now))
        )
    } else {
        format!("cannot renew its window, which ended {}", duration::relative(fence, now))
    };
    let renewed = duration::relative(row.renewed.min(now), now);
    format!("Its holder ({who} {} on {host}, last renewed {renewed}) {end}. ", row.owner.pid)
}
