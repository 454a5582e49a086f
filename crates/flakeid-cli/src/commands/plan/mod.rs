//! `flakeid layout plan`

mod fleet;
mod growth;
mod limit;
mod proposal;
mod requirements;

use std::fmt::Write as _;
use std::io::Write as _;

use anstyle::Style;
use flakeid_core::{Clock, Error, Layout, Rfc3339, SystemClock};
use serde::Serialize;

use self::growth::Growth;
use self::proposal::{Proposal, proposals, relief};
use self::requirements::Need;
use crate::cli::PlanArgs;
use crate::commands::layout::nodes;
use crate::failure::{Failure, Outcome};
use crate::format::instant::{self, date};
use crate::format::number::{duration, grouped, rate};
use crate::format::table::{Align, Table};
use crate::terminal::output::{self, BOLD, DIM};

pub(crate) use self::fleet::Fleet;

pub(crate) fn run(args: &PlanArgs) -> Outcome {
    let fleet = Fleet::read(args)?;
    let need = Need::read(args, fleet.as_ref(), SystemClock.unix_ms())?;
    let proposals = proposals(&need);
    if proposals.is_empty() {
        return Err(refusal(&need, fleet.as_ref()));
    }
    let growth = fleet.map(|fleet| Growth::steps(&need, fleet)).unwrap_or_default();
    if args.json {
        let mut out = output::stream();
        for proposal in &proposals {
            output::json_line(&mut out, &Row::new(&need, fleet.as_ref(), proposal))?;
        }
        for step in &growth {
            output::json_line(&mut out, step)?;
        }
        out.flush()?;
        return Ok(());
    }
    let mut text = for_people(&need, fleet.as_ref(), &proposals);
    if let Some(fleet) = &fleet {
        let legend = growth::legend(fleet);
        let _ = write!(text, "\n{}\n{DIM}{legend}{DIM:#}\n", growth::table(&growth));
    }
    Ok(output::show(&text)?)
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
    fn new(need: &Need, fleet: Option<&Fleet>, proposal: &'a Proposal) -> Self {
        let layout = &proposal.layout;
        Self {
            proposal: &proposal.name,
            descriptor: layout.to_string(),
            bits: layout.width(),
            unit_ms: layout.unit_ms(),
            longest_wait_ms: layout.unit_ms(),
            nodes: nodes(layout),
            ids_per_second: layout.ids_per_second(),
            fleet_ids_per_second: fleet.map(|fleet| fleet_ceiling(fleet, layout)),
            use_percent: need.use_percent(layout),
            horizon: exact(layout.horizon()),
            signed_safe: is_signed_safe(need, layout),
            js_safe: layout.fits_f64(),
        }
    }
}

/// IDs per second of all processes together.
fn fleet_ceiling(fleet: &Fleet, layout: &Layout) -> f64 {
    fleet.processes as f64 * layout.ids_per_second()
}

fn exact(unix_ms: i64) -> String {
    Rfc3339::with_fewest_digits(unix_ms).to_string()
}

/// Positive in a signed 64-bit column for as long as it is needed.
fn is_signed_safe(need: &Need, layout: &Layout) -> bool {
    layout.fits_i64_until() >= need.until
}

const LEGEND: &str = "\
tick  IDs of different nodes are in order to one tick; when a tick is full, the
      next ID waits at most one, and so does the first ID of a process
used  the share of a node's IDs/s that its busiest second takes
i64   positive in a signed 64-bit column for as long as asked
JS    exact as a JavaScript number (at most 53 bits)";

fn for_people(need: &Need, fleet: Option<&Fleet>, proposals: &[Proposal]) -> String {
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
            duration(layout.unit_ms()),
            grouped(nodes(layout)),
            rate(layout.ids_per_second()),
            percent(need.use_percent(layout)),
            date(layout.horizon()),
            yes(is_signed_safe(need, layout)),
            yes(layout.fits_f64()),
        ];
        let below = match fleet {
            Some(fleet) => {
                format!("{layout}, all together {} IDs/s", rate(fleet_ceiling(fleet, layout)))
            }
            None => layout.to_string(),
        };
        table.row(cells, Style::new(), Some(below));
    }
    let makers = match fleet {
        Some(Fleet { processes: 1, .. }) => "1 process".to_owned(),
        Some(fleet) => format!("{} processes", grouped(fleet.processes)),
        None if need.nodes == 1 => "1 node".to_owned(),
        None => format!("{} nodes", grouped(need.nodes)),
    };
    format!(
        "{BOLD}{makers}, {} IDs/s each{BOLD:#}, from {} until {}, in at most {} bits\n\n{}\n\
         {DIM}{LEGEND}{DIM:#}\n",
        grouped(need.rate),
        instant::shortest(need.epoch),
        instant::shortest(need.until),
        need.bits,
        table.render(),
    )
}

fn percent(value: f64) -> String {
    if value < 1.0 { "< 1%".to_owned() } else { format!("{:.0}%", value.ceil()) }
}

/// Nothing fits: says how far which number would have to come down.
fn refusal(need: &Need, fleet: Option<&Fleet>) -> Failure {
    let relief = relief(need);
    let excess = relief.least_bits.filter(|bits| *bits > need.bits).map(|bits| {
        format!(
            ": that takes {bits} bits, {} more than the {} allowed",
            bits - need.bits,
            need.bits
        )
    });
    let error = Error::invalid_option(
        "plan",
        &format!(
            "no layout of {} bits holds {} nodes with {} IDs/s each from {} until {}{}",
            need.bits,
            need.nodes,
            need.rate,
            instant::shortest(need.epoch),
            instant::shortest(need.until),
            excess.unwrap_or_default()
        ),
    );
    let fewer = relief.nodes.and_then(|nodes| match fleet {
        Some(fleet) => {
            fleet.most_processes(nodes).map(|most| format!("lower --processes to {most}"))
        }
        None => Some(format!("lower --nodes to {nodes}")),
    });
    let ways: Vec<String> = [
        fewer,
        relief.rate.map(|rate| format!("lower --rate to {rate}")),
        relief.until.map(|until| format!("lower --until to {}", exact(until))),
        relief.bits.map(|bits| format!("raise --bits to {bits}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let hint = match ways.as_slice() {
        [] => format!(
            "lower more than one of {}, --rate and --until; halving one of them saves a bit",
            if fleet.is_some() { "--processes" } else { "--nodes" }
        ),
        [way] => way.clone(),
        ways => format!("one of these is enough: {}", ways.join("; ")),
    };
    Failure::hinted(error, hint)
}
