//! `flakeid leases ls`: lists the nodes of a namespace as JSON or as a table. `flakeid leases
//! watch` draws the same table.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use flakeid_protocol::Row;
use flakeid_protocol::operations::Listing;
use flakeid_protocol::store::Continuity;

use super::args::LsArgs;
use super::json::{LeaseStatus, NodeJson};
use super::summary::Summary;
use crate::failure::Outcome;
use crate::format::table::{Align, Table};
use crate::format::{BOLD, DIM, duration, sanitize};
use crate::store::Leases;
use crate::terminal;
use flakeid_json::layout_name;

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

pub(super) fn run(args: &LsArgs) -> Outcome {
    let mut source = args.store.connect_to_read()?;
    let leases = source.leases()?;
    if terminal::is_terminal() && !args.json {
        return Ok(terminal::show(&draw(&source.name(), &leases, args.all))?);
    }
    let listing = leases.listing;
    let rows = shown(&listing, args.all).map(|row| NodeJson::new(&listing, row, None));
    Ok(terminal::show_json(rows)?)
}

/// Returns the rows to show, including free nodes only if `all` is set.
fn shown(listing: &Listing, all: bool) -> impl Iterator<Item = &Row> {
    let now = listing.now;
    listing.rows.iter().filter(move |row| all || LeaseStatus::new(row, now) != LeaseStatus::Free)
}

/// Renders the nodes of a namespace for a terminal. `name` contains the names of the namespace and
/// the store.
pub(super) fn draw(name: &str, leases: &Leases, all: bool) -> String {
    let listing = &leases.listing;
    let layout = &listing.namespace.layout;
    let mut text = format!("{BOLD}{name}{BOLD:#}  {DIM}{}{DIM:#}\n\n", layout_name(layout));
    let mut table = Table::new(&COLUMNS);
    let mut is_empty = true;
    for row in shown(listing, all) {
        is_empty = false;
        table.row(cells(listing, row), style(LeaseStatus::new(row, listing.now)), None);
    }
    if !is_empty {
        text += &table.render();
        text += "\n";
    }
    let _ = writeln!(text, "{}", Summary::new(leases));
    let floor = layout.unix_ms_at(listing.namespace.floor);
    if floor > listing.now {
        let _ = writeln!(
            text,
            "new leases issue IDs from {} on",
            duration::relative(floor, listing.now)
        );
    }
    if let Some(warning) = data_warning(&listing.continuity) {
        let _ = writeln!(text, "{YELLOW}{warning}{YELLOW:#}");
    }
    text
}

/// Returns a warning for the operator if the store's data may be out of date.
fn data_warning(continuity: &Continuity) -> Option<String> {
    match continuity {
        Continuity::Same => None,
        Continuity::Restored => Some(
            "the store was restored, failed over or restarted: its leases cannot be renewed, and from \
             the next request on, nothing is granted until all of them have ended"
                .into(),
        ),
        Continuity::Foreign(why) => {
            Some(format!("{why}: nothing is granted until you run `flakeid leases adopt`"))
        }
    }
}

fn cells(listing: &Listing, row: &Row) -> Vec<String> {
    let now = listing.now;
    let mut cells = vec![row.node.to_string()];
    let status = LeaseStatus::new(row, now).name().to_owned();
    if row.grant == 0 {
        cells.extend([NOTHING; 3].map(str::to_owned));
        cells.push(status);
        cells.extend([NOTHING; 3].map(str::to_owned));
        return cells;
    }
    let named = |text: &str| if text.is_empty() { NOTHING.to_owned() } else { sanitize(text) };
    cells.extend([
        named(&row.owner.name),
        named(&row.owner.host),
        row.owner.pid.to_string(),
        status,
        duration::relative(listing.namespace.layout.unix_ms_at(row.fence), now),
        duration::shown(now.saturating_sub(row.acquired).max(0).cast_unsigned()),
        duration::relative(row.renewed.min(now), now),
    ]);
    cells
}

const fn style(status: LeaseStatus) -> Style {
    match status {
        LeaseStatus::Held => Style::new(),
        LeaseStatus::Expired | LeaseStatus::Free => DIM,
        LeaseStatus::Quarantined => YELLOW,
    }
}
