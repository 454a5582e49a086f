//! `flakeid leases init`

use flakeid_core::{Clock, Error, Layout, SystemClock};
use flakeid_protocol::{Bounds, Namespace, rules};
use serde::Serialize;

use super::args::InitArgs;
use crate::failure::{Failure, Outcome};
use crate::format::{duration, number};
use crate::terminal;
use flakeid_json::layout_name;

pub(super) fn run(args: &InitArgs) -> Outcome {
    let layout = args.layout.resolve()?;
    let mut wanted = Namespace::new(&args.store.namespace()?, layout);
    wanted.bounds = bounds(args, wanted.bounds, &layout)?;
    wanted.bounds.check(&layout)?;
    if wanted.bounds.continuation_ms() < wanted.bounds.max_window_ms {
        terminal::warning(
            "--quiet less four times --max-skew is shorter than --max-window: after a restart of the \
             store some processes will have to wait for another node",
        );
    }
    wanted.keeps_history = !args.no_history;
    if let Some(text) = &args.block_bits {
        wanted.block_bits = number::parse("block-bits", text, 0, 63)? as u32;
        wanted.check_block_bits()?;
    }
    let lost = args.lost.as_deref().map(|text| lost_bounds(text, &layout)).transpose()?;
    let mut connection = args.store.connect_or_make()?;
    let found = connection.find()?;
    if found.is_none() && lost.is_none() && !args.fresh && !connection.knows_its_losses() {
        return Err(undecided(&connection.name(), &layout));
    }
    // Should one that is there be lost before it is looked at again, these were its bounds.
    let lost_then = found.as_ref().map(|listing| listing.namespace.bounds).or(lost);
    let kept = connection.init(&wanted, lost_then.as_ref())?;
    let existed = found.is_some();
    if existed && (kept.bounds != wanted.bounds || kept.keeps_history != wanted.keeps_history) {
        terminal::warning("the namespace exists already, and its options stay as they are");
    }
    if existed && lost.is_some() {
        terminal::warning(
            "the namespace exists already, so --lost changes nothing: to wait for leases that it \
             does not know of, use `flakeid leases fast-forward`",
        );
    }
    let wait_ms = rules::wait_to_grant(&kept, SystemClock.unix_ms());
    if args.json || !terminal::is_terminal() {
        return Ok(terminal::show_json([Description::new(&kept, !existed, wait_ms)])?);
    }
    let wait = match wait_ms {
        0 => String::new(),
        ms if existed => format!("nothing is granted for another {}\n", duration::shown(ms)),
        ms => format!(
            "nothing is granted for {}, until every lease that the store has lost has ended\n",
            duration::shown(ms)
        ),
    };
    let verb = if existed { "exists already" } else { "created" };
    let bounds = &kept.bounds;
    let text = format!(
        "{}: {verb}\nlayout {}{}, windows up to {}, ahead up to {}, clocks apart up to {}, quiet for {} \
         after a restart, {} history\n{wait}",
        connection.name(),
        layout_name(&kept.layout),
        match kept.block_bits {
            0 => String::new(),
            bits => format!(", leased by brokers in blocks of {} nodes", 1_u64 << bits),
        },
        duration::exact(bounds.max_window_ms),
        duration::exact(bounds.max_ahead_ms),
        duration::exact(bounds.max_skew_ms),
        duration::exact(bounds.quiet_ms),
        if kept.keeps_history { "with a" } else { "without a" },
    );
    Ok(terminal::show(&text)?)
}

fn bounds(args: &InitArgs, usual: Bounds, layout: &Layout) -> Result<Bounds, Error> {
    let read = |option, text: &Option<String>, usual| match text {
        Some(text) => duration::parse(option, text),
        None => Ok(usual),
    };
    let bounds = Bounds {
        max_window_ms: read("--max-window", &args.max_window, usual.max_window_ms)?,
        max_ahead_ms: read("--max-ahead", &args.max_ahead, usual.max_ahead_ms)?,
        max_skew_ms: read("--max-skew", &args.max_skew, usual.max_skew_ms)?,
        quiet_ms: 0,
    };
    let usual = bounds.with_usual_quiet(layout);
    Ok(Bounds { quiet_ms: read("--quiet", &args.quiet, usual.quiet_ms)?, ..usual })
}

