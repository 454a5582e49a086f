//! `flakeid migrate`: makes the namespace of those who used another library until now.

mod libraries;
mod nodes;
mod plan;

use std::collections::BTreeSet;

use clap::Args;
use flakeid_core::{Clock, Error, Id, SystemClock};
use flakeid_lease::protocol::{Namespace, Row, rules};
use flakeid_lease::store::operations::Repair;
use flakeid_server::layout_name;
use serde::Serialize;

use libraries::Origin;
use plan::{LastId, Plan};

use crate::args::layout_arg::{self, Presets};
use crate::args::{Confirm, id};
use crate::failure::{Failure, Outcome};
use crate::format::{duration, sanitize};
use crate::store::{Connection, StoreArgs};
use crate::terminal;

/// Makes a namespace that goes on where another library stopped
///
/// It reads the largest IDs that there are, creates a namespace of the same layout (or of another,
/// --layout), and lets no window start before the tick after them. So every ID of flakeid is larger
/// than all those, and none is the same.
///
/// Stop the other library first. Where that cannot be done at once, --in-use names the nodes that it
/// goes on using: these are quarantined, until `flakeid leases quarantine NODE --lift`.
#[derive(Args)]
#[command(after_help = "`flakeid migrate --help` lists the libraries.")]
#[command(after_long_help = after_help())]
pub(crate) struct MigrateArgs {
    /// Library that made the IDs until now, or their layout
    #[arg(long, value_name = "LIBRARY|L", allow_hyphen_values = true)]
    from: String,

    /// The largest ID that there is; give it once for each table
    #[arg(long, value_name = "ID", required = true, allow_hyphen_values = true)]
    last_id: Vec<String>,

    /// Nodes that the other library goes on using: 7, 3,5-9 or datacenter/worker
    #[arg(long, value_name = "NODES", allow_hyphen_values = true)]
    in_use: Vec<String>,

    #[command(flatten)]
    store: StoreArgs,

    /// Layout of the namespace, if it is to be another one [default: that of --from]
    ///
    /// No window then starts before the first tick whose IDs are all larger as numbers than the last
    /// ones, so that tables stay in order.
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    #[arg(value_parser = Presets, hide_possible_values = true)]
    layout: Option<String>,

    /// A server never had a namespace of this name (see `flakeid leases init --help`)
    #[arg(long)]
    fresh: bool,

    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    confirm: Confirm,

    /// Write a JSON object
    #[arg(long)]
    json: bool,
}

fn after_help() -> String {
    format!("{EXAMPLES}\n\n{}", libraries::table().trim_end())
}

// Every line of this that begins with `flakeid` is run by the tests.
const EXAMPLES: &str = "\
Examples:
  flakeid migrate --from yitter --last-id 873739216556229 --store sqlite://moved.db --yes
  flakeid migrate --from hutool --last-id 2124904305097330688 --in-use 1/7,12-15 --dry-run
  flakeid migrate --from t41.n10.s12@2020-01-01T00:00:00Z/1ms --last-id 910499571847892992 --dry-run";

pub(crate) fn run(args: &MigrateArgs) -> Outcome {
    let origin = Origin::parse(&args.from)?;
    let ids = args.last_id.iter().map(|text| id::parse_any(text, flakeid_core::TextForm::Decimal));
    let ids = ids.collect::<Result<Vec<Id>, _>>()?;
    let layout = args.layout.as_deref().map(layout_arg::parse).transpose()?;
    let plan = Plan::new(&origin, &ids, layout)?;
    let in_use = nodes::read(&args.in_use, &origin.layout)?;
    if !in_use.is_empty() && !plan.layout.is_same_space(&origin.layout) {
        let reason = "the new layout is another one, so IDs that the other library makes from now on can \
                      be the same as ours; stop it first, or keep its layout";
        return Err(Error::invalid_option("--in-use, --layout", reason).into());
    }
    let namespace = args.store.namespace()?;
    let report = Report { origin: &origin, plan: &plan, in_use: &in_use, namespace: &namespace };
    if args.dry_run {
        return report.show(args.json, None);
    }
    args.confirm.ask(&format!(
        "{}. This makes the namespace {namespace}, lets none of its windows start before {}{}.",
        report.of_last_ids().join("; "),
        plan.floor_time(),
        match in_use.is_empty() {
            true => String::new(),
            false => format!(", and quarantines the nodes {}", nodes::shown(&in_use)),
        }
    ))?;
    let mut connection = args.store.connect_or_make()?;
    let done = carry_out(&mut connection, &plan, &in_use, args.fresh)?;
    report.show(args.json, Some((&connection.name(), &done)))
}

