//! `flakeid inspect --stats`: shows a summary of all IDs.

use std::fmt::Write as _;

use flakeid_core::{Id, Layout, Statistics, TextForm};
use flakeid_json::{Bars, StatsJson, TopNodes, layout_name};

use super::lines;
use crate::failure::Outcome;
use crate::format::number::{grouped, rate};
use crate::format::{BOLD, DIM};
use crate::terminal;

/// The maximum number of nodes shown on a terminal. The JSON output contains all nodes.
const MOST_NODES: usize = 10;
/// The maximum number of bars in a chart on a terminal.
const MOST_BARS: usize = 20;

/// Summarises the IDs from the arguments, or from standard input if there are no arguments.
pub(super) fn run(ids: &[Id], form: TextForm, layout: &Layout, draws: bool) -> Outcome {
    let mut statistics = Statistics::new(*layout);
    if ids.is_empty() {
        lines::read(&mut statistics, form, layout)?;
    } else {
        ids.iter().try_for_each(|id| statistics.add(*id))?;
    }
    if draws {
        let repeats = statistics.repeats();
        return Ok(terminal::show(&draw(&statistics, repeats, layout))?);
    }
    Ok(terminal::show_json([StatsJson::new(&mut statistics, layout)])?)
}

fn draw(statistics: &Statistics, repeats: Option<u64>, layout: &Layout) -> String {
    let Some((first, last)) = statistics.ends() else { return "No IDs.\n".to_owned() };
    let time = |id| {
        let unix_ms = layout.unpack(id).map_or(0, |parts| parts.unix_ms);
        (unix_ms, layout.timestamp(unix_ms))
    };
    let ((from_ms, from), (to_ms, to)) = (time(first), time(last));
    let count = statistics.count();
    let mut text =
        format!("{BOLD}{}{BOLD:#} IDs of layout {}\n\n", grouped(count), layout_name(layout));
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {DIM}{name:<14}{DIM:#}{value}");
    };
    line("from", &from.to_string());
    line("to", &to.to_string());
    let span = (to_ms - from_ms).max(1) as f64 / 1000.0;
    line("on average", &format!("{} per second", rate(count as f64 / span)));
    line(
        "repeats",
        &match repeats {
            Some(0) => "none".to_owned(),
            Some(repeats) => {
                format!("{BOLD}{}{BOLD:#} IDs repeat an earlier ID", grouped(repeats))
            }
            None => format!("not counted: more than {} IDs", grouped(Statistics::MOST_KEPT as u64)),
        },
    );
    line(
        "steps back",
        &match statistics.steps_back() {
            0 => "none: no ID is smaller than the previous ID".to_owned(),
            steps => format!(
                "{}, by up to {} ms",
                grouped(steps),
                grouped(statistics.longest_step_back_ms())
            ),
        },
    );
    if let Some(gap) = statistics.longest_gap() {
        line("longest gap", &format!("{} ms, after {}", grouped(gap.ms), gap.after));
    }
    line(
        "sequence",
        &format!(
            "largest sequence number {} (the layout allows up to {}); nodes used up all IDs of \
             a tick {} times",
            grouped(statistics.largest_sequence()),
            grouped(layout.max_sequence()),
            grouped(statistics.full_ticks()),
        ),
    );
    text += &nodes(statistics);
    text += &bars(statistics, layout);
    text
}

/// Renders a list of the nodes that generated the most IDs.
fn nodes(statistics: &Statistics) -> String {
    let nodes = TopNodes::new(statistics, MOST_NODES);
    let at_least = if nodes.other_ids > 0 { "at least " } else { "" };
    let mut text = format!("\n{at_least}{BOLD}{}{BOLD:#} nodes\n\n", grouped(nodes.count));
    for (node, count) in &nodes.top {
        let share = *count as f64 * 100.0 / statistics.count() as f64;
        let _ = writeln!(text, "  {node:>9}  {:>15}  {DIM}{share:.1} %{DIM:#}", grouped(*count));
    }
    let others = nodes.count - nodes.top.len() as u64;
    if others > 0 {
        let _ = writeln!(text, "  {DIM}and {} more{DIM:#}", grouped(others));
    }
    if nodes.other_ids > 0 {
        let ids = grouped(nodes.other_ids);
        let _ = writeln!(
            text,
            "  {DIM}{ids} IDs come from other nodes, which are not listed separately{DIM:#}"
        );
    }
    text
}

/// Renders a bar chart of the number of IDs over time.
fn bars(statistics: &Statistics, layout: &Layout) -> String {
    const WIDTH: usize = 40;
    let Bars { seconds, bars, .. } = Bars::new(statistics, layout, MOST_BARS);
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let mut text = format!("\nIDs in {BOLD}{} s{BOLD:#} each\n\n", grouped(seconds));
    for (begin, count) in bars {
        // A period with at least one ID gets a bar of at least one character.
        let length = (u128::from(count) * WIDTH as u128).div_ceil(u128::from(most)) as usize;
        let bar = "█".repeat(length);
        let _ = writeln!(text, "  {DIM}{begin}{DIM:#}  {:>15}  {bar}", grouped(count));
    }
    text
}