const LOST: &str = "--lost";

/// The bounds of a namespace that was lost, as typed: `1h,20s,1s`, with the quiet time if it was not the
/// usual one, or `default`.
fn lost_bounds(text: &str, layout: &Layout) -> Result<Bounds, Error> {
    if text == "default" {
        return Ok(Bounds::of(layout));
    }
    let parts: Vec<&str> = text.split(',').collect();
    let ([window, ahead, skew, quiet @ ..], 3..=4) = (&parts[..], parts.len()) else {
        let reason = format!(
            "{text:?} is not WINDOW,AHEAD,SKEW: write the three bounds of the namespace that was \
             lost, such as {}, or default",
            typed(&Bounds::of(layout))
        );
        return Err(Error::invalid_option(LOST, &reason));
    };
    let lost = Bounds {
        max_window_ms: duration::parse(LOST, window)?,
        max_ahead_ms: duration::parse(LOST, ahead)?,
        max_skew_ms: duration::parse(LOST, skew)?,
        quiet_ms: 0,
    };
    let lost = match quiet.first() {
        Some(quiet) => Bounds { quiet_ms: duration::parse(LOST, quiet)?, ..lost },
        None => lost.with_usual_quiet(layout),
    };
    // What no namespace of this layout can have had is mistyped.
    let checked = lost.check(layout);
    checked.map_err(|error| Error::invalid_option(LOST, &error.to_string())).map(|()| lost)
}

/// As `--lost` takes them.
fn typed(bounds: &Bounds) -> String {
    let typed = |ms: u64| match ms % 1000 {
        0 => format!("{}s", ms / 1000),
        _ => format!("{ms}ms"),
    };
    let Bounds { max_window_ms, max_ahead_ms, max_skew_ms, .. } = *bounds;
    [max_window_ms, max_ahead_ms, max_skew_ms].map(typed).join(",")
}

/// A namespace that does not exist, and nobody has said whether it ever did.
fn undecided(name: &str, layout: &Layout) -> Failure {
    let error = Error::invalid_option(
        "--fresh, --lost",
        &format!(
            "give one of them: {name} does not exist, and the store cannot tell whether it never \
             existed or was lost"
        ),
    );
    let hint = format!(
        "if this store never had a namespace of this name, give --fresh: nodes are granted at once. \
         If the store lost one, processes may still be generating IDs under its leases: give --lost \
         WINDOW,AHEAD,SKEW with its bounds (--lost default if they were {}), and nodes are granted \
         when all those leases have ended. If you do not know, give --lost the largest bounds that \
         it can have had",
        typed(&Bounds::of(layout))
    );
    Failure::hinted(error, hint)
}

#[derive(Serialize)]
struct Description<'a> {
    namespace: &'a str,
    created: bool,
    layout: String,
    block_bits: u32,
    max_window_ms: u64,
    max_ahead_ms: u64,
    max_skew_ms: u64,
    quiet_ms: u64,
    history: bool,
    /// How long nothing is granted.
    wait_ms: u64,
}

impl<'a> Description<'a> {
    fn new(kept: &'a Namespace, created: bool, wait_ms: u64) -> Self {
        Self {
            namespace: &kept.name,
            created,
            layout: layout_name(&kept.layout),
            block_bits: kept.block_bits,
            max_window_ms: kept.bounds.max_window_ms,
            max_ahead_ms: kept.bounds.max_ahead_ms,
            max_skew_ms: kept.bounds.max_skew_ms,
            quiet_ms: kept.bounds.quiet_ms,
            history: kept.keeps_history,
            wait_ms,
        }
    }
}
