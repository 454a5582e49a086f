//! `flakeid layout plan`

use std::io::Write;

use anstyle::Style;
use flakeid_core::{Clock, Error, Layout, Rfc3339, SystemClock};
use serde::Serialize;

use crate::cli::PlanArgs;
use crate::failure::{Failure, Outcome};
use crate::figure::{duration, grouped, rate};
use crate::instant::{self, date};
use crate::layout::nodes;
use crate::need::Need;
use crate::output::{self, BOLD, DIM};
use crate::proposal::{Proposal, proposals, relief};
use crate::table::{Align, Table};

pub(crate) fn run(args: &PlanArgs) -> Outcome {
    let need = Need::read(args, SystemClock.unix_ms())?;
    let proposals = proposals(&need);
    if proposals.is_empty() {
        return Err(refusal(&need));
    }
    if args.json {
        let mut out = output::stream();
        for proposal in &proposals {
            output::json_line(&mut out, &Row::new(&need, proposal))?;
        }
        out.flush()?;
        return Ok(());
    }
    Ok(output::show(&for_people(&need, &proposals))?)
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
    use_percent: f64,
    horizon: String,
    signed_safe: bool,
    js_safe: bool,
}

impl<'a> Row<'a> {
    fn new(need: &Need, proposal: &'a Proposal) -> Self {
        let layout = &proposal.layout;
        Self {
            proposal: &proposal.name,
            descriptor: layout.to_string(),
            bits: layout.width(),
            unit_ms: layout.unit_ms(),
            longest_wait_ms: layout.unit_ms(),
            nodes: nodes(layout),
            ids_per_second: layout.ids_per_second(),
            use_percent: need.use_percent(layout),
            horizon: exact(layout.horizon()),
            signed_safe: is_signed_safe(need, layout),
            js_safe: layout.fits_f64(),
        }
    }
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

fn for_people(need: &Need, proposals: &[Proposal]) -> String {
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
        table.row(cells, Style::new(), Some(layout.to_string()));
    }
    format!(
        "{BOLD}{} {}, {} IDs/s each{BOLD:#}, from {} until {}, in at most {} bits\n\n{}\n\
         {DIM}{LEGEND}{DIM:#}\n",
        grouped(need.nodes),
        if need.nodes == 1 { "node" } else { "nodes" },
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
fn refusal(need: &Need) -> Failure {
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
    let ways: Vec<String> = [
        relief.nodes.map(|nodes| format!("lower --nodes to {nodes}")),
        relief.rate.map(|rate| format!("lower --rate to {rate}")),
        relief.until.map(|until| format!("lower --until to {}", exact(until))),
        relief.bits.map(|bits| format!("raise --bits to {bits}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let hint = match ways.as_slice() {
        [] => "lower more than one of --nodes, --rate and --until; halving one of them saves a bit"
            .to_owned(),
        [way] => way.clone(),
        ways => format!("one of these is enough: {}", ways.join("; ")),
    };
    Failure::hinted(error, hint)
}
