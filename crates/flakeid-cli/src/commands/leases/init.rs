//! `flakeid leases init`: creates a namespace.

use std::time::Duration;

use flakeid::NamespaceBuilder;
use flakeid_core::{Error, Layout, whole_ms};
use flakeid_protocol::{Bounds, Namespace};
use serde::Serialize;

use super::args::InitArgs;
use crate::failure::{Failure, Outcome, spelled};
use crate::format::{duration, number};
use crate::terminal;
use flakeid_json::layout_name;

/// The age up to which restored data may go unnoticed unless the operator allows more, in milliseconds.
const LONGEST_UNNOTICED_MS: u64 = 300_000;

pub(super) fn run(args: &InitArgs) -> Outcome {
    let layout = args.layout.resolve()?;
    let (namespace, location) = (args.store.namespace()?, args.store.location()?);
    let builder = NamespaceBuilder::from_location(location.clone(), &namespace, layout);
    let mut builder = with_options(builder, args, &layout)?;
    builder.check()?;
    let bounds = builder.bounds();
    let unnoticed_ms = location.unnoticed_age_ms(&bounds).unwrap_or(0);
    if unnoticed_ms > LONGEST_UNNOTICED_MS && !args.long_windows {
        let unnoticed = duration::exact(unnoticed_ms);
        return Err(Error::invalid_option(
            "--max-window",
            &format!(
                "with these bounds, this store would not notice that its data were replaced with data up to \
                 {unnoticed} old, and would grant nodes twice: choose --max-window + 2 x --max-skew of at most 5 min, \
                 or add --long-windows"
            ),
        )
        .into());
    }
    if bounds.continuation_ms() < bounds.max_window_ms {
        terminal::warning(
            "--quiet minus four times --max-skew is shorter than --max-window: after a restart of the \
             store, some processes must wait for another node",
        );
    }
    let mut connection = args.store.connect_or_create()?;
    let is_decided = args.fresh || args.lost.is_some() || connection.detects_its_losses();
    if !is_decided {
        // The store may lose the namespace before the next transaction.
        builder = match connection.find()? {
            Some(found) => builder.lost(found.namespace.bounds),
            None => return Err(undecided(&connection.name(), &layout)),
        };
    }
    let created = connection.create(&builder)?;
    let (namespace, existed) = (created.namespace, !created.is_new);
    if existed && args.lost.is_some() {
        terminal::warning(
            "the namespace already exists, so --lost has no effect: to wait for leases that the \
             store has lost, use `flakeid leases fast-forward`",
        );
    }
    let wait_ms = whole_ms(created.wait);
    if args.json || !terminal::is_terminal() {
        return Ok(terminal::show_json([Description::new(&namespace, !existed, wait_ms)])?);
    }
    let wait = match wait_ms {
        0 => String::new(),
        ms if existed => format!("no leases will be granted for another {}\n", duration::shown(ms)),
        ms => format!(
            "no leases will be granted for {}; by then, all leases that the store has lost will have ended\n",
            duration::shown(ms)
        ),
    };
    let verb = if existed { "already exists" } else { "created" };
    let bounds = &namespace.bounds;
    let text = format!(
        "{}: {verb}\nlayout {}{}, windows up to {}, ahead up to {}, clocks apart up to {}, quiet for {} \
         after a restart, {} history\n{wait}",
        connection.name(),
        layout_name(&namespace.layout),
        match namespace.block_bits {
            0 => String::new(),
            bits => format!(", leased by brokers in blocks of {} nodes", 1_u64 << bits),
        },
        duration::exact(bounds.max_window_ms),
        duration::exact(bounds.max_ahead_ms),
        duration::exact(bounds.max_skew_ms),
        duration::exact(bounds.quiet_ms),
        if namespace.keeps_history { "with a" } else { "without a" },
    );
    Ok(terminal::show(&text)?)
}

