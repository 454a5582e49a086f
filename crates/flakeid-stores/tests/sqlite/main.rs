//! Tests of the `SQLite` store: the conformance suite, and faults that only files can have.
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

use flakeid_conformance as conformance_suite_passes;
use store_under_test::Sqlite;

/// Runs each test that restores older copies on a separate store. After a restore, a new namespace may replace a
/// lost one, and so waits for the longest window of any namespace.
#[test]
fn conformance_suite_passes() {
    let store = Sqlite::new();
    for (name, test) in conformance_suite_passes::TESTS {
        println!("conformance_suite_passes {name} ...");
        if name.starts_with("restorations::") || name.starts_with("continuations::") {
            test(&Sqlite::new());
        } else {
            test(&store);
        }
        println!("conformance_suite_passes {name} ... ok");
    }
}

/// Does nothing unless this process is a child that will be killed in a transaction.
#[test]
fn child_waits_in_a_transaction_to_be_killed() {
    store_under_test::wait_in_a_transaction_if_child();
}
