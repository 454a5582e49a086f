//! `flakeid leases init`

use std::io::Write;

use flakeid_core::{Clock, Error, SystemClock};
use flakeid_lease::protocol::{Bounds, Namespace, rules};
use serde::Serialize;

use super::args::InitArgs;
use crate::failure::Outcome;
use crate::format::duration;
use crate::format::id_json::name_of;
use crate::terminal::output;

pub(super) fn run(args: &InitArgs) -> Outcome {
    let layout = args.layout.resolve()?;
    let mut wanted = Namespace::new(&args.store.namespace()?, layout);
    wanted.bounds = bounds(args, wanted.bounds)?;
    wanted.bounds.check(&layout)?;
    wanted.keeps_history = !args.no_history;
    let mut connection = args.store.connect_or_make()?;
    connection.prepare()?;
    let existed = connection.find()?.is_some();
    let kept = connection.init(&wanted, args.fresh)?;
    if existed && (kept.bounds != wanted.bounds || kept.keeps_history != wanted.keeps_history) {
        output::warning("the namespace exists already, and its options stay as they are");
    }
    if args.json || !output::is_terminal() {
        let mut out = output::stream();
        output::json_line(&mut out, &Description::new(&kept, !existed))?;
        out.flush()?;
        return Ok(());
    }
    let wait_ms = if existed { 0 } else { rules::wait_for_floor(&kept, SystemClock.unix_ms()) };
    let wait = match wait_ms {
        0 => String::new(),
        ms => format!(
            "grants begin in {}, in case the store has lost a namespace of this name (--fresh: it has not)\n",
            duration::exact(ms)
        ),
    };
    let verb = if existed { "exists already" } else { "created" };
    let bounds = &kept.bounds;
    let text = format!(
        "{}: {verb}\nlayout {}, windows up to {}, ahead up to {}, clocks apart up to {}, {} history\n{wait}",
        connection.name(),
        name_of(&kept.layout),
        duration::exact(bounds.max_window_ms),
        duration::exact(bounds.max_ahead_ms),
        duration::exact(bounds.max_skew_ms),
        if kept.keeps_history { "with a" } else { "without a" },
    );
    Ok(output::show(&text)?)
}

fn bounds(args: &InitArgs, usual: Bounds) -> Result<Bounds, Error> {
    let read = |option, text: &Option<String>, usual| match text {
        Some(text) => duration::parse(option, text),
        None => Ok(usual),
    };
    Ok(Bounds {
        max_window_ms: read("--max-window", &args.max_window, usual.max_window_ms)?,
        max_ahead_ms: read("--max-ahead", &args.max_ahead, usual.max_ahead_ms)?,
        max_skew_ms: read("--max-skew", &args.max_skew, usual.max_skew_ms)?,
    })
}

#[derive(Serialize)]
struct Description<'a> {
    namespace: &'a str,
    created: bool,
    layout: String,
    max_window_ms: u64,
    max_ahead_ms: u64,
    max_skew_ms: u64,
    history: bool,
}

impl<'a> Description<'a> {
    fn new(kept: &'a Namespace, created: bool) -> Self {
        Self {
            namespace: &kept.name,
            created,
            layout: name_of(&kept.layout),
            max_window_ms: kept.bounds.max_window_ms,
            max_ahead_ms: kept.bounds.max_ahead_ms,
            max_skew_ms: kept.bounds.max_skew_ms,
            history: kept.keeps_history,
        }
    }
}
