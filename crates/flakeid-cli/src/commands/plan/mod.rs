//! `flakeid layout plan`: proposes layouts that meet the given requirements, and shows the nodes
//! and the load of a growing fleet.

mod args;
mod brokers;
mod documents;
mod fleet;
mod growth;
mod limit;
mod proposal;
mod requirements;

use std::fmt::Write as _;

use anstyle::Style;
use flakeid_core::{Clock, Error, Layout, SystemClock};
use serde::Serialize;

use self::fleet::Fleet;
use self::growth::Growth;
use self::proposal::{Proposal, alternatives, presets_that_end_early, proposals};
use self::requirements::Requirements;
use crate::failure::{Failure, Outcome};
use crate::format::duration;
use crate::format::instant::{self, date, exact};
use crate::format::number::{grouped, nodes, rate};
use crate::format::table::{Align, Table};
use crate::format::{BOLD, DIM};
use crate::terminal;

pub(crate) use self::args::PlanArgs;

pub(crate) fn run(args: &PlanArgs) -> Outcome {
    let fleet = Fleet::from_args(args)?;
    let required = Requirements::from_args(args, fleet.as_ref(), SystemClock.unix_ms())?;
    let proposals = proposals(&required);
    if proposals.is_empty() {
        return Err(refusal(&required, fleet.as_ref()));
    }
    let growth = fleet.map(|fleet| Growth::steps(&required, fleet)).unwrap_or_default();
    if args.json {
        let row = |proposal| Row::new(&required, fleet.as_ref(), proposal);
        terminal::show_json(proposals.iter().map(row))?;
        return Ok(terminal::show_json(&growth)?);
    }
    let mut text = render(&required, fleet.as_ref(), &proposals);
    if let Some(fleet) = &fleet {
        let legend = growth::legend(fleet);
        let _ = write!(text, "\n{}\n{DIM}{legend}{DIM:#}\n", growth::table(&growth));
    }
    Ok(terminal::show(&text)?)
}

#[derive(Serialize)]
struct Row<'a> {
    proposal: &'a str,
    descriptor: String,
    bits: u32,
    unit_ms: u64,
    longest_wait_ms: u64,
    nodes: u64,
    ids_per_second: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fleet_ids_per_second: Option<f64>,
    use_percent: f64,
    horizon: String,
    signed_safe: bool,
    js_safe: bool,
}

impl<'a> Row<'a> {
    fn new(required: &Requirements, fleet: Option<&Fleet>, proposal: &'a Proposal) -> Self {
        let layout = &proposal.layout;
        Self {
            proposal: &proposal.name,
            descriptor: layout.to_string(),
            bits: layout.width(),
            unit_ms: layout.unit_ms(),
            longest_wait_ms: layout.unit_ms(),
            nodes: nodes(layout),
            ids_per_second: layout.ids_per_second(),
            fleet_ids_per_second: fleet.map(|fleet| fleet_rate(fleet, layout)),
            use_percent: required.use_percent(layout),
            horizon: exact(layout.horizon()),
            signed_safe: is_signed_safe(required, layout),
            js_safe: layout.fits_f64(),
        }
    }
}

/// Returns the largest number of IDs per second that all processes together can generate.
fn fleet_rate(fleet: &Fleet, layout: &Layout) -> f64 {
    fleet.processes as f64 * layout.ids_per_second()
}

/// Whether IDs stay positive in a signed 64-bit column for as long as the layout must last.
fn is_signed_safe(required: &Requirements, layout: &Layout) -> bool {
    layout.fits_i64_until() >= required.until
}

const LEGEND: &str = "\
tick  IDs of different nodes are in order to within one tick; when a tick is full,
      the next ID waits for at most one tick, as does the first ID of a process
used  the share of a node's IDs/s that its busiest second uses
i64   positive in a signed 64-bit column for as long as the layout must last
JS    exact as a JavaScript number (at most 53 bits)";

