//! Leases from etcd: the suite, and what is special about this store.
#![cfg(all(feature = "etcd", feature = "conformance"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

#[path = "../client/mod.rs"]
mod client;
mod cluster;
mod deletions;
mod faults;
mod lag;
#[path = "../optimistic/mod.rs"]
mod optimistic;
mod runs;
mod store_under_test;
mod tls;

use flakeid_lease::conformance;
use flakeid_test_servers::{EtcdServer, Server};
use store_under_test::Etcd;

#[test]
fn passes_the_suite() {
    conformance::run(&Etcd(EtcdServer::new()));
}

/// On a running server if one is given, so that other versions can be tried.
#[test]
fn leases_on_a_given_server() {
    match std::env::var("FLAKEID_TEST_ETCD_URL") {
        Ok(url) => client::leases(&url),
        Err(_) => client::leases(&EtcdServer::new().url()),
    }
}

#[test]
fn deleted_rows_are_noticed() {
    optimistic::deleted_rows_are_noticed(&Etcd(EtcdServer::new()));
}

#[test]
fn deleted_rows_cannot_be_quarantined() {
    optimistic::deleted_rows_cannot_be_quarantined(&Etcd(EtcdServer::new()));
}

#[test]
fn many_rows_are_handled() {
    optimistic::many_rows_are_handled(&Etcd(EtcdServer::new()));
}
