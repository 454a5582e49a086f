//! `flakeid layout`: what a layout holds, and the list of presets.

use std::fmt::Write as _;

use anstyle::Style;
use clap::Args;
use flakeid_core::{Clock, Error, FieldSpan, Generator, Layout, ManualClock, SystemClock};
use serde::Serialize;

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
    /// A preset or a descriptor such as t42.n8.s13@1420070400000/5ms
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
        let described = layouts.iter().map(|layout| Description::new(layout, now));
        return Ok(terminal::show_json(described)?);
    }
    let text = match (&args.layout, layouts.as_slice()) {
        (Some(_), [layout]) => describe(layout, now),
        _ => list(&layouts, now),
    };
    Ok(terminal::show(&text)?)
}

/// Why IDs of this layout cannot be made now, if they cannot.
fn obstacle(layout: &Layout, now: i64) -> Option<Error> {
    // With a clock of its own, so that asking leaves no trace among the real generators.
    let built = Generator::builder(*layout).node(0).clock(ManualClock::new(now)).build();
    built.err().or_else(|| layout.tick_at(now).err())
}

#[derive(Serialize)]
struct Description {
    name: Option<&'static str>,
    descriptor: String,
    bits: u32,
    fields: Vec<FieldDescription>,
    epoch: String,
    epoch_unix_ms: i64,
    unit_ms: u64,
    nodes: u64,
    ids_per_tick: u64,
    ids_per_second: f64,
    horizon: String,
    horizon_unix_ms: i64,
    fits_i64_until: String,
    js_safe: bool,
    can_generate: bool,
    obstacle: Option<String>,
}

#[derive(Serialize)]
struct FieldDescription {
    letter: char,
    name: &'static str,
    bits: u8,
    shift: u8,
    max: u64,
}

impl Description {
    fn new(layout: &Layout, now: i64) -> Self {
        let obstacle = obstacle(layout, now);
        let field = |span: FieldSpan| FieldDescription {
            letter: span.field.letter(),
            name: span.field.name(),
            bits: span.width,
            shift: span.shift,
            max: span.max(),
        };
        Self {
            name: layout.preset_name(),
            descriptor: layout.to_string(),
            bits: layout.width(),
            fields: layout.fields().map(field).collect(),
            epoch: exact(layout.epoch()),
            epoch_unix_ms: layout.epoch(),
            unit_ms: layout.unit_ms(),
            nodes: nodes(layout),
            ids_per_tick: layout.ids_per_tick(),
            ids_per_second: layout.ids_per_second(),
            horizon: exact(layout.horizon()),
            horizon_unix_ms: layout.horizon(),
            fits_i64_until: exact(layout.fits_i64_until()),
            js_safe: layout.fits_f64(),
            can_generate: obstacle.is_none(),
            obstacle: obstacle.map(|error| format!("{}: {error}", error.code())),
        }
    }
}

/// One line for each layout, or two where the terminal is too narrow to show the descriptor as well.
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
        "exact as a number"
    } else {
        "not exact as a number: use BigInt or strings"
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
            "makes IDs now",
            obstacle(layout, now).map_or("yes".to_owned(), |error| format!("no: {error}")),
        ),
    ]
}
