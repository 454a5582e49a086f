//! `flakeid leases watch`: shows nodes and their holders until the user interrupts the command.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use flakeid_core::ErrorKind;
use flakeid_protocol::Row;
use flakeid_protocol::operations::Listing;

use super::args::WatchArgs;
use super::json::{LeaseStatus, NodeJson};
use super::ls;
use crate::failure::{Failure, Outcome};
use crate::store::{Leases, Source};
use crate::terminal;

const INTERVAL: Duration = Duration::from_secs(1);

/// The escape sequence that moves the cursor to the top left and clears the screen.
const CLEAR: &str = "\x1b[H\x1b[J";

pub(super) fn run(args: &WatchArgs) -> Outcome {
    let mut source = args.store.connect_to_read()?;
    if terminal::is_terminal() && !args.json {
        redraw(args, &mut source)
    } else {
        report(args, &mut source)
    }
}

fn redraw(args: &WatchArgs, source: &mut Source) -> Outcome {
    let name = source.name();
    let mut table = ls::draw(&name, &source.leases()?, args.all);
    let mut problem = String::new();
    loop {
        // The output does not go through the stream that removes colours, because that stream would
        // also remove the escape sequence that clears the screen.
        io::stdout().write_all(CLEAR.as_bytes())?;
        terminal::show(&format!("{table}{problem}"))?;
        thread::sleep(INTERVAL);
        problem.clear();
        match next(args, source) {
            Ok(leases) => table = ls::draw(&name, &leases, args.all),
            Err(Failure::Refused { error, .. }) if error.kind() == ErrorKind::StoreUnavailable => {
                problem = format!("\nthis is the last known state ({}: {error})\n", error.code());
            }
            Err(failure) => return Err(failure),
        }
    }
}

fn report(args: &WatchArgs, source: &mut Source) -> Outcome {
    let mut last = Reported { rows: BTreeMap::new(), all: args.all, is_first: true };
    let mut listed = Ok(source.leases()?);
    let mut is_lost = false;
    loop {
        match listed {
            Ok(leases) => {
                is_lost = false;
                last.report(&leases.listing)?;
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
        if terminal::reader_has_closed() {
            return Err(Failure::NoReader);
        }
        listed = next(args, source);
    }
}

/// Returns the next listing. If the store is unavailable, reconnects to the store and tries once
/// more.
fn next(args: &WatchArgs, source: &mut Source) -> Result<Leases, Failure> {
    let failure = match source.leases() {
        Ok(leases) => return Ok(leases),
        Err(failure) => failure,
    };
    if let Failure::Refused { error, .. } = &failure
        && error.kind() == ErrorKind::StoreUnavailable
    {
        *source = args.store.connect_to_read()?;
        return source.leases();
    }
    Err(failure)
}

/// The last reported state of each node.
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

/// Returns the event that changed a node, or `None` if the node is unchanged.
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
