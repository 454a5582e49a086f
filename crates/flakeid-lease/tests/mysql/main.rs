//! Leases from `MariaDB`: the suite, and what is special about this store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

#[path = "../client/mod.rs"]
mod client;
mod faults;
mod roles;
mod store_under_test;
mod tls;

use std::sync::Barrier;
use std::thread;

use client::{connect, eventually_connect, fresh_namespace, request};
use flakeid_lease::conformance;
use flakeid_lease::store::operations;
use flakeid_test_servers::{MariadbServer, Server};
use store_under_test::Mariadb;

#[test]
fn passes_the_suite() {
    conformance::run(&Mariadb(MariadbServer::new()));
}

/// On a running server if one is given, so that other versions can be tried.
#[test]
fn leases_on_a_given_server() {
    match std::env::var("FLAKEID_TEST_MYSQL_URL") {
        Ok(url) => client::leases(&url),
        Err(_) => client::leases(&MariadbServer::new().url()),
    }
}

/// 200 processes that all prefer the same node are not sorted out one round after the other: each
/// gets its own within the store's patience.
#[test]
fn two_hundred_start_at_once() {
    const PROCESSES: usize = 200;
    let server = MariadbServer::new();
    let namespace = fresh_namespace("rush");
    operations::init(&mut *connect(&server.url()).unwrap(), &namespace).unwrap();
    let start = Barrier::new(PROCESSES);
    let mut nodes: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..PROCESSES)
            .map(|_| {
                scope.spawn(|| {
                    let mut store = eventually_connect(&server.url());
                    start.wait();
                    let request = request(&namespace);
                    operations::acquire(&mut *store, &namespace.name, &request).unwrap().node
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    nodes.sort_unstable();
    nodes.dedup();
    assert_eq!(nodes.len(), PROCESSES, "{nodes:?}");
}
