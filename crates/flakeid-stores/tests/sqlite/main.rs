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
#[cfg(target_os = "linux")]
mod machines;
#[cfg(target_os = "linux")]
mod mounted;
#[cfg(target_os = "linux")]
#[path = "../mounts/mod.rs"]
mod mounts;
mod names;
#[path = "../operations/mod.rs"]
mod operations;
mod restorations;
#[path = "../retrying/mod.rs"]
mod retrying;
mod store_under_test;

/// The conformance suite.
mod conformance {
    use super::store_under_test::Sqlite;

    fn on_new_file(test: flakeid_conformance::Test) {
        test(&Sqlite::new());
    }

    flakeid_conformance::test_store!(shared = on_new_file, own = on_new_file);
}

/// Waits in an open transaction, but only if another test started this process in order to kill it. Otherwise, does
/// nothing.
#[test]
fn child_process_waits_in_a_transaction_until_killed() {
    store_under_test::wait_in_a_transaction_if_child();
}
