//! `flakeid leases watch`

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use flakeid_core::ErrorKind;
use flakeid_lease::protocol::Row;
use flakeid_lease::store::operations::Listing;

use super::args::WatchArgs;
use super::json::{Entry, Standing};
use super::view;
use crate::failure::{Failure, Outcome};
use crate::store::Connection;
use crate::terminal::output;

const PAUSE: Duration = Duration::from_secs(1);

/// To the top left, with nothing below.
const TOP: &str = "\x1b[H\x1b[J";

pub(super) fn run(args: &WatchArgs) -> Outcome {
    let mut connection = args.store.connect()?;
    if output::is_terminal() && !args.json {
        redraw(args, &mut connection)
    } else {
        tell(args, &mut connection)
    }
}

fn redraw(args: &WatchArgs, connection: &mut Connection) -> Outcome {
    let name = connection.name();
    let mut table = view::draw(&name, &connection.list()?, args.all);
    let mut trouble = String::new();
    loop {
        // Not through the stream that takes colours out where they are not wanted.
        io::stdout().write_all(TOP.as_bytes())?;
        output::show(&format!("{table}{trouble}"))?;
        thread::sleep(PAUSE);
        trouble.clear();
        match next(args, connection) {
            Ok(listing) => table = view::draw(&name, &listing, args.all),
            Err(Failure::Refused { error, .. }) if error.kind() == ErrorKind::StoreUnavailable => {
                trouble = format!("\nas it was last; {}: {error}\n", error.code());
            }
            Err(failure) => return Err(failure),
        }
    }
}

fn tell(args: &WatchArgs, connection: &mut Connection) -> Outcome {
    let mut last = Shown { rows: BTreeMap::new(), all: args.all, is_first: true };
    let mut listed = Ok(connection.list()?);
    let mut is_lost = false;
    loop {
        match listed {
            Ok(listing) => {
                is_lost = false;
                last.tell(&listing)?;
            }
            Err(Failure::Refused { error, .. }) if error.kind() == ErrorKind::StoreUnavailable => {
                if !is_lost {
                    output::warning(&format!("{}: {error}", error.code()));
                }
                is_lost = true;
            }
            Err(failure) => return Err(failure),
        }
        thread::sleep(PAUSE);
        if output::reader_is_gone() {
            return Err(Failure::NoReader);
        }
        listed = next(args, connection);
    }
}

/// A store that did not answer is connected anew the next time.
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

/// What was told last, by node.
struct Shown {
    rows: BTreeMap<u64, (Row, Standing)>,
    all: bool,
    is_first: bool,
}

impl Shown {
    fn tell(&mut self, listing: &Listing) -> Outcome {
        let mut out = output::stream();
        for row in &listing.rows {
            let standing = Standing::of(row, listing.now);
            let event = match self.rows.get(&row.node) {
                Some((last, stood)) => event((last, *stood), (row, standing)),
                None if !self.all && standing == Standing::Free => continue,
                None if self.is_first => Some("present"),
                None => Some(match standing {
                    Standing::Held | Standing::Expired => "acquired",
                    Standing::Free => "released",
                    Standing::Quarantined => "quarantined",
                }),
            };
            if event.is_some() {
                output::json_line(&mut out, &Entry::new(listing, row, event))?;
            }
            self.rows.insert(row.node, (row.clone(), standing));
        }
        out.flush()?;
        self.is_first = false;
        Ok(())
    }
}

/// What happened to a node, if anything did.
fn event(before: (&Row, Standing), after: (&Row, Standing)) -> Option<&'static str> {
    let ((last, stood), (row, standing)) = (before, after);
    if row.grant != last.grant {
        return Some("acquired");
    }
    if standing == stood {
        return (row != last).then_some("renewed");
    }
    Some(match (standing, stood) {
        (Standing::Quarantined, _) => "quarantined",
        (Standing::Expired, _) => "expired",
        (_, Standing::Quarantined) => "lifted",
        (Standing::Free, _) => "released",
        (Standing::Held, _) => "renewed",
    })
}
