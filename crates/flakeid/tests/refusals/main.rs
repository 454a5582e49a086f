//! Tests of failures that occur while a lease is opened or held. Each failure must be reported within the time limit,
//! as a clear error that has a code and contains no password or token. No failure may lead to an ID at or above the
//! stored fence.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

mod expectation;
mod files;
mod held;
#[cfg(feature = "_system-tests")]
mod held_on_servers;
#[cfg(all(target_os = "linux", feature = "_system-tests"))]
#[path = "../../../flakeid-stores/tests/mounts/mod.rs"]
mod mounts;
mod network;
mod passwords;
#[cfg(feature = "_system-tests")]
mod servers;

use flakeid::LeaseBuilder;
use flakeid_core::{Clock, ErrorKind, Layout, ManualClock, SystemClock};
use flakeid_protocol::MemoryStore;
use flakeid_protocol::store::Fault;

use expectation::{check_refusals_of_any_store, layout, on, refused};

fn in_memory(store: &MemoryStore, layout: Layout) -> LeaseBuilder {
    let store = store.clone();
    LeaseBuilder::from_store(layout, move || Ok(Box::new(store.clone())))
}

#[test]
fn custom_stores_refuse_invalid_requests() {
    let store = MemoryStore::new();
    drop(in_memory(&store, layout()).open().unwrap());
    check_refusals_of_any_store(&|layout| in_memory(&store, layout));
    let broken = |fault: Fault| LeaseBuilder::from_store(layout(), move || Err(fault.clone()));
    let gone = Fault::Unavailable("the server is gone".into());
    refused(broken(gone), ErrorKind::StoreUnavailable, &["the server is gone"]);
    let no = Fault::Rejected("the server refuses".into());
    refused(broken(no), ErrorKind::StoreRejected, &["the server refuses"]);
}

/// Checks that opening a lease fails if the clock is before the layout's epoch or after the layout's horizon.
#[test]
fn clocks_outside_the_range_of_the_layout_are_refused() {
    const YEAR: i64 = 365 * 86_400_000;
    let now = SystemClock.unix_ms();
    for (unix_ms, kind, part) in [
        (now - 50 * YEAR, ErrorKind::BeforeEpoch, "epoch"),
        (now + 60 * YEAR, ErrorKind::HorizonReached, "2080"),
    ] {
        let at_that_time =
            in_memory(&MemoryStore::new(), Layout::TWITTER).clock(ManualClock::new(unix_ms));
        refused(at_that_time, kind, &[part]);
    }
}

#[test]
fn sqlite_store_refuses_invalid_requests() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/flakeid.db", directory.path().display());
    drop(on(&url).open().unwrap());
    check_refusals_of_any_store(&|layout| flakeid::lease(&url, layout).unwrap());
}