/// What the store has now.
struct Done {
    created: bool,
    /// How long nothing is granted.
    wait_ms: u64,
    /// Rows that were granted before they were quarantined.
    granted: Vec<Row>,
}

fn carry_out(
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

struct Report<'a> {
    origin: &'a Origin,
    plan: &'a Plan,
    in_use: &'a BTreeSet<u64>,
    namespace: &'a str,
}

#[derive(Serialize)]
struct ReportJson<'a> {
    namespace: &'a str,
    layout: String,
    last: Vec<LastJson>,
    /// No window starts before.
    floor: String,
    quarantined: &'a BTreeSet<u64>,
    /// Not there if nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_ms: Option<u64>,
}

#[derive(Serialize)]
struct LastJson {
    id: String,
    time: String,
    node: u64,
}

impl Report<'_> {
    /// `done`: the namespace's full name, and what was done there.
    fn show(&self, json: bool, done: Option<(&str, &Done)>) -> Outcome {
        for row in done.iter().flat_map(|(_, done)| &done.granted) {
            terminal::warning(&format!(
                "node {} was leased here before{}: if the other library used it then, IDs may have been \
                 generated twice",
                row.node,
                match row.owner.name.as_str() {
                    "" => String::new(),
                    name => format!(" (last by {})", sanitize(name)),
                }
            ));
        }
        if json || !terminal::is_terminal() {
            return Ok(terminal::show_json([self.json(done.map(|(_, done)| done))])?);
        }
        let mut text = self.of_last_ids().join("\n");
        text.push('\n');
        let floor = self.plan.floor_time();
        let layout = layout_name(&self.plan.layout);
        text.push_str(&match done {
            None => format!(
                "the namespace {} would have the layout {layout}, and no window would start before {floor}\n",
                self.namespace
            ),
            Some((name, done)) => format!(
                "{name}: {}\nlayout {layout}, no window starts before {floor}\n{}",
                if done.created { "created" } else { "exists already" },
                match done.wait_ms {
                    0 => String::new(),
                    ms => format!("nothing is granted for another {}\n", duration::shown(ms)),
                }
            ),
        });
        if !self.in_use.is_empty() {
            let nodes = nodes::shown(self.in_use);
            let are = if done.is_some() { "quarantined" } else { "would be quarantined" };
            text.push_str(&format!("{are}: {nodes}\n"));
        }
        Ok(terminal::show(&text)?)
    }

    /// A line for each, so that a wrong layout is seen.
    fn of_last_ids(&self) -> Vec<String> {
        let line = |LastId { id, parts, time }: &LastId| {
            let ago = duration::relative(parts.unix_ms, SystemClock.unix_ms());
            format!("last ID {id}: {time} ({ago}), {}", self.origin.node(parts))
        };
        self.plan.last.iter().map(line).collect()
    }

    fn json(&self, done: Option<&Done>) -> ReportJson<'_> {
        let last = self.plan.last.iter().map(|last| LastJson {
            id: last.id.to_string(),
            time: last.time.to_string(),
            node: last.parts.node,
        });
        ReportJson {
            namespace: self.namespace,
            layout: layout_name(&self.plan.layout),
            last: last.collect(),
            floor: self.plan.floor_time().to_string(),
            quarantined: self.in_use,
            created: done.map(|done| done.created),
            wait_ms: done.map(|done| done.wait_ms),
        }
    }
}
