//! The `SQLite` store: the suite, and what only files can suffer.
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
mod restorations;
mod subject;

use flakeid_lease::conformance;
use subject::Sqlite;

#[test]
fn conformance() {
    conformance::run(&Sqlite::new());
}

/// Does nothing unless it is a child that is to be killed in mid-transaction.
#[test]
fn victim() {
    subject::be_killed_if_asked();
}
