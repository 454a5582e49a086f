//! `flakeid inspect`: decodes IDs into a diagram or JSON, guesses their preset, or summarises many
//! IDs.

mod guess;
mod lines;
mod stats;

use std::fmt::Write as _;
use std::io::Write;

use clap::Args;
use flakeid_core::{Error, Field, Id, Layout, TextForm};

use crate::args::id::{self, InputForm};
use crate::args::input;
use crate::args::layout_arg::LayoutArg;
use crate::failure::{Failure, Outcome};
use crate::format::diagram;
use crate::format::number::range;
use crate::format::{BOLD, DIM};
use crate::terminal;
use flakeid_json::{IdJson, Identifier, layout_name};

/// Decodes IDs and draws their bits
///
/// On a terminal, the command draws the 64 bits of each ID, divided into fields. In a pipe, or with
/// --json, the command writes one JSON object per line. Without arguments, the command reads one ID
/// per line from standard input.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct InspectArgs {
    /// IDs to decode; the prefix 0x marks a hexadecimal number
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    ids: Vec<String>,

    #[command(flatten)]
    layout: LayoutArg,

    /// Format of the IDs
    #[arg(long, value_enum, value_name = "FORM", default_value = "dec")]
    format: InputForm,

    /// Write one JSON object per line, even on a terminal
    #[arg(long, conflicts_with = "pretty")]
    json: bool,

    /// Draw the bits, even in a pipe
    #[arg(long)]
    pretty: bool,

    #[command(flatten)]
    about: About,
}

/// The options that show other information instead of the fields of each ID.
#[derive(Args)]
struct About {
    /// Guess the preset of the IDs, and report why the other presets do not fit
    ///
    /// Each preset is rated by how closely the IDs resemble typical IDs of its system. Typical IDs
    /// have recent times, few nodes, and sequence numbers that start at 0. The result is a guess:
    /// if several presets fit, all of them are listed. More IDs from the same system make the guess
    /// more certain.
    #[arg(long, conflicts_with = "layout")]
    guess: bool,

    /// Show a summary of all IDs
    ///
    /// The summary shows when and by which nodes the IDs were generated, and how many IDs are
    /// repeated or out of order. It also shows the longest gap between IDs. The command reads
    /// standard input in a single pass. To count repeated IDs, the command keeps 8 bytes for each
    /// ID, up to 1 GiB in total.
    #[arg(long, conflicts_with = "guess")]
    stats: bool,
}

// The tests run every example line that begins with `flakeid`.
const EXAMPLES: &str = "\
Examples:
  flakeid inspect 910499571847892992
  flakeid inspect 0x0ca2ba7ecc639000
  flakeid inspect --layout baidu-29 180363646902239241
  flakeid inspect --format base62 15G63YLn9Ae --pretty
  flakeid inspect --guess 1050118621198921728
  flakeid next -n 9999 --node 7 | flakeid inspect --stats
  flakeid next -n 3 --node 7 | flakeid inspect";

pub(crate) fn run(args: &InspectArgs) -> Outcome {
    let form = args.format.text_form();
    let draws = args.pretty || (!args.json && terminal::is_terminal());
    if args.about.guess {
        return guess::run(&every_id(&args.ids, |text| id::parse_any(text, form))?, draws);
    }
    let layout = args.layout.resolve()?;
    if args.about.stats {
        let ids = args.ids.iter().map(|text| id::parse(text, form, &layout));
        return stats::run(&ids.collect::<Result<Vec<_>, _>>()?, form, &layout, draws);
    }
    let mut view = View { layout, name: layout_name(&layout), draws, drawn: false };
    if args.ids.is_empty() {
        return input::each_line("ID", |out, text| view.show(out, id::parse(text, form, &layout)?));
    }
    // All arguments are parsed before the first ID is shown, so that an invalid argument causes no
    // partial output.
    let ids = args
        .ids
        .iter()
        .map(|text| id::parse(text, form, &layout))
        .collect::<Result<Vec<_>, _>>()?;
    if draws {
        warn_of_rounded(&args.ids);
    }
    let mut out = terminal::stream();
    for id in ids {
        view.show(&mut out, id)?;
    }
    out.flush()?;
    Ok(())
}

/// Warns of numbers that JavaScript may have rounded. Only human readers get this warning, because
/// a program that inspects many IDs finds some of these numbers by chance.
fn warn_of_rounded(texts: &[String]) {
    for text in texts {
        if let Some(found @ Identifier::Rounded { .. }) = Identifier::recognize(text) {
            terminal::warning(&format!("{text} is {found}"));
        }
    }
}

/// Returns the IDs from the arguments, or from standard input if there are no arguments.
fn every_id(
    given: &[String],
    parse: impl Fn(&str) -> Result<Id, Failure>,
) -> Result<Vec<Id>, Failure> {
    if !given.is_empty() {
        return given.iter().map(|text| parse(text)).collect();
    }
    let mut ids = Vec::new();
    input::each_line("ID", |_, text| {
        ids.push(parse(text)?);
        Ok(())
    })?;
    Ok(ids)
}

struct View {
    layout: Layout,
    name: String,
    draws: bool,
    drawn: bool,
}

impl View {
    fn show(&mut self, out: &mut terminal::Stream, id: Id) -> Outcome {
        if !self.draws {
            return Ok(terminal::json_line(out, &IdJson::new(id, &self.layout, &self.name)?)?);
        }
        let separator = if self.drawn { "\n" } else { "" };
        self.drawn = true;
        let text = self.draw(id)?;
        Ok(terminal::show(&format!("{separator}{text}"))?)
    }

    fn draw(&self, id: Id) -> Result<String, Error> {
        let layout = &self.layout;
        let parts = layout.unpack(id)?;
        let mut text = format!("{BOLD}{id}{BOLD:#}  {}", self.name);
        if layout.preset_name().is_some() {
            let _ = write!(text, "  {DIM}{layout}{DIM:#}");
        }
        text += "\n\n";
        text += &diagram::draw(layout, Some(id), terminal::columns());
        text += "\n";
        let spans: Vec<_> = layout.fields().collect();
        let values: Vec<String> =
            spans.iter().map(|span| span.extract(id.to_u64()).to_string()).collect();
        let width = values.iter().map(String::len).max().unwrap_or(0);
        for (span, value) in spans.iter().zip(&values) {
            let remark = if span.field == Field::Time {
                format!("{BOLD}{}{BOLD:#}", layout.timestamp(parts.unix_ms))
            } else {
                format!("{DIM}{}{DIM:#}", range(*span))
            };
            let _ = writeln!(
                text,
                "{}  {value:>width$}  {remark}",
                diagram::legend(span.field, span.width)
            );
        }
        text += "\n";
        let mut pair = |name: &str, value: &str| {
            let _ = writeln!(text, "  {DIM}{name:<13}{DIM:#}  {value}");
        };
        if layout.is_split() {
            pair("node", &parts.node.to_string());
        }
        pair("unix ms", &parts.unix_ms.to_string());
        for form in TextForm::ALL {
            pair(form.name(), &form.encode(id));
        }
        Ok(text)
    }
}
