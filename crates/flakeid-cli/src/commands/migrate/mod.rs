//! `flakeid migrate`: creates a namespace that continues after the IDs from another library.

mod carry_out;
mod libraries;
mod nodes;
mod plan;
mod report;

use clap::Args;
use flakeid_core::{Error, Id};

use libraries::Origin;
use plan::Plan;
use report::Report;

use crate::args::layout_arg::{self, Presets};
use crate::args::{Confirm, id};
use crate::failure::Outcome;
use crate::store::StoreArgs;

/// Creates a namespace that continues after the IDs from another library
///
/// Specify the largest existing IDs with --last-id. The command creates a namespace with the layout
/// of these IDs, or with the layout that --layout specifies. No window of the namespace starts
/// before the first tick after the existing IDs. Every ID that flakeid generates is therefore
/// larger than all existing IDs.
///
/// Stop the other library first. If you cannot stop all of its generators at once, use --in-use to
/// specify the nodes that the library still uses. These nodes are quarantined until you run
/// `flakeid leases quarantine NODE --lift`.
#[derive(Args)]
#[command(after_help = "`flakeid migrate --help` lists the libraries.")]
#[command(after_long_help = after_help())]
pub(crate) struct MigrateArgs {
    /// Library that generated the existing IDs, or the layout of these IDs
    #[arg(long, value_name = "LIBRARY|L", allow_hyphen_values = true)]
    from: String,

    /// Largest existing ID; repeat the option for each table
    #[arg(long, value_name = "ID", required = true, allow_hyphen_values = true)]
    last_id: Vec<String>,

    /// Nodes that the other library still uses, such as 7 or 3,5-9, or 1/7 for datacenter 1 and
    /// worker 7
    #[arg(long, value_name = "NODES", allow_hyphen_values = true)]
    in_use: Vec<String>,

    #[command(flatten)]
    store: StoreArgs,

    /// Layout of the namespace [default: the layout that --from specifies]
    ///
    /// No window starts before the first tick whose IDs are all numerically larger than the
    /// existing IDs, so that new rows of a table sort after existing rows.
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    #[arg(value_parser = Presets, hide_possible_values = true)]
    layout: Option<String>,

    /// Declare that this server has never had a namespace with this name (see `flakeid leases init
    /// --help`)
    #[arg(long)]
    fresh: bool,

    /// Show the planned changes without making them
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

// The tests run every example line that begins with `flakeid`.
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
        let reason = "the namespace gets another layout, so IDs that the other library generates from now on can \
                      equal IDs of flakeid; stop that library first, or keep its layout";
        return Err(Error::invalid_option("--in-use, --layout", reason).into());
    }
    let namespace = args.store.namespace()?;
    let report = Report { origin: &origin, plan: &plan, in_use: &in_use, namespace: &namespace };
    if args.dry_run {
        return report.show(args.json, None);
    }
    args.confirm.ask(&report.question())?;
    let mut connection = args.store.connect_or_create()?;
    let done = carry_out::carry_out(&mut connection, &plan, &in_use, args.fresh)?;
    report.show(args.json, Some((&connection.name(), &done)))
}
