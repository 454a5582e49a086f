//! Tests of leases in etcd: the conformance suite and etcd-specific tests.
#![cfg(feature = "etcd")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

#[path = "../client/mod.rs"]
mod client;
mod cluster;
mod deletions;
mod faults;
mod lag;
#[path = "../operations/mod.rs"]
mod operations;
#[path = "../optimistic/mod.rs"]
mod optimistic;
mod runs;
mod store_under_test;

use std::fs;

use flakeid_protocol::store::Fault;
use flakeid_test_servers::{EtcdServer, Server};

use client::{Authority, connect, leases};
use store_under_test::Etcd;

/// The conformance suite.
mod conformance {
    use flakeid_conformance::Test;
    use flakeid_test_servers::Shared;

    use super::*;

    fn on_shared_server(test: Test) {
        static SERVER: Shared<Etcd> = Shared::new();
        test(&*SERVER.get(|| Etcd(EtcdServer::new())));
    }

    fn on_new_server(test: Test) {
        test(&Etcd(EtcdServer::new()));
    }

    flakeid_conformance::test_store!(shared = on_shared_server, own = on_new_server);
}

/// Checks leases on the server at `FLAKEID_TEST_ETCD_URL`, so that other etcd versions can be tested. Starts a private
/// server if the variable is not set.
#[test]
fn server_named_by_an_environment_variable_grants_leases() {
    match std::env::var("FLAKEID_TEST_ETCD_URL") {
        Ok(url) => leases(&url),
        Err(_) => leases(&EtcdServer::new().url()),
    }
}

#[test]
fn random_restores_repeat_no_tick() {
    let store = Etcd(EtcdServer::new());
    flakeid_conformance::campaigns::random_restores_repeat_no_tick(&store, 6);
}

#[test]
fn deleted_row_is_detected_as_a_restore() {
    optimistic::deleted_row_is_detected_as_a_restore(&Etcd(EtcdServer::new()));
}

#[test]
fn deleted_row_cannot_be_quarantined() {
    optimistic::deleted_row_cannot_be_quarantined(&Etcd(EtcdServer::new()));
}

#[test]
fn operations_handle_more_rows_than_fit_in_one_response() {
    optimistic::operations_handle_more_rows_than_fit_in_one_response(&Etcd(EtcdServer::new()));
}

#[test]
fn server_certificate_is_verified() {
    let authority = Authority::for_host("127.0.0.1");
    let server = EtcdServer::with_certificate(&authority.certificate, &authority.key);
    let files = tempfile::tempdir().unwrap();
    let file_of = |name: &str, text: &str| {
        let file = files.path().join(name);
        fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let right = file_of("right.pem", &authority.own);
    let wrong = file_of("wrong.pem", &Authority::for_host("127.0.0.1").own);
    let empty = file_of("empty.pem", "");
    let port = server.tls_port();
    let url = |host: &str, options: &str| format!("etcds://{host}:{port}/?{options}");
    leases(&url("127.0.0.1", &format!("tls-ca={right}")));
    for (url, reason) in [
        (url("localhost", &format!("tls-ca={right}")), "not valid for name"),
        (url("127.0.0.1", &format!("tls-ca={wrong}")), "invalid peer certificate"),
        (url("127.0.0.1", ""), "certificate"),
        (url("127.0.0.1", &format!("tls-ca={empty}")), "no certificate"),
        (url("127.0.0.1", "tls-ca=/nowhere.pem"), "/nowhere.pem"),
        (url("127.0.0.1", &format!("tls-ca={right}&tls-cert={right}")), "together"),
    ] {
        match connect(&url).map(drop) {
            Err(Fault::Rejected(text)) => assert!(text.contains(reason), "{text}"),
            other => panic!("{url}: {other:?}"),
        }
    }
}
