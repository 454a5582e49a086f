//! `flakeid bounds`

use std::io::Write;

use flakeid_core::{Error, ErrorKind, Id, Layout, Rfc3339};
use serde::Serialize;

use crate::cli::BoundsArgs;
use crate::failure::{Failure, Outcome};
use crate::format::id_json::name_of;
use crate::format::instant;
use crate::terminal::output::{self, BOLD, DIM};

/// One end of a range.
struct Bound {
    option: &'static str,
    asked: i64,
    id: Id,
    /// When the tick of the ID begins.
    tick: String,
}

#[derive(Serialize)]
struct Range<'a> {
    layout: &'a str,
    from: Option<&'a str>,
    to: Option<&'a str>,
    lower: Option<String>,
    upper: Option<String>,
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
        let mut out = output::stream();
        let id = |bound: &Option<Bound>| bound.as_ref().map(|bound| bound.id.to_string());
        let range = Range {
            layout: &name_of(&layout),
            from: lower.as_ref().map(|bound| bound.tick.as_str()),
            to: upper.as_ref().map(|bound| bound.tick.as_str()),
            lower: id(&lower),
            upper: id(&upper),
        };
        output::json_line(&mut out, &range)?;
        out.flush()?;
    } else if output::is_terminal() {
        output::show(&for_people(lower.as_ref(), upper.as_ref()))?;
    } else {
        let id = |bound: Option<Bound>| bound.map_or(String::new(), |bound| bound.id.to_string());
        let mut out = output::stream();
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
    let asked = instant::parse(option, text)?;
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
            &format!("{} is after --to {}", exact(from.asked), exact(to.asked)),
        )),
        _ => Ok(()),
    }
}

fn exact(unix_ms: i64) -> Rfc3339 {
    Rfc3339::with_fewest_digits(unix_ms)
}

fn warn_of_year(bound: &Bound, text: &str) {
    if instant::looks_like_a_year(text) {
        output::warning(&format!(
            "{} {text} is read as Unix milliseconds, {}; for the year write {text}-01-01",
            bound.option,
            exact(bound.asked)
        ));
    }
}

fn warn_of_clamping(bound: &Bound, layout: &Layout) {
    let Err(error) = layout.tick_at(bound.asked) else { return };
    let (end, edge, tick) = if error.kind() == ErrorKind::BeforeEpoch {
        ("before the epoch of the layout", layout.epoch(), "first")
    } else {
        ("not before the end of the layout", layout.horizon(), "last")
    };
    output::warning(&format!(
        "{} {} is {end}, {}; clamped to the {tick} tick",
        bound.option,
        exact(bound.asked),
        exact(edge)
    ));
}

fn warn_of_sign(lower: Option<&Bound>, upper: Option<&Bound>) {
    let Some(bound) = upper.or(lower).filter(|bound| bound.id.to_i64() < 0) else { return };
    output::warning(&format!(
        "{} is above 2^63 - 1: a signed 64-bit column holds it as {}, and such IDs sort before all \
         others there",
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
