//! `flakeid layout`: shows the properties of a layout, or lists the presets.

use std::fmt::Write as _;

use anstyle::Style;
use clap::Args;
use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_json::{LayoutJson, layout_obstacle};

use crate::args::layout_arg::{self, Presets};
use crate::failure::Outcome;
use crate::format::diagram;
use crate::format::duration;
use crate::format::instant::{date, exact};
use crate::format::number::{grouped, nodes, range, rate};
use crate::format::table::{Align, Table};
use crate::format::{BOLD, DIM};
use crate::terminal;

/// The arguments of `flakeid layout` without a subcommand.
#[derive(Args)]
pub(crate) struct ShowArgs {
    /// Layout to show: a preset, or a descriptor such as t42.n8.s13@1420070400000/5ms [default: all
    /// presets]
    #[arg(value_name = "L", value_parser = Presets, hide_possible_values = true)]
    layout: Option<String>,

    /// Write one JSON object per layout
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ShowArgs) -> Outcome {
    let now = SystemClock.unix_ms();
    let layouts: Vec<Layout> = match &args.layout {
        Some(text) => vec![layout_arg::parse(text)?],
        None => Layout::presets().iter().map(|(_, layout)| *layout).collect(),
    };
    if args.json {
        let described = layouts.iter().map(|layout| LayoutJson::new(layout, now));
        return Ok(terminal::show_json(described)?);
    }
    let text = match (&args.layout, layouts.as_slice()) {
        (Some(_), [layout]) => describe(layout, now),
        _ => list(&layouts, now),
    };
    Ok(terminal::show(&text)?)
}

/// Renders one line for each layout, or two lines if the terminal is too narrow for the descriptor
/// column.
fn list(layouts: &[Layout], now: i64) -> String {
    let wide = table(layouts, now, true);
    if terminal::is_terminal() && wide.width() > terminal::columns() {
        table(layouts, now, false).render()
    } else {
        wide.render()
    }
}

fn table(layouts: &[Layout], now: i64, is_wide: bool) -> Table {
    let mut columns = vec![
        ("preset", Align::Left),
        ("bits", Align::Right),
        ("nodes", Align::Right),
        ("IDs/tick", Align::Right),
        ("IDs/s/node", Align::Right),
        ("ends", Align::Left),
    ];
    if is_wide {
        columns.insert(1, ("descriptor", Align::Left));
    }
    let mut table = Table::new(&columns);
    for layout in layouts {
        let has_ended = now >= layout.horizon();
        let end = date(layout.horizon());
        let mut cells = vec![
            layout.preset_name().unwrap_or_default().to_owned(),
            layout.width().to_string(),
            grouped(nodes(layout)),
            grouped(layout.ids_per_tick()),
            rate(layout.ids_per_second()),
            if has_ended { format!("{end} (ended)") } else { end },
        ];
        if is_wide {
            cells.insert(1, layout.to_string());
        }
        let below = (!is_wide).then(|| layout.to_string());
        table.row(cells, if has_ended { DIM } else { Style::new() }, below);
    }
    table
}

fn describe(layout: &Layout, now: i64) -> String {
    let mut text = match layout.preset_name() {
        Some(name) => format!("{BOLD}{name}{BOLD:#}  {layout}\n\n"),
        None => format!("{BOLD}{layout}{BOLD:#}\n\n"),
    };
    text += &diagram::draw(layout, None, terminal::columns());
    text += "\n";
    if let Some(legend) = diagram::legend_of_unused(layout) {
        let _ = writeln!(text, "{legend}  always 0");
    }
    for span in layout.fields() {
        let range = range(span);
        let _ = writeln!(text, "{}  {range}", diagram::legend(span.field, span.width));
    }
    text += "\n";
    for (name, value) in properties(layout, now) {
        let _ = writeln!(text, "  {DIM}{name:<16}{DIM:#} {value}");
    }
    text
}

fn properties(layout: &Layout, now: i64) -> Vec<(&'static str, String)> {
    let (epoch, horizon) = (exact(layout.epoch()), exact(layout.horizon()));
    let per_tick = grouped(layout.ids_per_tick());
    let per_second = rate(layout.ids_per_second());
    let until = layout.fits_i64_until();
    let signed = if until < layout.horizon() {
        format!("positive until {}, then negative and out of order", exact(until))
    } else {
        "always positive".to_owned()
    };
    let js = if layout.fits_f64() {
        "IDs can be represented exactly as JavaScript numbers"
    } else {
        "IDs cannot be represented exactly as JavaScript numbers: use BigInt or strings"
    };
    vec![
        ("width", format!("{} of 64 bits", layout.width())),
        ("epoch", format!("{epoch} ({})", layout.epoch())),
        ("unit", duration::exact(layout.unit_ms())),
        ("nodes", grouped(nodes(layout))),
        ("IDs per node", format!("{per_tick} per tick, {per_second} per second")),
        ("horizon", horizon),
        ("signed 64-bit", signed),
        ("JavaScript", js.to_owned()),
        (
            "issues IDs now",
            layout_obstacle(layout, now).map_or("yes".to_owned(), |error| format!("no: {error}")),
        ),
    ]
}
