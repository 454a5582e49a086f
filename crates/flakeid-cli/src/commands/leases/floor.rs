//! `flakeid leases touch`, which records the store's run, and `flakeid leases fast-forward` and
//! `flakeid leases adopt`, which raise the floor of a namespace. No window starts before the floor.

use flakeid_core::{Error, Rfc3339};
use flakeid_json::parse_instant;
use flakeid_protocol::operations::Listing;
use flakeid_protocol::{Namespace, State};

use super::args::{AdoptArgs, FastForwardArgs, TouchArgs};
use crate::failure::Outcome;
use crate::format::duration;
use crate::terminal;

/// Records the store's run in the namespace.
pub(super) fn touch(args: &TouchArgs) -> Outcome {
    let mut connection = args.store.connect()?;
    let waits = match connection.touch()? {
        0 => "now".to_owned(),
        ms => format!("in {}", duration::shown(ms)),
    };
    Ok(terminal::show(&format!("{}: grants nodes {waits}\n", connection.name()))?)
}

pub(super) fn fast_forward(args: &FastForwardArgs) -> Outcome {
    let mut connection = args.store.connect()?;
    let listing = connection.list()?;
    let target = target(args, listing.now)?;
    let tick = tick_not_before(&listing.namespace, target)?;
    let (name, floor) = (connection.name(), listing.namespace.floor);
    if tick <= floor {
        let floor = time_of(&listing.namespace, floor);
        let text = format!("the floor of {name} is already at {floor}: nothing to do\n");
        return Ok(terminal::show(&text)?);
    }
    confirm(args, &name, &listing, tick)?;
    let namespace = connection.fast_forward(tick)?;
    let floor = time_of(&namespace, namespace.floor);
    Ok(terminal::show(&format!("{name}: new leases issue IDs from {floor} on\n"))?)
}

pub(super) fn adopt(args: &AdoptArgs) -> Outcome {
    let mut connection = args.store.connect()?;
    let listing = connection.list()?;
    let name = connection.name();
    let holders = listing.rows.iter().filter(|row| row.state == State::Held).count();
    let bounds = &listing.namespace.bounds;
    // The longest possible time from now until the end of any window that has been granted so far.
    let reach = bounds
        .max_window_ms
        .saturating_add(bounds.max_ahead_ms)
        .saturating_add(bounds.max_skew_ms.saturating_mul(3));
    args.confirm.ask(&format!(
        "this assigns {name} to this machine. All leases in it end ({holders} now), and no \
         window starts for {}, until every window that was ever granted is over. Do this only if \
         the store from which it was copied is out of use.",
        duration::shown(reach)
    ))?;
    let namespace = connection.adopt()?;
    let floor = time_of(&namespace, namespace.floor);
    Ok(terminal::show(&format!("{name}: adopted; new leases issue IDs from {floor} on\n"))?)
}

fn target(args: &FastForwardArgs, now: i64) -> Result<i64, Error> {
    if let Some(text) = &args.to {
        return parse_instant("--to", text);
    }
    // clap ensures that either `--to` or `--by` is specified.
    let ms = duration::parse("--by", args.by.as_deref().unwrap_or_default())?;
    Ok(now.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)))
}

/// Returns the first tick that starts at or after an instant. A tick that starts before the instant
/// may contain IDs that have already been generated.
fn tick_not_before(namespace: &Namespace, unix_ms: i64) -> Result<u64, Error> {
    let layout = &namespace.layout;
    let tick = layout.tick_at(unix_ms)?;
    if layout.unix_ms_at(tick) == unix_ms {
        return Ok(tick);
    }
    layout.tick_at(unix_ms.saturating_add(layout.unit_ms().cast_signed()))
}

fn confirm(args: &FastForwardArgs, name: &str, listing: &Listing, tick: u64) -> Outcome {
    let Listing { namespace, rows, now, .. } = listing;
    let holders = rows.iter().filter(|row| row.state == State::Held).count();
    let floor = namespace.layout.unix_ms_at(tick);
    let ahead = i64::try_from(namespace.bounds.max_ahead_ms).unwrap_or(i64::MAX);
    let granting = floor.saturating_sub(ahead);
    let pause = if granting > *now {
        format!(
            "The next node will be granted {} at the earliest. ",
            duration::relative(granting, *now)
        )
    } else {
        String::new()
    };
    args.confirm.ask(&format!(
        "this prevents windows of {name} from starting before {}. {pause}Processes that hold a node ({holders} \
         in all) may use up their windows, and must then lease a node again. This is irreversible.",
        time_of(namespace, tick)
    ))
}

fn time_of(namespace: &Namespace, tick: u64) -> Rfc3339 {
    namespace.layout.timestamp(namespace.layout.unix_ms_at(tick))
}
