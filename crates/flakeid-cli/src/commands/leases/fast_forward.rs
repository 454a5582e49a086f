//! `flakeid leases fast-forward`

use flakeid_core::{Error, Rfc3339};
use flakeid_lease::protocol::{Namespace, State};
use flakeid_lease::store::operations::Listing;

use super::args::FastForwardArgs;
use crate::failure::Outcome;
use crate::format::duration;
use crate::format::instant;
use crate::terminal::output;

pub(super) fn run(args: &FastForwardArgs) -> Outcome {
    let mut connection = args.store.connect()?;
    let listing = connection.list()?;
    let target = target(args, listing.now)?;
    let tick = tick_not_before(&listing.namespace, target)?;
    let (name, floor) = (connection.name(), listing.namespace.floor);
    if tick <= floor {
        let floor = at(&listing.namespace, floor);
        let text = format!("{name} has its floor at {floor} already: nothing to do\n");
        return Ok(output::show(&text)?);
    }
    consent_to(args, &name, &listing, tick)?;
    let kept = connection.fast_forward(tick)?;
    let floor = at(&kept, kept.floor);
    Ok(output::show(&format!("{name}: no window starts before {floor} now\n"))?)
}

fn target(args: &FastForwardArgs, now: i64) -> Result<i64, Error> {
    if let Some(text) = &args.to {
        return instant::parse("--to", text);
    }
    // One of the two is there: clap sees to that.
    let ms = duration::parse("--by", args.by.as_deref().unwrap_or_default())?;
    Ok(now.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)))
}

/// Rounded up: the instant itself must not be granted if it lies within a tick.
fn tick_not_before(namespace: &Namespace, unix_ms: i64) -> Result<u64, Error> {
    let layout = &namespace.layout;
    let tick = layout.tick_at(unix_ms)?;
    if layout.unix_ms_at(tick) == unix_ms {
        return Ok(tick);
    }
    layout.tick_at(unix_ms.saturating_add(layout.unit_ms().cast_signed()))
}

fn consent_to(args: &FastForwardArgs, name: &str, listing: &Listing, tick: u64) -> Outcome {
    let Listing { namespace, rows, now, .. } = listing;
    let holders = rows.iter().filter(|row| row.state == State::Held).count();
    let floor = namespace.layout.unix_ms_at(tick);
    let ahead = i64::try_from(namespace.bounds.max_ahead_ms).unwrap_or(i64::MAX);
    let granting = floor.saturating_sub(ahead);
    let pause = if granting > *now {
        format!("Nobody gets a node before that is near: {}. ", duration::relative(granting, *now))
    } else {
        String::new()
    };
    args.consent.obtain(&format!(
        "this lets no window of {name} start before {}. {pause}Whoever holds a node ({holders} in \
         all) may use its window up and then has to get another. This cannot be taken back.",
        at(namespace, tick)
    ))
}

fn at(namespace: &Namespace, tick: u64) -> Rfc3339 {
    namespace.layout.timestamp(namespace.layout.unix_ms_at(tick))
}
