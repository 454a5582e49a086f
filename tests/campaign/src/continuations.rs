//! Counts of the holders that continued their leases after a restart of the store, and of the
//! holders that could have continued their leases. The counts are derived from the store's rows.

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

/// The time between two readings of the rows.
const INTERVAL: Duration = Duration::from_millis(50);

/// The rest of a row's TTL that its holder needs in order to continue its lease. Only the long
/// leases reach it, as long as they are renewed.
const LEFT_MS: i64 = 2_000;

/// The counts from the rows so far.
#[derive(Default)]
pub(crate) struct Observed {
    continuations: AtomicU64,
    able: AtomicU64,
}

impl Observed {
    /// The number of holders that continued their leases. The number can be too low, because a node
    /// that was released or lost between two readings is missed.
    pub(crate) fn continuations(&self) -> u64 {
        self.continuations.load(Ordering::SeqCst)
    }

    #[cfg(test)]
    pub(crate) fn set_continuations(&self, count: u64) {
        self.continuations.store(count, Ordering::SeqCst);
    }

    /// The number of holders that could continue their leases if the store restarted now; 0 while
    /// the rows cannot be read.
    pub(crate) fn able(&self) -> u64 {
        self.able.load(Ordering::SeqCst)
    }
}

/// The last known grant of a node.
struct Holder {
    start: u64,
    incarnation: String,
    /// The namespace's floor at that time. It rises with every incarnation, so only an older copy
    /// of the data has a lower one.
    floor: u64,
}

/// The holders by node, and the number of times that a holder continued.
#[derive(Default)]
struct Continuations {
    holders: HashMap<u64, Holder>,
    count: u64,
}

impl Continuations {
    /// Updates the holders from a listing. A grant is identified by its node and its start, which
    /// no two grants share. If the incarnation of a grant is later than before, its holder has
    /// renewed it meanwhile.
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

/// Returns the number of holders that were granted any node, have renewed it recently, and have
/// enough time left.
fn able(listing: &Listing) -> u64 {
    let Listing { namespace, rows, now, .. } = listing;
    let max_skew = namespace.bounds.max_skew_ms.cast_signed();
    let is_able = |row: &&Row| {
        row.state == State::Held
            && !row.fixed
            && row.incarnation == namespace.incarnation
            && row.expires >= now + LEFT_MS
            // A later time would come from a clock that is far ahead.
            && row.renewed <= now + max_skew
    };
    rows.iter().filter(is_able).count() as u64
}

/// Reads the rows of a namespace until the campaign is over.
///
/// # Errors
/// If the rows could never be read.
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
            // A fault is expected, because the campaign injects faults into the store; the next
            // reading reconnects.
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
            Err(io::Error::other(format!("the store's rows could not be read once: {fault}")))
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

    /// Returns a listing with the namespace's incarnation and floor, and with the start and
    /// incarnation of one row.
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
        let continued = [
            listing("a", 1, (5, "a")),
            listing("b", 2, (5, "a")),
            listing("b", 2, (5, "b")),
            listing("b", 2, (5, "b")),
        ];
        assert_eq!(counted(&continued), 1);
    }

    #[test]
    fn new_grants_and_older_copies_are_not_counted_as_continuations() {
        assert_eq!(counted(&[listing("a", 1, (5, "a")), listing("b", 2, (9, "b"))]), 0);
        let restored =
            [listing("b", 2, (5, "b")), listing("a", 1, (5, "a")), listing("b", 2, (5, "b"))];
        assert_eq!(counted(&restored), 0);
        let twice = [
            listing("a", 1, (5, "a")),
            listing("b", 2, (5, "b")),
            listing("a", 1, (5, "a")),
            listing("c", 3, (5, "c")),
        ];
        assert_eq!(counted(&twice), 2);
    }

    #[test]
    fn holders_with_recently_renewed_unexpired_rows_can_continue_their_leases() {
        let able_if = |change: fn(&mut Row)| {
            let mut listing = listing("b", 2, (5, "b"));
            listing.now = 10_000;
            let row = &mut listing.rows[0];
            (row.renewed, row.expires) = (9_900, 13_100);
            change(row);
            able(&listing)
        };
        assert_eq!(able_if(|_| {}), 1);
        assert_eq!(able_if(|row| row.expires = 11_900), 0, "too little time is left");
        assert_eq!(able_if(|row| row.renewed = 40_000), 0, "the clock that renewed it was ahead");
        assert_eq!(able_if(|row| row.fixed = true), 0);
        assert_eq!(able_if(|row| row.state = State::Free), 0);
        assert_eq!(able_if(|row| row.incarnation = "a".into()), 0);
    }
}
