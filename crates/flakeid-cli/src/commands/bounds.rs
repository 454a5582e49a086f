//! `flakeid bounds`: the smallest and the largest ID of a time range.

use std::io::Write;

use clap::Args;
use flakeid_core::{Error, ErrorKind, Id, Layout};

use crate::args::layout_arg::LayoutArg;
use crate::failure::{Failure, Outcome};
use crate::format::instant::{self, exact};
use crate::format::{BOLD, DIM};
use crate::terminal;
use flakeid_json::{BoundsJson, layout_name, parse_instant};

/// Computes the smallest and the largest ID of a time range, for use in queries
///
/// Both are inclusive: `id BETWEEN lower AND upper` finds every ID generated from the tick that
/// contains --from through the tick that contains --to. You may give only one of the two. In a pipe
/// the output is lower, a tab and upper.
///
/// T is a date (2026-01-31, midnight UTC), RFC 3339 (2026-01-31T12:00:00Z) or Unix milliseconds.
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

// Every line of this that begins with `flakeid` is run by the tests.
const EXAMPLES: &str = "\
Examples:
  flakeid bounds --from 2026-01-01 --to 2026-01-31T23:59:59.999Z
  flakeid bounds --from 2026-01-01 --layout discord
  flakeid bounds --from 1505914988849 --to 1505914988849 --json";

/// One end of a range.
struct Bound {
    option: &'static str,
    asked: i64,
    id: Id,
    /// When the tick of the ID begins.
    tick: String,
}

pub(crate) fn run(args: &BoundsArgs) -> Outcome {
    let layout = args.layout.resolve()?;
    let lower = bound("--from", args.from.as_deref(), &layout, Layout::lower_bound)?;
    let upper = bound("--to", args.to.as_deref(), &layout, Layout::upper_bound)?;
    check_order(lower.as_ref(), upper.as_ref())?;
    for (bound, text) in [(&lower, &args.from), (&upper, &args.to)] {
        if let (Some(bound), Some(text)) = (bound, text) {
            warn_of_year(bound, text);
            warn_of_clamping(bound, &layout);
        }
    }
    warn_of_sign(lower.as_ref(), upper.as_ref());
    if args.json {
        let asked = |bound: &Option<Bound>| bound.as_ref().map(|bound| bound.asked);
        let name = layout_name(&layout);
        terminal::show_json([BoundsJson::new(&layout, &name, asked(&lower), asked(&upper))?])?;
    } else if terminal::is_terminal() {
        terminal::show(&for_people(lower.as_ref(), upper.as_ref()))?;
    } else {
        let id = |bound: Option<Bound>| bound.map_or(String::new(), |bound| bound.id.to_string());
        let mut out = terminal::stream();
        writeln!(out, "{}\t{}", id(lower), id(upper))?;
        out.flush()?;
    }
    Ok(())
}

fn bound(
    option: &'static str,
    text: Option<&str>,
    layout: &Layout,
    id_at: fn(&Layout, i64) -> Id,
) -> Result<Option<Bound>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let asked = parse_instant(option, text)?;
    let id = id_at(layout, asked);
    let tick = layout.timestamp(layout.unpack(id)?.unix_ms).to_string();
    Ok(Some(Bound { option, asked, id, tick }))
}

fn check_order(lower: Option<&Bound>, upper: Option<&Bound>) -> Result<(), Error> {
    match (lower, upper) {
        (None, None) => Err(Error::invalid_option(
            "--from, --to",
            "give at least one of them: a date, RFC 3339 or Unix milliseconds",
        )),
        (Some(from), Some(to)) if from.asked > to.asked => Err(Error::invalid_option(
            "--from",
            &format!(
                "{} is after --to {}; give an earlier --from or a later --to",
                exact(from.asked),
                exact(to.asked)
            ),
        )),
        _ => Ok(()),
    }
}

fn warn_of_year(bound: &Bound, text: &str) {
    if instant::looks_like_a_year(text) {
        terminal::warning(&format!(
            "{} {text} was read as Unix milliseconds ({}); if you mean the year, write {text}-01-01",
            bound.option,
            exact(bound.asked)
        ));
    }
}

fn warn_of_clamping(bound: &Bound, layout: &Layout) {
    let Err(error) = layout.tick_at(bound.asked) else { return };
    let (outside, limit, tick) = if error.kind() == ErrorKind::BeforeEpoch {
        ("before the layout's epoch", layout.epoch(), "first")
    } else {
        ("not before the layout's end", layout.horizon(), "last")
    };
    terminal::warning(&format!(
        "{} {} is {outside}, {}; the {tick} tick is used instead",
        bound.option,
        exact(bound.asked),
        exact(limit)
    ));
}

fn warn_of_sign(lower: Option<&Bound>, upper: Option<&Bound>) {
    let Some(bound) = upper.or(lower).filter(|bound| bound.id.to_i64() < 0) else { return };
    terminal::warning(&format!(
        "{} is above 2^63 - 1: a signed 64-bit column stores it as {} and sorts such IDs before \
         all others",
        bound.id,
        bound.id.to_i64()
    ));
}

fn for_people(lower: Option<&Bound>, upper: Option<&Bound>) -> String {
    let both = [lower.map(|bound| ("lower", bound)), upper.map(|bound| ("upper", bound))];
    let width = both.iter().flatten().map(|(_, b)| b.id.to_string().len()).max().unwrap_or(0);
    let line = |(name, Bound { id, tick, .. }): (&str, &Bound)| {
        format!("{DIM}{name}{DIM:#}  {BOLD}{:>width$}{BOLD:#}  {tick}\n", id.to_u64())
    };
    let lines: Vec<String> = both.into_iter().flatten().map(line).collect();
    format!("{}\n{}\n", lines.concat(), condition(lower, upper))
}

/// What to paste into a query.
fn condition(lower: Option<&Bound>, upper: Option<&Bound>) -> String {
    match (lower, upper) {
        (Some(lower), Some(upper)) => format!("WHERE id BETWEEN {} AND {}", lower.id, upper.id),
        (Some(lower), None) => format!("WHERE id >= {}", lower.id),
        (None, Some(upper)) => format!("WHERE id <= {}", upper.id),
        (None, None) => String::new(),
    }
}
