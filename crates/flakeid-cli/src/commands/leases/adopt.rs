//! `flakeid leases adopt`

use flakeid_lease::protocol::State;

use super::args::AdoptArgs;
use crate::failure::Outcome;
use crate::format::duration;
use crate::terminal::output;

pub(super) fn run(args: &AdoptArgs) -> Outcome {
    let mut connection = args.store.connect()?;
    let listing = connection.list()?;
    let name = connection.name();
    let holders = listing.rows.iter().filter(|row| row.state == State::Held).count();
    let bounds = &listing.namespace.bounds;
    // As far as a window that was granted until now can reach.
    let reach = bounds
        .max_window_ms
        .saturating_add(bounds.max_ahead_ms)
        .saturating_add(bounds.max_skew_ms.saturating_mul(2));
    args.consent.obtain(&format!(
        "this makes this machine the home of {name}. Its {holders} leases end, and no window starts \
         before {} from now, when all that were ever granted are over. Only do this if the store it \
         was copied from is out of use.",
        duration::shown(reach)
    ))?;
    let kept = connection.adopt()?;
    let floor = kept.layout.timestamp(kept.layout.unix_ms_at(kept.floor));
    Ok(output::show(&format!("{name}: adopted; no window starts before {floor}\n"))?)
}
