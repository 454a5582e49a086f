//! The plan for a migration: the namespace's layout and floor, derived from the last IDs that another library issued.

use flakeid_core::{Clock, Error, Id, Layout, Parts, Rfc3339, SystemClock};
use flakeid_json::layout_name;

use super::libraries::Origin;
use crate::failure::Failure;
use crate::format::duration;
use crate::terminal;

/// The longest plausible time, in milliseconds, by which an ID can be ahead of the clock. An ID that appears to be
/// further ahead probably has a different layout.
const FARTHEST_AHEAD_MS: i64 = 24 * 3_600_000;

/// One of the last IDs that another library generated.
pub(super) struct LastId {
    pub(super) id: Id,
    pub(super) parts: Parts,
    pub(super) time: Rfc3339,
}

impl LastId {
    fn new(id: Id, origin: &Layout) -> Result<Self, Failure> {
        let parts = origin.unpack(id).map_err(|error| Failure::hinted(error, guess_hint(id)))?;
        Ok(Self { id, parts, time: origin.timestamp(parts.unix_ms) })
    }
}

/// The planned changes of a migration.
pub(super) struct Plan {
    pub(super) last: Vec<LastId>,
    /// The layout of the namespace.
    pub(super) layout: Layout,
    /// The first tick in which flakeid may generate IDs. All IDs in this tick are larger than the last IDs from the
    /// other library.
    pub(super) floor: u64,
}

impl Plan {
    /// Builds the plan for a migration. `layout` is the namespace's layout, or `None` if the namespace keeps the layout
    /// of the other library.
    pub(super) fn new(
        origin: &Origin,
        ids: &[Id],
        layout: Option<Layout>,
    ) -> Result<Self, Failure> {
        let layout = layout.unwrap_or(origin.layout);
        let now = SystemClock.unix_ms();
        let last = ids.iter().map(|id| LastId::new(*id, &origin.layout));
        let last = last.collect::<Result<Vec<_>, _>>()?;
        for one in &last {
            check_time(one, origin, now)?;
        }
        let floors = ids.iter().map(|id| above(*id, &layout));
        // clap ensures that at least one ID is specified.
        let floor = floors.collect::<Result<Vec<_>, _>>()?.into_iter().max().unwrap_or(0);
        if layout.tick_at(now).is_err() {
            let reason = format!(
                "the layout {} cannot generate IDs now: its ticks end at {}; choose another with \
                 --layout, such as --layout twitter",
                layout_name(&layout),
                layout.timestamp(layout.horizon())
            );
            return Err(Error::invalid_option("--layout", &reason).into());
        }
        check_floor(&layout, floor, now)?;
        Ok(Self { last, layout, floor })
    }

    /// The earliest time at which a window can start.
    pub(super) fn floor_time(&self) -> Rfc3339 {
        self.layout.timestamp(self.layout.unix_ms_at(self.floor))
    }
}

fn above(id: Id, layout: &Layout) -> Result<u64, Failure> {
    layout.tick_above(id).ok_or_else(|| {
        let reason = format!(
            "all IDs of the layout {} are smaller than {id}, so tables would lose their order; \
             choose another one with --layout",
            layout_name(layout)
        );
        Error::invalid_option("--layout", &reason).into()
    })
}

/// Checks that the floor is not far in the future. The same number can be a current ID in one layout and an ID from the
/// distant future in another layout. A floor in the distant future would prevent all grants until that time, and a
/// floor cannot be lowered.
fn check_floor(layout: &Layout, floor: u64, now: i64) -> Result<(), Failure> {
    let start = layout.unix_ms_at(floor);
    if start.saturating_sub(now) <= FARTHEST_AHEAD_MS {
        return Ok(());
    }
    let reason = format!(
        "IDs of the layout {} are larger than the last ID only from {} on, {}; choose a layout with \
         an earlier epoch",
        layout_name(layout),
        layout.timestamp(start),
        duration::relative(start, now)
    );
    Err(Error::invalid_option("--layout", &reason).into())
}

fn check_time(last: &LastId, origin: &Origin, now: i64) -> Result<(), Failure> {
    let LastId { id, parts, time } = last;
    let ahead = parts.unix_ms.saturating_sub(now);
    if ahead > FARTHEST_AHEAD_MS {
        let reason = format!(
            "in the layout {}, {id} would be from {time} ({}), more than a day ahead of this host's \
             clock",
            layout_name(&origin.layout),
            duration::relative(parts.unix_ms, now)
        );
        let error = Error::invalid_option("--last-id", &reason);
        return Err(Failure::hinted(error, guess_hint(*id)));
    }
    if ahead > 0 && !origin.library.is_some_and(|library| library.runs_ahead) {
        terminal::warning(&format!(
            "{id} is from {time}, which is later than this host's clock: no leases are granted until then"
        ));
    }
    Ok(())
}

fn guess_hint(id: Id) -> String {
    format!(
        "`flakeid inspect --guess {id}` shows which layouts the ID can have. If the library uses \
         another epoch or other widths, give them to --from as a descriptor, such as \
         t41.n10.s12@2020-01-01T00:00:00Z/1ms"
    )
}