fn with_options(
    mut builder: NamespaceBuilder,
    args: &InitArgs,
    layout: &Layout,
) -> Result<NamespaceBuilder, Error> {
    type Set = fn(NamespaceBuilder, Duration) -> NamespaceBuilder;
    for (option, text, set) in [
        ("--max-window", &args.max_window, NamespaceBuilder::max_window as Set),
        ("--max-ahead", &args.max_ahead, NamespaceBuilder::max_ahead),
        ("--max-skew", &args.max_skew, NamespaceBuilder::max_skew),
        ("--quiet", &args.quiet, NamespaceBuilder::quiet),
    ] {
        if let Some(text) = text {
            builder = set(builder, Duration::from_millis(duration::parse(option, text)?));
        }
    }
    if args.no_history {
        builder = builder.history(false);
    }
    if let Some(text) = &args.block_bits {
        builder = builder.block_bits(number::parse("block-bits", text, 0, 63)?);
    }
    if let Some(text) = &args.lost {
        builder = builder.lost(lost_bounds(text, layout)?);
    }
    Ok(builder.fresh(args.fresh))
}

const LOST: &str = "--lost";

/// Parses the bounds of a lost namespace: `default`, or values such as `1h,20s,1s`. A fourth value specifies the quiet
/// time. If the fourth value is absent, the default quiet time is computed from the three other bounds.
fn lost_bounds(text: &str, layout: &Layout) -> Result<Bounds, Error> {
    if text == "default" {
        return Ok(Bounds::of(layout));
    }
    let parts: Vec<&str> = text.split(',').collect();
    let ([window, ahead, skew, quiet @ ..], 3..=4) = (&parts[..], parts.len()) else {
        let reason = format!(
            "{text:?} is not WINDOW,AHEAD,SKEW: write the three bounds of the namespace that was \
             lost, such as {}, or default",
            lost_value(&Bounds::of(layout))
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
    // A namespace with this layout cannot have had invalid bounds, so invalid bounds are reported as an error in the
    // option.
    let checked = lost.check(layout);
    checked.map_err(|error| Error::invalid_option(LOST, &spelled(&error))).map(|()| lost)
}

/// Formats bounds in the syntax that `--lost` accepts.
fn lost_value(bounds: &Bounds) -> String {
    let time = |ms: u64| match ms % 1000 {
        0 => format!("{}s", ms / 1000),
        _ => format!("{ms}ms"),
    };
    let Bounds { max_window_ms, max_ahead_ms, max_skew_ms, .. } = *bounds;
    [max_window_ms, max_ahead_ms, max_skew_ms].map(time).join(",")
}

/// Returns the error that is reported if a namespace does not exist and the user has specified neither `--fresh` nor
/// `--lost`.
fn undecided(name: &str, layout: &Layout) -> Failure {
    let error = Error::invalid_option(
        "--fresh, --lost",
        &format!(
            "give one of them: {name} does not exist, and the store cannot detect whether it never \
             existed or was lost"
        ),
    );
    let hint = format!(
        "if this store never had a namespace of this name, give --fresh: nodes are granted at once. \
         If the store lost one, processes may still be generating IDs under its leases: give --lost \
         WINDOW,AHEAD,SKEW with its bounds (--lost default if they were {}), and nodes are granted \
         when all those leases have ended. If you do not know, give --lost the largest bounds that \
         it may have had",
        lost_value(&Bounds::of(layout))
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
    /// The time, in milliseconds, until the store can grant nodes.
    wait_ms: u64,
}

impl<'a> Description<'a> {
    fn new(namespace: &'a Namespace, created: bool, wait_ms: u64) -> Self {
        Self {
            namespace: &namespace.name,
            created,
            layout: layout_name(&namespace.layout),
            block_bits: namespace.block_bits,
            max_window_ms: namespace.bounds.max_window_ms,
            max_ahead_ms: namespace.bounds.max_ahead_ms,
            max_skew_ms: namespace.bounds.max_skew_ms,
            quiet_ms: namespace.bounds.quiet_ms,
            history: namespace.keeps_history,
            wait_ms,
        }
    }
}
