//! `flakeid bounds`: computes the smallest and the largest possible ID of a time range.

use std::io::Write;

use clap::Args;
use flakeid_core::Error;

use crate::args::layout_arg::LayoutArg;
use crate::failure::Outcome;
use crate::format::{BOLD, DIM};
use crate::terminal;
use flakeid_json::{Bound, BoundsJson, EndNames, TimeRange, layout_name};

/// Computes the smallest and the largest possible ID of a time range, for use in queries
///
/// Both bounds are inclusive: `id BETWEEN lower AND upper` finds every ID generated from the tick
/// that contains --from through the tick that contains --to. Either --from or --to may be omitted.
/// In a pipe, the output is the lower ID, a tab and the upper ID.
///
/// T is a date (2026-01-31 means midnight UTC), an RFC 3339 time (2026-01-31T12:00:00Z) or a Unix
/// time in milliseconds.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct BoundsArgs {
    /// Start of the range
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    from: Option<String>,

    /// End of the range, inclusive
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    to: Option<String>,

    #[command(flatten)]
    layout: LayoutArg,

    /// Write one JSON object
    #[arg(long)]
    json: bool,
}

// The tests run every example line that begins with `flakeid`.
const EXAMPLES: &str = "\
Examples:
  flakeid bounds --from 2026-01-01 --to 2026-01-31T23:59:59.999Z
  flakeid bounds --from 2026-01-01 --layout discord
  flakeid bounds --from 1505914988849 --to 1505914988849 --json";

pub(crate) fn run(args: &BoundsArgs) -> Outcome {
    let layout = args.layout.resolve()?;
    let (from, to) = (args.from.as_deref(), args.to.as_deref());
    let range = TimeRange::parse(&layout, &EndNames::FLAGS, from, to)?;
    for warning in range.warnings() {
        terminal::warning(&warning);
    }
    if args.json {
        terminal::show_json([BoundsJson::new(&range, &layout_name(&layout))])?;
    } else if terminal::is_terminal() {
        terminal::show(&render(&range)?)?;
    } else {
        let id = |bound: Option<&Bound>| bound.map_or(String::new(), |bound| bound.id.to_string());
        let mut out = terminal::stream();
        writeln!(out, "{}\t{}", id(range.lower()), id(range.upper()))?;
        out.flush()?;
    }
    Ok(())
}

fn render(range: &TimeRange) -> Result<String, Error> {
    let both =
        [range.lower().map(|bound| ("lower", bound)), range.upper().map(|bound| ("upper", bound))];
    let width = both.iter().flatten().map(|(_, b)| b.id.to_string().len()).max().unwrap_or(0);
    let line = |(name, Bound { id, tick, .. }): (&str, &Bound)| {
        format!("{DIM}{name}{DIM:#}  {BOLD}{:>width$}{BOLD:#}  {tick}\n", id.to_u64())
    };
    let lines: Vec<String> = both.into_iter().flatten().map(line).collect();
    Ok(format!("{}\n{}\n", lines.concat(), range.condition("id")?))
}
