//! Tests of the `SQLite` store: the conformance suite, and tests of faults that only a file-based store can have.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::doc_markdown,
    missing_docs,
    unreachable_pub,
    reason = "tests only"
)]

mod bounds;
mod broker;
mod files;
mod lessee;
#[cfg(all(target_os = "linux", feature = "_system-tests"))]
mod machines;
#[cfg(all(target_os = "linux", feature = "_system-tests"))]
mod mounted;
#[cfg(all(target_os = "linux", feature = "_system-tests"))]
#[path = "../mounts/mod.rs"]
mod mounts;
mod names;
#[path = "../operations/mod.rs"]
mod operations;
mod restorations;
#[path = "../retrying/mod.rs"]
mod retrying;
mod steps;
mod store_under_test;

use flakeid_conformance::StoreUnderTest;
use store_under_test::{Sqlite, Victim};

/// The conformance suite.
mod conformance {
    use super::store_under_test::Sqlite;

    fn on_new_file(test: flakeid_conformance::Test) {
        test(&Sqlite::new());
    }

    flakeid_conformance::test_store!(shared = on_new_file, own = on_new_file);
}

/// Child processes of other tests also run this test. A child process waits in an open transaction.
#[test]
fn store_responds_after_a_process_was_killed_in_a_transaction() {
    store_under_test::wait_in_a_transaction_if_child();
    let store = Sqlite::new();
    let granted = |node| {
        let request = restorations::request(node);
        operations::acquire(&mut *store.connect(), restorations::SPACE, &request).unwrap()
    };
    granted(1);
    Victim::of(&store.url()).kill();
    granted(2);
    let listing = operations::list(&mut *store.connect(), restorations::SPACE).unwrap();
    assert_eq!(listing.rows.len(), 2);
}