fn render(required: &Requirements, fleet: Option<&Fleet>, proposals: &[Proposal]) -> String {
    let mut table = Table::new(&[
        ("proposal", Align::Left),
        ("bits", Align::Right),
        ("tick", Align::Right),
        ("nodes", Align::Right),
        ("IDs/s/node", Align::Right),
        ("used", Align::Right),
        ("ends", Align::Left),
        ("i64", Align::Left),
        ("JS", Align::Left),
    ]);
    for Proposal { name, layout } in proposals {
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let cells = vec![
            name.clone(),
            layout.width().to_string(),
            duration::exact(layout.unit_ms()),
            grouped(nodes(layout)),
            rate(layout.ids_per_second()),
            percent(required.use_percent(layout)),
            date(layout.horizon()),
            yes(is_signed_safe(required, layout)),
            yes(layout.fits_f64()),
        ];
        let below = match fleet {
            Some(fleet) => {
                format!("{layout}, {} IDs/s in total", rate(fleet_rate(fleet, layout)))
            }
            None => layout.to_string(),
        };
        table.row(cells, Style::new(), Some(below));
    }
    let subject = match fleet {
        Some(Fleet { processes: 1, .. }) => "1 process".to_owned(),
        Some(fleet) => format!("{} processes", grouped(fleet.processes)),
        None if required.nodes == 1 => "1 node".to_owned(),
        None => format!("{} nodes", grouped(required.nodes)),
    };
    let until = instant::shortest(required.until);
    format!(
        "{BOLD}{subject}, {} IDs/s each{BOLD:#}, from {} until {until}, in at most {} bits\n\n{}\n\
         {}{DIM}{LEGEND}{DIM:#}\n",
        grouped(required.rate),
        instant::shortest(required.epoch),
        required.bits,
        table.render(),
        omitted(required, &until),
    )
}

/// Returns the paragraph about presets that are not proposed because they end too early.
fn omitted(required: &Requirements, until: &str) -> String {
    let presets = presets_that_end_early(required)
        .map(|(name, layout)| format!("  preset {name} ends on {}\n", date(layout.horizon())));
    let presets: String = presets.collect();
    if presets.is_empty() {
        return presets;
    }
    format!("Presets that are omitted because they end before {until}:\n{presets}\n")
}

fn percent(value: f64) -> String {
    if value < 1.0 { "< 1%".to_owned() } else { format!("{:.0}%", value.ceil()) }
}

/// Returns the error for requirements that no layout meets. The error suggests changes to the
/// requirements.
fn refusal(required: &Requirements, fleet: Option<&Fleet>) -> Failure {
    let lower = alternatives(required);
    let excess = lower.least_bits.filter(|bits| *bits > required.bits).map(|bits| {
        format!(
            ": that requires {bits} bits, {} more than the {} allowed",
            bits - required.bits,
            required.bits
        )
    });
    let error = Error::invalid_option(
        "plan",
        &format!(
            "no layout with {} bits allows {} nodes to generate {} IDs/s each from {} until {}{}",
            required.bits,
            required.nodes,
            required.rate,
            instant::shortest(required.epoch),
            instant::shortest(required.until),
            excess.unwrap_or_default()
        ),
    );
    let fewer = lower.nodes.and_then(|nodes| match fleet {
        Some(fleet) => {
            fleet.most_processes(nodes).map(|most| format!("lower --processes to {most}"))
        }
        None => Some(format!("lower --nodes to {nodes}")),
    });
    let ways: Vec<String> = [
        fewer,
        lower.rate.map(|rate| format!("lower --rate to {rate}")),
        lower.until.map(|until| format!("lower --until to {}", exact(until))),
        lower.bits.map(|bits| format!("raise --bits to {bits}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let hint = match ways.as_slice() {
        [] => format!(
            "lower at least two of the options {0}, --rate and --until; halving {0}, --rate or the time \
             from the epoch to --until saves one bit",
            if fleet.is_some() { "--processes" } else { "--nodes" }
        ),
        [way] => way.clone(),
        ways => format!("any one of these changes is enough: {}", ways.join("; ")),
    };
    Failure::hinted(error, hint)
}
