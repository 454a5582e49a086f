//! Leases from `MariaDB`: the suite, and what is special about this store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

mod authority;
mod faults;
mod roles;
mod subject;
mod tls;

use std::sync::Barrier;
use std::thread;

use flakeid_lease::conformance;
use flakeid_test_servers::{MariadbServer, Server};
use subject::{Mariadb, connect, fresh_namespace, request};

use flakeid_lease::store::operations;

#[test]
fn passes_the_suite() {
    conformance::run(&Mariadb(MariadbServer::new()));
}

/// On a running server if one is given, so that other versions can be tried.
#[test]
fn leases_on_a_given_server() {
    let private = std::env::var("FLAKEID_TEST_MYSQL_URL").is_err().then(MariadbServer::new);
    let url = private
        .as_ref()
        .map_or_else(|| std::env::var("FLAKEID_TEST_MYSQL_URL").unwrap(), Server::url);
    let mut store = connect(&url).unwrap();
    let namespace = fresh_namespace("given");
    operations::init(&mut *store, &namespace).unwrap();
    assert!(store.namespaces().unwrap().contains(&namespace.name));
    let request = request(&namespace);
    let grant = operations::acquire(&mut *store, &namespace.name, &request).unwrap();
    let holding =
        operations::whois(&mut *store, &namespace.name, grant.node, grant.start).unwrap().unwrap();
    assert_eq!((holding.record.start, holding.fence), (grant.start, grant.fence));
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

/// A busy machine may not get 200 connections up within the time-out at once.
fn eventually_connect(url: &str) -> Box<dyn flakeid_lease::store::Store> {
    (0..20).find_map(|_| connect(url).ok()).expect("a connection")
}
