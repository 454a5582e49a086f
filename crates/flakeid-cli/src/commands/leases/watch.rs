//! `flakeid leases watch`

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use flakeid_core::ErrorKind;
use flakeid_lease::protocol::Row;
use flakeid_lease::store::operations::Listing;

use super::args::WatchArgs;
use super::json::{LeaseStatus, NodeJson};
use super::ls;
use crate::failure::{Failure, Outcome};
use crate::store::Connection;
use crate::terminal;

const INTERVAL: Duration = Duration::from_secs(1);

/// Moves the cursor to the top left, and clears everything below.
const CLEAR: &str = "\x1b[H\x1b[J";

pub(super) fn run(args: &WatchArgs) -> Outcome {
    let mut connection = args.store.connect()?;
    if terminal::is_terminal() && !args.json {
        redraw(args, &mut connection)
    } else {
        report(args, &mut connection)
    }
}

fn redraw(args: &WatchArgs, connection: &mut Connection) -> Outcome {
    let name = connection.name();
    let mut table = ls::draw(&name, &connection.list()?, args.all);
    let mut problem = String::new();
    loop {
        // Not through the stream that removes colours, which would remove this too.
        io::stdout().write_all(CLEAR.as_bytes())?;
        terminal::show(&format!("{table}{problem}"))?;
        thread::sleep(INTERVAL);
        problem.clear();
        match next(args, connection) {
            Ok(listing) => table = ls::draw(&name, &listing, args.all),
            Err(Failure::Refused { error, .. }) if error.kind() == ErrorKind::StoreUnavailable => {
                problem = format!("\nthis is the last known state; {}: {error}\n", error.code());
            }
            Err(failure) => return Err(failure),
        }
    }
}

fn report(args: &WatchArgs, connection: &mut Connection) -> Outcome {
    let mut last = Reported { rows: BTreeMap::new(), all: args.all, is_first: true };
    let mut listed = Ok(connection.list()?);
    let mut is_lost = false;
    loop {
        match listed {
            Ok(listing) => {
                is_lost = false;
                last.report(&listing)?;
            }
            Err(Failure::Refused { error, .. }) if error.kind() == ErrorKind::StoreUnavailable => {
                if !is_lost {
                    terminal::warning(&format!("{}: {error}", error.code()));
                }
                is_lost = true;
            }
            Err(failure) => return Err(failure),
        }
        thread::sleep(INTERVAL);
        if terminal::reader_is_gone() {
            return Err(Failure::NoReader);
        }
        listed = next(args, connection);
    }
}

/// The next listing. If the store did not answer, connects again first.
fn next(args: &WatchArgs, connection: &mut Connection) -> Result<Listing, Failure> {
    let failure = match connection.list() {
        Ok(listing) => return Ok(listing),
        Err(failure) => failure,
    };
    if let Failure::Refused { error, .. } = &failure
        && error.kind() == ErrorKind::StoreUnavailable
    {
        *connection = args.store.connect()?;
        return connection.list();
    }
    Err(failure)
}

/// What was reported last, by node.
struct Reported {
    rows: BTreeMap<u64, (Row, LeaseStatus)>,
    all: bool,
    is_first: bool,
}

impl Reported {
    fn report(&mut self, listing: &Listing) -> Outcome {
        let mut out = terminal::stream();
        for row in &listing.rows {
            let status = LeaseStatus::new(row, listing.now);
            let event = match self.rows.get(&row.node) {
                Some((last, last_status)) => event((last, *last_status), (row, status)),
                None if !self.all && status == LeaseStatus::Free => continue,
                None if self.is_first => Some("present"),
                None => Some(match status {
                    LeaseStatus::Held | LeaseStatus::Expired => "acquired",
                    LeaseStatus::Free => "released",
                    LeaseStatus::Quarantined => "quarantined",
                }),
            };
            if event.is_some() {
                terminal::json_line(&mut out, &NodeJson::new(listing, row, event))?;
            }
            self.rows.insert(row.node, (row.clone(), status));
        }
        out.flush()?;
        self.is_first = false;
        Ok(())
    }
}

/// What happened to a node, if anything did.
fn event(before: (&Row, LeaseStatus), after: (&Row, LeaseStatus)) -> Option<&'static str> {
    let ((last, last_status), (row, status)) = (before, after);
    if row.grant != last.grant {
        return Some("acquired");
    }
    if status == last_status {
        return (row != last).then_some("renewed");
    }
    Some(match (status, last_status) {
        (LeaseStatus::Quarantined, _) => "quarantined",
        (LeaseStatus::Expired, _) => "expired",
        (_, LeaseStatus::Quarantined) => "lifted",
        (LeaseStatus::Free, _) => "released",
        (LeaseStatus::Held, _) => "renewed",
    })
}
