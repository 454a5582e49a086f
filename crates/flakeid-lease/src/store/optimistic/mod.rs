//! For stores without transactions of their own: rows are read together with their versions, writes
//! are kept back, and one atomic step compares all versions and writes everything.
//!
//! The store's clock is read first, so a decision rests on a time that is a little old. That is
//! sound: every bound only gets stricter by it.

mod contents;
mod dice;
mod ledger;
mod options;
mod page;
mod shelf;

pub(super) use contents::{namespace_of, record_of, row_of};
pub(super) use options::Options;
#[cfg(feature = "etcd")]
pub(super) use options::decoded;
#[cfg(feature = "redis")]
pub(super) use options::shown;
pub(super) use shelf::{Draft, Head, Seen, Shelf, Written};

use std::time::{Duration, Instant};

use super::{Fault, Ledger};
use crate::protocol::Namespace;
use dice::Dice;
use page::Page;

/// How long all attempts together may take; one more may begin just before. What the client read of
/// its clock before them must not grow so old that the clock is taken for a wrong one.
const PATIENCE: Duration = Duration::from_secs(3);

/// Among how many candidates a transaction that lost often chooses at most.
const WIDEST: u64 = 256;

/// Runs work until nothing that it read has changed meanwhile.
pub(super) fn transact<S: Shelf>(
    shelf: &mut S,
    namespace: &str,
    work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
) -> Result<(), Fault> {
    Namespace::check_name(namespace).map_err(|error| Fault::Rejected(error.to_string()))?;
    let begun = Instant::now();
    let mut dice = Dice::new();
    let mut conflicts = 0;
    while begun.elapsed() < PATIENCE {
        dice.pause(conflicts);
        // Those who lost to each other must part: 200 who all want the coldest node would otherwise
        // need 200 rounds.
        let among = 4_u64.saturating_pow(conflicts).min(WIDEST);
        let mut page = Page::new(shelf, namespace, dice.below(among));
        match work(&mut page).and_then(|()| page.commit()) {
            Err(Fault::Conflict) => conflicts += 1,
            settled => return settled,
        }
    }
    Err(Fault::Unavailable(format!(
        "others changed the same rows of namespace {namespace:?} {conflicts} times within {} s",
        PATIENCE.as_secs()
    )))
}
