//! The holders that go on after a restart of their store, and those that could, as the store's own rows
//! show them.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use flakeid_core::{Clock, SystemClock};
use flakeid_protocol::operations::{self, Listing};
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{Row, State};
use flakeid_stores::Location;

/// How often the rows are read.
const INTERVAL: Duration = Duration::from_millis(50);

/// What a row must have left for its holder to be able to go on: only the leases of patient workers are
/// so long, while they are renewed.
const LEFT_MS: i64 = 2_000;

/// What the rows have shown so far.
#[derive(Default)]
pub(crate) struct Observed {
    continuations: AtomicU64,
    able: AtomicU64,
}

impl Observed {
    /// How many holders went on: at least so many, because what was given back or lost again between two
    /// readings is missed.
    pub(crate) fn continuations(&self) -> u64 {
        self.continuations.load(Ordering::SeqCst)
    }

    #[cfg(test)]
    pub(crate) fn set_continuations(&self, count: u64) {
        self.continuations.store(count, Ordering::SeqCst);
    }

    /// How many holders could go on if the store were restarted now; 0 while its rows cannot be read.
    pub(crate) fn able(&self) -> u64 {
        self.able.load(Ordering::SeqCst)
    }
}

/// What is known of a node's holder.
struct Holder {
    start: u64,
    incarnation: String,
    /// The namespace's floor then. It rises with every incarnation, and only an older copy of the data
    /// has a lower one.
    floor: u64,
}

/// The holders by node, and how often one of them went on.
#[derive(Default)]
struct Continuations {
    holders: HashMap<u64, Holder>,
    count: u64,
}

impl Continuations {
    /// A grant is known by its node and its start, which no two grants have in common. If it was of one
    /// incarnation and is now of a later one, its holder renewed it in between.
    fn note(&mut self, listing: &Listing) {
        let (incarnation, floor) = (&listing.namespace.incarnation, listing.namespace.floor);
        let present = listing
            .rows
            .iter()
            .filter(|row| row.state == State::Held && row.incarnation == *incarnation);
        for row in present {
            if let Some(before) = self.holders.get(&row.node)
                && before.start == row.start
            {
                if floor <= before.floor {
                    continue;
                }
                self.count += u64::from(before.incarnation != *incarnation);
            }
            let holder = Holder { start: row.start, incarnation: incarnation.clone(), floor };
            self.holders.insert(row.node, holder);
        }
    }
}

/// The holders that were granted any node, renewed it lately, and have time left.
fn able(listing: &Listing) -> u64 {
    let Listing { namespace, rows, now, .. } = listing;
    let max_skew = namespace.bounds.max_skew_ms.cast_signed();
    let is_able = |row: &&Row| {
        row.state == State::Held
            && !row.fixed
            && row.incarnation == namespace.incarnation
            && row.expires >= now + LEFT_MS
            // Not by a clock that is far ahead.
            && row.renewed <= now + max_skew
    };
    rows.iter().filter(is_able).count() as u64
}

/// Reads the rows of a namespace until it is over.
///
/// # Errors
/// If the rows could not be read once.
pub(crate) fn observe(
    url: &str,
    namespace: &str,
    observed: &Observed,
    is_over: impl Fn() -> bool,
) -> io::Result<()> {
    let location = Location::parse(url).map_err(io::Error::other)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let (mut store, mut seen) = (None, Continuations::default());
    let mut readings = 0_u64;
    let mut last_fault = None;
    while !is_over() {
        match read(&mut store, || location.connect(&clock), namespace) {
            Ok(listing) => {
                readings += 1;
                seen.note(&listing);
                observed.continuations.store(seen.count, Ordering::SeqCst);
                observed.able.store(able(&listing), Ordering::SeqCst);
            }
            // Faults are injected into it, so it is asked again.
            Err(fault) => {
                store = None;
                observed.able.store(0, Ordering::SeqCst);
                last_fault = Some(fault);
            }
        }
        thread::sleep(INTERVAL);
    }
    match last_fault {
        Some(fault) if readings == 0 => {
            Err(io::Error::other(format!("the store's rows were never read: {fault}")))
        }
        _ => Ok(()),
    }
}

fn read(
    store: &mut Option<Box<dyn Store>>,
    connect: impl FnOnce() -> Result<Box<dyn Store>, Fault>,
    namespace: &str,
) -> Result<Listing, Fault> {
    let store = match store {
        Some(store) => store,
        none => none.insert(connect()?),
    };
    operations::list(&mut **store, namespace)
}

#[cfg(test)]
mod tests {
    use flakeid_protocol::store::Continuity;
    use flakeid_protocol::{Namespace, Owner};

    use super::*;
    use crate::ids::LAYOUT;

    /// The namespace's incarnation and floor, and the start and incarnation of one row.
    fn listing(incarnation: &str, floor: u64, (start, of_row): (u64, &str)) -> Listing {
        let incarnation = incarnation.to_owned();
        let namespace = Namespace { incarnation, floor, ..Namespace::new("test", LAYOUT) };
        let row = Row {
            node: 3,
            fence: start + 10,
            start,
            token: None,
            grant: 1,
            state: State::Held,
            owner: Owner::default(),
            acquired: 0,
            renewed: 0,
            expires: 0,
            incarnation: of_row.to_owned(),
            fixed: false,
            history_until: 0,
        };
        Listing { namespace, rows: vec![row], now: 0, continuity: Continuity::Same }
    }

    fn counted(listings: &[Listing]) -> u64 {
        let mut seen = Continuations::default();
        for listing in listings {
            seen.note(listing);
        }
        seen.count
    }

    #[test]
    fn grant_renewed_in_a_later_incarnation_is_counted_once() {
        let went_on = [
            listing("a", 1, (5, "a")),
            listing("b", 2, (5, "a")),
            listing("b", 2, (5, "b")),
            listing("b", 2, (5, "b")),
        ];
        assert_eq!(counted(&went_on), 1);
    }

    #[test]
    fn new_grants_and_older_copies_are_not_counted_as_continuations() {
        assert_eq!(counted(&[listing("a", 1, (5, "a")), listing("b", 2, (9, "b"))]), 0);
        let put_back =
            [listing("b", 2, (5, "b")), listing("a", 1, (5, "a")), listing("b", 2, (5, "b"))];
        assert_eq!(counted(&put_back), 0);
        let twice = [
            listing("a", 1, (5, "a")),
            listing("b", 2, (5, "b")),
            listing("a", 1, (5, "a")),
            listing("c", 3, (5, "c")),
        ];
        assert_eq!(counted(&twice), 2);
    }

    #[test]
    fn holders_with_recently_renewed_unexpired_rows_can_continue() {
        let able_if = |change: fn(&mut Row)| {
            let mut listing = listing("b", 2, (5, "b"));
            listing.now = 10_000;
            let row = &mut listing.rows[0];
            (row.renewed, row.expires) = (9_900, 13_100);
            change(row);
            able(&listing)
        };
        assert_eq!(able_if(|_| {}), 1);
        assert_eq!(able_if(|row| row.expires = 11_900), 0, "it is late");
        assert_eq!(able_if(|row| row.renewed = 40_000), 0, "renewed by a clock that was ahead");
        assert_eq!(able_if(|row| row.fixed = true), 0);
        assert_eq!(able_if(|row| row.state = State::Free), 0);
        assert_eq!(able_if(|row| row.incarnation = "a".into()), 0);
    }
}
