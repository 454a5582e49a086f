use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use flakeid_lease::protocol::Row;
use flakeid_lease::store::Continuity;
use flakeid_lease::store::operations::Listing;

use super::json::Standing;
use super::summary::Pool;
use crate::format::duration;
use crate::format::id_json::name_of;
use crate::format::table::{Align, Table};
use crate::terminal::output::{BOLD, DIM, sanitize};

const COLUMNS: [(&str, Align); 8] = [
    ("node", Align::Right),
    ("owner", Align::Left),
    ("host", Align::Left),
    ("pid", Align::Right),
    ("state", Align::Left),
    ("fence", Align::Right),
    ("age", Align::Right),
    ("renewed", Align::Right),
];

const NOTHING: &str = "-";

const YELLOW: Style = AnsiColor::Yellow.on_default();

/// The rows that are shown: those that nobody could take now, unless all are wanted.
pub(super) fn shown(listing: &Listing, all: bool) -> impl Iterator<Item = &Row> {
    let now = listing.now;
    listing.rows.iter().filter(move |row| all || Standing::of(row, now) != Standing::Free)
}

/// A namespace for people to read. `name` says which, and where.
pub(super) fn draw(name: &str, listing: &Listing, all: bool) -> String {
    let layout = &listing.namespace.layout;
    let mut text = format!("{BOLD}{name}{BOLD:#}  {DIM}{}{DIM:#}\n\n", name_of(layout));
    let mut table = Table::new(&COLUMNS);
    let mut is_empty = true;
    for row in shown(listing, all) {
        is_empty = false;
        table.row(cells(listing, row), style(Standing::of(row, listing.now)), None);
    }
    if !is_empty {
        text += &table.render();
        text += "\n";
    }
    let _ = writeln!(text, "{}", Pool::of(listing));
    let floor = layout.unix_ms_at(listing.namespace.floor);
    if floor > listing.now {
        let _ = writeln!(
            text,
            "no window starts before its floor, {}",
            duration::relative(floor, listing.now)
        );
    }
    if let Some(doubt) = doubt(listing.continuity) {
        let _ = writeln!(text, "{YELLOW}{doubt}{YELLOW:#}");
    }
    text
}

/// What its operator should know about a store that is not what it was.
const fn doubt(continuity: Continuity) -> Option<&'static str> {
    match continuity {
        Continuity::Same => None,
        Continuity::Restored => Some(
            "the store was restored, failed over or restarted since: no lease in it is renewed, and \
             the next request makes it wait until all of them have ended",
        ),
        Continuity::Foreign => Some(
            "the store's files come from another machine: nothing is granted until \
             `flakeid leases adopt`",
        ),
    }
}

fn cells(listing: &Listing, row: &Row) -> Vec<String> {
    let now = listing.now;
    let mut cells = vec![row.node.to_string()];
    let standing = Standing::of(row, now).name().to_owned();
    if row.grant == 0 {
        cells.extend([NOTHING; 3].map(str::to_owned));
        cells.push(standing);
        cells.extend([NOTHING; 3].map(str::to_owned));
        return cells;
    }
    let named = |text: &str| if text.is_empty() { NOTHING.to_owned() } else { sanitize(text) };
    cells.extend([
        named(&row.owner.name),
        named(&row.owner.host),
        row.owner.pid.to_string(),
        standing,
        duration::relative(listing.namespace.layout.unix_ms_at(row.fence), now),
        duration::shown(now.saturating_sub(row.acquired).max(0).cast_unsigned()),
        duration::relative(row.renewed.min(now), now),
    ]);
    cells
}

const fn style(standing: Standing) -> Style {
    match standing {
        Standing::Held => Style::new(),
        Standing::Expired | Standing::Free => DIM,
        Standing::Quarantined => YELLOW,
    }
}
