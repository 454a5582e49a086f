//! Tests of lost namespaces that are recreated with a shorter maximum window. The store must wait until the longest old
//! window has ended.

use std::fs;
use std::sync::Arc;

use flakeid_conformance::StoreUnderTest;
use flakeid_core::{Clock, Layout, ManualClock};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Acquire, Bounds, Grant, Namespace};

use crate::operations;
use crate::restorations::{now, request, waits};
use crate::store_under_test::{Sqlite, connect_with};

const WIDE: &str = "wide";
const HOUR_MS: u64 = 3_600_000;
const MINUTE_MS: i64 = 60_000;

/// Creates a namespace whose windows may be up to an hour long.
fn make_wide(store: &Sqlite) {
    let wanted = Namespace::new(WIDE, Layout::TWITTER);
    let bounds = Bounds { max_window_ms: HOUR_MS, ..wanted.bounds };
    let wanted = Namespace { bounds, ..wanted };
    operations::init(&mut *store.connect(), &wanted).unwrap();
}

/// Acquires node 1 for a window of `window_ms` on a host whose clock shows `at`.
fn take(store: &Sqlite, at: i64, window_ms: u64) -> Result<Grant, Fault> {
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(at));
    let request = Acquire { now: at, window_ms, ..request(1) };
    operations::acquire(&mut *connect_with(&store.url(), &clock)?, WIDE, &request)
}

/// Creates a store with a namespace whose windows may be up to an hour long, and acquires one node for an hour. Returns
/// the store, the grant and the time of the grant.
fn held() -> (Sqlite, Grant, i64) {
    let (store, then) = (Sqlite::new(), now());
    make_wide(&store);
    let grant = take(&store, then, HOUR_MS).unwrap();
    (store, grant, then)
}

/// Checks that the store recreates the namespace with the default bounds, but grants nothing for an hour, because the
/// window of the grant `held` may still be in use.
fn check_waits_for_old_bounds(store: &Sqlite, held: &Grant, then: i64) {
    for minutes in [1, 2, 30, 59] {
        let answer = take(store, then + minutes * MINUTE_MS, 10_000);
        assert!(waits(&answer), "{answer:?} after {minutes} min, although {held:?} is held");
    }
    let kept = operations::list(&mut *store.connect(), WIDE).unwrap().namespace;
    assert_eq!(kept.bounds, Bounds::of(&Layout::TWITTER));
    let again = take(store, then + 62 * MINUTE_MS, 10_000).unwrap();
    assert!(again.start >= held.fence, "{held:?} {again:?}");
}

fn lose_database(store: &Sqlite) {
    for suffix in ["", "-wal"] {
        fs::remove_file(store.beside(suffix)).unwrap();
    }
}

#[test]
fn recreated_database_waits_until_the_longest_old_window_ends() {
    let (store, grant, then) = held();
    lose_database(&store);
    check_waits_for_old_bounds(&store, &grant, then);
}

/// Checks the wait after a restore of a copy that was made before the namespace was created. The copy contains either
/// no namespace or only a namespace with another name.
#[test]
fn restored_copy_waits_until_windows_of_lost_namespaces_end() {
    for with_another in [false, true] {
        let (store, then) = (Sqlite::new(), now());
        store.connect().prepare().unwrap();
        if with_another {
            operations::acquire(&mut *store.connect(), "other", &request(1)).unwrap();
        }
        let older = store.backup();
        make_wide(&store);
        let grant = take(&store, then, HOUR_MS).unwrap();
        store.restore(older);
        check_waits_for_old_bounds(&store, &grant, then);
    }
}

/// Checks that the old bounds still apply after the database is lost a second time.
#[test]
fn database_lost_twice_waits_until_the_longest_window_ends() {
    let (store, grant, then) = held();
    lose_database(&store);
    take(&store, then + MINUTE_MS, 10_000).unwrap_err();
    lose_database(&store);
    check_waits_for_old_bounds(&store, &grant, then);
}

#[test]
fn lost_serial_file_does_not_shorten_the_wait_after_recreation() {
    let (store, _, then) = held();
    fs::remove_file(store.beside("-serial")).unwrap();
    take(&store, then, HOUR_MS).unwrap_err();
    let later = then + 120 * MINUTE_MS;
    let grant = take(&store, later, HOUR_MS).unwrap();
    lose_database(&store);
    check_waits_for_old_bounds(&store, &grant, later);
}

/// Restores an earlier `-serial` file, to simulate a writer that was killed after creating the namespace but before
/// recording the namespace's bounds. Checks that the bounds still apply after the database is lost.
#[test]
fn namespace_bounds_are_recovered_after_a_writer_dies_before_recording_them() {
    let (store, then) = (Sqlite::new(), now());
    store.connect().prepare().unwrap();
    let before = fs::read(store.beside("-serial")).unwrap();
    make_wide(&store);
    fs::write(store.beside("-serial"), before).unwrap();
    let grant = take(&store, then, HOUR_MS).unwrap();
    lose_database(&store);
    check_waits_for_old_bounds(&store, &grant, then);
}
